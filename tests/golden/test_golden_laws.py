"""Any batches, any shards, any order: the same rows."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rayeval.golden.evaluate import Evaluate
from rayeval.golden.locate import Locate
from rayeval.golden.revisions import choose_revisions

quick = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
WORDS = st.lists(
    st.sampled_from(["한국", "cafe\u0301", "😀", "a", "b b", "\r\n", "  ", "25"]), max_size=12
)
TEXT = WORDS.map("".join)
LETTERS = st.text(st.sampled_from("ab\u0301😀한\r\n "), max_size=30)


@st.composite
def questions_over(draw, texts):
    """Rows whose evidence is given in every way, right or wrong."""
    names = sorted(texts)
    rows = []
    for number in range(draw(st.integers(1, 5))):
        evidence = []
        for _ in range(draw(st.integers(1, 3))):
            name = draw(st.sampled_from(names))
            text = texts[name]
            start = draw(st.integers(0, max(len(text) - 1, 0)))
            end = draw(st.integers(start + 1, len(text) + 1))
            quote = text[start:end]
            ways = [{"source_id": name, "start_char": start, "end_char": end}, {"source_id": name},
                    {"source_id": "nowhere"}]  # fmt: skip
            if quote.strip():
                ways += [{"source_id": name, "quote": quote}, {"quote": quote},
                         {"source_id": name, "start_char": start, "end_char": end, "quote": quote}]  # fmt: skip
            evidence.append(draw(st.sampled_from(ways)))
        rows.append({"question_id": f"q{number}", "question": "?", "evidence": evidence})
    return rows


@quick
@given(st.data())
def test_batches_shards_and_order_are_no_matter(load, make_corpus, data):
    texts = {
        f"d{n}": text for n, text in enumerate(data.draw(st.lists(TEXT, min_size=1, max_size=5)))
    }
    corpus = make_corpus(*({"source_id": name, "text": text} for name, text in texts.items()))
    questions, _ = load(*data.draw(questions_over(texts)))
    want = corpus.evaluate(questions)
    shards = data.draw(st.integers(1, 4))
    order = data.draw(st.permutations(range(questions.num_rows)))
    cut = data.draw(st.integers(0, questions.num_rows))
    turned = questions.take(order)
    parts = [corpus.evaluate(part, shards=shards) for part in (turned[:cut], turned[cut:])]
    got = pa.concat_tables(parts).sort_by("question_id")
    assert got.to_pylist() == want.to_pylist()


@quick
@given(st.data())
def test_gathering_is_associative_and_in_any_order(load, make_corpus, data):
    texts = {f"d{n}": "a b a 25\r\n" * (n + 1) for n in range(4)}
    corpus = make_corpus(*({"source_id": name, "text": text} for name, text in texts.items()))
    questions, _ = load(*data.draw(questions_over(texts)))
    questions = choose_revisions(questions, corpus.catalogue)
    locate = Locate()
    answers = [locate.load(shard)(questions) for shard in corpus.shards(4)]
    want = locate.gather(answers)
    a, b, c, d = data.draw(st.permutations(answers))
    got = locate.gather([locate.gather([a, b]), locate.gather([locate.gather([c]), d])])
    assert got.equals(want)
    batch = questions.append_column("spots", got["spots"])
    assert Evaluate(corpus.catalogue)(batch).num_rows == questions.num_rows


def test_a_quote_that_is_too_common_is_so_in_any_order(load, make_corpus):
    corpus = make_corpus(*({"source_id": name, "text": "a " * 600} for name in "xyz"))
    questions, _ = load({"question": "q", "evidence": [{"quote": "a "}, {"quote": " a "}]})
    locate = Locate()
    x, y, z = (locate.load(shard)(questions) for shard in corpus.shards(3))
    want = locate.gather([x, y, z])
    assert [s["kind"] for s in want["spots"].to_pylist()[0]] == ["quote_ambiguous"] * 2
    assert locate.gather([locate.gather([z, x]), y]).equals(want)
    assert locate.gather([locate.load(shard)(questions) for shard in corpus.shards(1)]).equals(want)


@quick
@given(LETTERS.filter(str.strip), st.data())
def test_a_span_comes_back_from_its_quote(load, make_corpus, text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    corpus = make_corpus({"source_id": "a", "text": text})
    with_offsets = {"source_id": "a", "start_char": start, "end_char": end, "quote": quote}
    rows = [{"question": "x", "evidence": [with_offsets]}]
    if quote.strip():
        rows.append({"question": "y", "evidence": [{"source_id": "a", "quote": quote}]})
        rows.append({"question": "z", "evidence": [{"quote": quote}]})
    else:
        rows[0]["evidence"][0].pop("quote")
    questions, problems = load(*rows)
    assert problems == []
    got = {row["question"]: row for row in corpus.evaluate(questions).to_pylist()}
    span = {"start_char": start, "end_char": end}
    assert [e["spans"] for e in got["x"]["evidence"]] == [[span]]
    if quote.strip():
        places = [n for n in range(len(text)) if text.startswith(quote, n)]
        assert [e["spans"][0]["start_char"] for e in got["z"]["evidence"]] == places
        kinds = [p["kind"] for p in got["y"]["problems"]]
        assert kinds == ([] if len(places) == 1 else ["quote_ambiguous"])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_revisions_are_chosen_row_by_row(load, make_corpus, rows):
    corpus = make_corpus(
        {"source_id": "a", "revision_id": "old", "text": "x", "current": False},
        {"source_id": "a", "revision_id": "new", "text": "y"},
        {"source_id": "b", "text": "z", "current": False},
    )
    evidence = [{"source_id": "a"}, {"source_id": "a", "revision_id": "old"}, {"source_id": "b"},
                {"source_id": "c"}, {"quote": "x"}]  # fmt: skip
    questions, _ = load(*({"question": str(n), "evidence": evidence[n:]} for n in range(rows)))
    chosen = choose_revisions(questions, corpus.catalogue)
    assert chosen.schema == questions.schema
    want = ["new", "old", None, None, None]
    for row in chosen.to_pylist():
        got = [e["revision_id"] for e in row["evidence"]]
        assert got == want[int(row["question"]) :]
    blank = choose_revisions(questions, corpus.catalogue[:0]).to_pylist()
    assert all(e["revision_id"] in (None, "old") for row in blank for e in row["evidence"])
