"""The cut-off subject (DESIGN §6): the issue's own sentence, cut at its bar in several ways."""

import pytest
from acceptance_project import BM25, finish, project

HEAD, TAIL = "장비 신청은 IT 헬프데", "스크 포털에서 하며 처리에는 영업일 기준 5일이 걸린다"
QUESTION = "장비 신청하면 며칠 걸리나요"
NOTICES = [
    {"source_id": f"n{n}", "text": f"{n}번 공지: 주차장 이용 안내와 식당 운영 시간을 알린다."}
    for n in range(9)
]
GOLD = [{"source_id": "it", "quote": "처리에는 영업일 기준 5일이 걸린다"}]


def cut_at_the_bar(size: int) -> str:
    """The sentence after so much other text that a chunk of `size` ends at the bar."""
    before = "회의실 예약은 총무팀에 문의한다. 전화는 1번. " * 9
    return before[len(before) - (size - len(HEAD)) :] + HEAD + TAIL


def analysed(kind: str, **more) -> dict:
    return {**BM25, "analyzer": {"kind": kind}, **more}


@pytest.mark.parametrize(
    ("kind", "depth"), [("whitespace", 1), ("unicode_words", 5), ("char_ngram", 1)]
)
@pytest.mark.parametrize(
    ("text", "chunk"),
    [
        (cut_at_the_bar(40), {"kind": "fixed", "size": 40}),
        (cut_at_the_bar(30), {"kind": "fixed", "size": 30}),
        (cut_at_the_bar(30), {"kind": "fixed", "size": 30, "overlap": 1}),
        (f"{HEAD}\n\n{TAIL}", {"kind": "structure", "size": 30}),
    ],
    ids=["40", "30", "30 with overlap", "paragraphs"],
)
def test_the_subject_was_cut_off(tmp_path, text, chunk, kind, depth):
    config = project(
        tmp_path,
        [{"source_id": "it", "text": text}, *NOTICES],
        [{"question_id": "q", "question": QUESTION, "evidence": GOLD}],
        chunk=chunk,
        retrieve={"arms": {"bm25": analysed(kind, depth=depth)}},
    )
    row = finish(config).failure()
    assert (row["code"], row["stage"]) == ("CHUNK_CONTEXT_SEVERED", "bm25")
    assert {view["code"] for view in row["contributing"]} == {"SPARSE_VOCAB_MISMATCH"}


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("영업일 5일이", None),
        ("주말에도 되나요", "SPARSE_VOCAB_MISMATCH"),
        ("공지: 안내와 장비", "CHUNK_CONTEXT_SEVERED"),
    ],
    ids=["the fact's own words", "words of neither", "the joined text is within depth"],
)
def test_what_is_not_cut_off(tmp_path, question, code):
    config = project(
        tmp_path,
        [{"source_id": "it", "text": cut_at_the_bar(40)}, *NOTICES],
        [{"question_id": "q", "question": question, "evidence": GOLD}],
        chunk={"kind": "fixed", "size": 40},
        retrieve={"arms": {"bm25": analysed("whitespace", depth=20)}},
    )
    assert finish(config).failure()["code"] == code
