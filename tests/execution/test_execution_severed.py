"""A fact cut off from its subject: the issue's own case."""

import polars as pl
import pytest
import yaml
from execution_project import write_lines

SENTENCE = "장비 신청은 IT 헬프데스크 포털에서 하며 처리에는 영업일 기준 5일이 걸린다"
BAR = SENTENCE.index("스크")


@pytest.fixture
def config(tmp_path):
    """Chunks of 40 characters; the first ends at the bar, in the middle of a word."""
    before = "회의실 예약은 총무팀에 문의한다. 전화는 1번. "
    assert len(before) + BAR == 40
    others = [
        {"source_id": f"n{n}", "text": f"{n}번 공지: 주차장 이용 안내와 식당 운영 시간을 알린다."}
        for n in range(9)
    ]
    write_lines(
        tmp_path / "documents.jsonl", [{"source_id": "it", "text": before + SENTENCE}, *others]
    )
    write_lines(
        tmp_path / "golden.jsonl",
        [{"question_id": "q", "question": "장비 신청하면 며칠 걸리나요",
          "evidence": [{"source_id": "it", "quote": "처리에는 영업일 기준 5일이 걸린다"}]}],
    )  # fmt: skip
    path = tmp_path / "rayeval.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "golden": {"path": "golden.jsonl"},
                "corpus": {"path": "documents.jsonl"},
                "chunk": {"kind": "fixed", "size": 40},
                "retrieve": {"arms": {"bm25": {"kind": "bm25", "depth": 5}}},
            }
        )
    )
    return path


def test_the_cut_falls_at_the_bar(evaluate, config):
    chunks = evaluate(config=config).passages.filter(pl.col("source_id") == "it")["text"]
    ends = sorted(text[-6:] for text in chunks)
    assert "IT 헬프데" in ends
    assert any(text.startswith("스크 포털에서") for text in chunks)


@pytest.mark.parametrize("analyzer", ["whitespace", "unicode_words", "char_ngram"])
def test_the_subject_was_cut_off(evaluate, config, analyzer):
    run = evaluate(f"retrieve.arms.bm25.analyzer={{kind: {analyzer}}}", config=config)
    row = run.failures.to_dicts()[0]
    assert (row["status"], row["code"], row["stage"]) == ("failed", "CHUNK_CONTEXT_SEVERED", "bm25")


def test_morphemes_share_a_word_with_the_fact(evaluate, config):
    """걸리나요 and 걸린다 are one stem to Kiwi, so the chunk is found without its subject."""
    run = evaluate("retrieve.arms.bm25.analyzer={kind: kiwi}", config=config)
    assert run.failures["status"].to_list() == ["success"]


def test_whole_sentences_are_found(evaluate, config):
    run = evaluate("chunk={kind: structure, size: 80}", config=config)
    assert run.failures["status"].to_list() == ["success"]
