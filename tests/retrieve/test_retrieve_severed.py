import pyarrow as pa
import pytest
from retrieve_lexical_corpus import Corpus, asked, search

from rayeval.chunk.neighbours import NEIGHBOUR
from rayeval.retrieve.lexical.analyzers import CharNgram, Kiwi, UnicodeWords, Whitespace
from rayeval.retrieve.lexical.bm25 import Bm25
from rayeval.retrieve.lexical.severed import Severed
from rayeval.tables import HITS

NEIGHBOURS = pa.list_(NEIGHBOUR)

HEAD, TAIL = "장비 신청은 IT 헬프데", "스크 포털에서 하며 처리에는 영업일 기준 5일이 걸린다"
QUESTION = "장비 신청하면 며칠 걸리나요"


def near(chunk_id, text, *joined):
    beside = ["head", "next"][: len(joined)]
    return {"chunk_id": chunk_id, "text": text, "joined": list(joined), "beside": beside}


def severed(corpus, questions, neighbours, *, hits=None, **settings):
    """Which gold chunks the arm, with its own hits unless given, lost for want of a subject."""
    config = Bm25(analyzer=corpus.analyzer, **settings)
    column = search(corpus, questions, **settings)["hits"] if hits is None else hits
    columns = {"words": column, "neighbours": pa.array(neighbours, NEIGHBOURS)}
    stage = Severed(config, "words").load(corpus.shards()[0])
    return stage(asked(questions, **columns))["severed"].to_pylist()


@pytest.mark.parametrize(
    ("analyzer", "others", "in_three"),
    [
        # Gold shares no term with the question; the chunk before it has 장비.
        pytest.param(Whitespace(), "장비", [], id="white space"),
        pytest.param(UnicodeWords(), "장비", [], id="words"),
        # … 장비 and 신청; gold's 걸린 is not the question's 걸리.
        pytest.param(CharNgram(), "장비 신청", [], id="2-grams"),
        # … 장비 and 신청 besides 걸리, which gold has itself, alone in the corpus.
        pytest.param(Kiwi(), "장비 신청", ["tail"], id="kiwi"),
    ],
)
def test_the_subject_in_the_chunk_before(analyzer, others, in_three):
    others = {f"x{n}": f"{others} 안내 {n}쪽" for n in range(3)}
    corpus = Corpus({"head": HEAD, "tail": TAIL, **others}, analyzer)
    gold = [[near("tail", TAIL, HEAD + TAIL)]]
    assert severed(corpus, [QUESTION], gold, depth=5) == [["tail"]]
    # Without 걸리, three shorter chunks with the same words score higher than the joined one; the
    # head is no rival of what it would be part of.
    assert severed(corpus, [QUESTION], gold, depth=4) == [["tail"]]
    assert severed(corpus, [QUESTION], gold, depth=3) == [in_three]


@pytest.mark.parametrize(
    ("gold", "want"),
    [
        pytest.param(near("g", "red", "red apple"), ["g"], id="a term of the question is gained"),
        pytest.param(near("g", "red", "red pear"), [], id="only other words are gained"),
        pytest.param(near("g", "red apple", "red apple apple"), [], id="the term was there"),
        pytest.param(near("g", "red", "red pear", "red apple"), ["g"], id="the chunk after is enough"),
        pytest.param(near("g", "red"), [], id="no neighbours"),
        pytest.param(near("g", "red", "red blue"), ["g"], id="a term that no chunk holds"),
    ],
)  # fmt: skip
def test_what_counts_as_cut_off(gold, want):
    corpus = Corpus({"g": gold["text"], "h": "apple", "i": "pear"})
    assert severed(corpus, ["apple blue"], [[gold]]) == [want]


def listed(*rows):
    return pa.array([[{"chunk_id": c, "score": s} for c, s in row] for row in rows], HITS)


@pytest.mark.parametrize(
    ("hits", "want"),
    [
        pytest.param([], ["g"], id="a short list has room"),
        pytest.param([("x", 9.0)], ["g"], id="one higher of two"),
        pytest.param([("x", 9.0), ("y", 8.0)], [], id="two higher of two"),
        pytest.param([("x", 9.0), ("y", 1e-9)], ["g"], id="it would push out the last"),
        pytest.param([("x", 9.0), ("g", 8.0)], ["g"], id="the gold chunk itself is no rival"),
        pytest.param([("x", 9.0), ("head", 8.0)], ["g"], id="nor is the one it is joined with"),
    ],
)
def test_room_within_depth(hits, want):
    corpus = Corpus({"g": "red", "h": "apple", "i": "pear"})
    gold = [[near("g", "red", "red apple")]]
    assert severed(corpus, ["apple"], gold, hits=listed(hits), depth=2) == [want]


def test_the_joined_text_scores_as_the_chunk_it_would_be():
    # One joined chunk "a b" in place of "b" has the score that the corpus's own "a b" has, so it
    # is not outranked by it; with a longer gold text it is.
    corpus = Corpus({"twin": "a b", "g": "b", "z": "c"})
    assert severed(corpus, ["a"], [[near("g", "b", "a b")]], depth=1) == [["g"]]
    assert severed(corpus, ["a"], [[near("g", "b b", "a b b")]], depth=1) == [[]]


def test_several_questions_and_chunks_keep_their_places():
    corpus = Corpus({"g": "red", "h": "apple", "i": "pear"})
    good = near("g", "red", "red apple", "apple red")
    rows = [[good, near("h", "apple", "apple red"), {**good, "chunk_id": "a"}], [], None, [good]]
    questions = ["apple", "apple", "apple", "pear"]
    assert severed(corpus, questions, rows) == [["g", "a"], [], [], []]
    assert severed(corpus, [], []) == []
