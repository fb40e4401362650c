"""What is printed of a scored trace, and said where two of them are compared."""

import pytest
from score_files import write_lines

from rayeval.errors import ConfigError
from rayeval.execution.decide.comparison import Options, compare_runs
from rayeval.execution.decide.reports import write_page
from rayeval.report.terminal import metrics_text, run_text

GOLDEN = [
    {"question_id": f"q{n}", "question": "?", "evidence": [{"source_id": "B"}]} for n in range(3)
]
HITS = [{"source_id": "A"}, {"source_id": "B"}]
TRACE = [
    {"question_id": f"q{n}", "stages": {"search": {"hits": HITS, "latency_ms": 5}}}
    for n in range(3)
]
NAMED = ["R@2", "MRR@2", "P@1", "ndcg@2", "hit@1", "hit@2", "recall@1", "P@2"]


@pytest.mark.parametrize("text", [run_text, metrics_text])
def test_every_metric_that_was_asked_for_is_printed_in_its_order(scored, text):
    said = text(scored(GOLDEN, TRACE, metrics=NAMED))
    heads = [line.split() for line in said.splitlines() if line.startswith("stage ")]
    named = [name for head in heads[:2] for name in head if "@" in name]
    assert named == NAMED
    assert "more metrics" not in said
    assert max(map(len, said.splitlines())) <= 100


def test_of_all_metrics_some_are_printed_and_the_rest_counted(scored):
    run = scored(GOLDEN, TRACE)
    measured = run.aggregate.filter(stage="search").height
    assert f"{measured - 6} more metrics in aggregate.parquet" in run_text(run)


def test_passages_are_those_of_the_hits(scored, tmp_path):
    chunks = [{"chunk_id": name, "source_id": name} for name in "ABCD"]
    documents = [{"source_id": name, "text": name} for name in "AB"]
    named = [{"chunk_id": "A"}, {"chunk_id": "B"}]
    rows = [
        {"question_id": f"q{n}", "stages": {"search": {"hits": named, "latency_ms": 5}}}
        for n in range(3)
    ]
    run = scored(
        GOLDEN,
        rows,
        chunks=write_lines(tmp_path / "chunks.jsonl", chunks),
        corpus=write_lines(tmp_path / "docs.jsonl", documents),
    )
    assert "2 documents, 2 passages among the hits" in run_text(run)
    assert "as traced" in run_text(run)


def test_a_chunk_table_elsewhere_is_no_change_and_another_is(scored, tmp_path):
    rows = [
        {"question_id": f"q{n}", "stages": {"search": {"hits": [{"chunk_id": "B"}]}}}
        for n in range(3)
    ]
    tables = {
        "one": [{"chunk_id": "B", "source_id": "B"}],
        "two": [{"chunk_id": "B", "source_id": "B"}],
        "three": [{"chunk_id": "B", "source_id": "A"}],
    }
    runs = [
        scored(GOLDEN, rows, chunks=write_lines(tmp_path / f"{name}.jsonl", chunks))
        for name, chunks in tables.items()
    ]
    assert compare_runs(runs[0], runs[1], Options()).facts["changed"] == []
    changed = compare_runs(runs[0], runs[2], Options()).facts["changed"]
    assert changed == ["the chunk table: its file is another"]


def test_a_page_is_not_called_anything_else(scored, tmp_path):
    run = scored(GOLDEN, TRACE)
    with pytest.raises(ConfigError, match=r"x\.md would hold a page of HTML"):
        write_page(run.path, str(tmp_path / "runs"), str(tmp_path / "x.md"))
    assert not (tmp_path / "x.md").exists()
    assert write_page(run.path, str(tmp_path / "runs"), str(tmp_path / "x.HTML")).endswith("x.HTML")
