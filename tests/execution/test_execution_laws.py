"""DESIGN §9: any split, order, worker count: the same bytes (laws 1 to 4, 6, 7)."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from execution_project import contents, write_lines

from rayeval.execution.runs import Run, load


@pytest.fixture(scope="module")
def reference(project, tmp_path_factory) -> Run:
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.job import Options
    from rayeval.execution.load import load_config
    from rayeval.execution.progress import Silent

    loaded = load_config(str(project / "rayeval.yaml"))
    return run_config(loaded, Options(runs=str(tmp_path_factory.mktemp("reference"))), Silent())


@pytest.mark.parametrize(
    "sets",
    [
        pytest.param(["placement.workers=2"], id="two processes"),
        pytest.param(["placement.shards=4"], id="four shards"),
        pytest.param(["placement.batch=1"], id="one row at a time", marks=pytest.mark.slow),
        pytest.param(["placement.batch=7", "placement.shards=3"], id="odd batches and shards"),
        pytest.param(["retrieve.arms.dense.backend=numpy"], id="another scanner"),
    ],
)
def test_placement_changes_no_byte(reference, evaluate, sets):
    assert contents(evaluate(*sets)) == contents(reference)


@pytest.mark.parametrize("seed", [1, 2])
def test_order_of_input_changes_no_byte(reference, evaluate, project, tmp_path, seed):
    shuffled = tmp_path / "shuffled"
    shuffled.mkdir()
    for name in ("documents.jsonl", "golden.jsonl"):
        rows = [json.loads(line) for line in (project / name).read_text().splitlines()]
        random.Random(seed).shuffle(rows)
        write_lines(shuffled / name, rows)
    config = shuffled / "rayeval.yaml"
    config.write_text((project / "rayeval.yaml").read_text())
    assert contents(evaluate(config=config)) == contents(reference)


def test_every_question_is_there_once(reference):
    asked = reference.questions["question_id"].to_list()
    assert len(asked) == len(set(asked)) == 92
    per_stage = reference.per_query.group_by("stage").len()
    assert per_stage["len"].unique().to_list() == [92]


def test_statuses_sum_to_the_answerable_and_codes_to_the_failed(reference):
    summary = reference.summary()
    answerable = int(reference.questions["answerable"].sum())
    assert sum(summary["status"].values()) == answerable == reference.failures.height
    assert sum(summary["failures"].values()) == summary["status"]["failed"]


def test_a_forbidden_question_is_unanswerable_for_its_asker(reference):
    row = reference.questions.filter(pl.col("question_id") == "q-forbidden").to_dicts()[0]
    assert (row["answerable"], "forbidden" in row["slices"]) == (False, True)
    assert reference.failures.filter(pl.col("question_id") == "q-forbidden").is_empty()


@pytest.mark.parametrize(
    ("question", "code", "stage"),
    [
        pytest.param("q-gone", "INGESTION_MISSING_SOURCE", "ingest", id="no such source"),
        pytest.param("q-old", "FILTER_FALSE_NEGATIVE", "filter", id="an old revision"),
    ],
)
def test_first_failures_before_search(reference, question, code, stage):
    row = reference.failures.filter(pl.col("question_id") == question).to_dicts()[0]
    assert (row["status"], row["code"], row["stage"]) == ("failed", code, stage)


def test_nobody_finds_what_the_filter_removes(reference):
    sources = reference.passages.select("chunk_id", "source_id", "revision_id")
    hits = reference.trace.explode("hits").unnest("hits").drop_nulls("chunk_id")
    seen = hits.join(sources, on="chunk_id").group_by("source_id").agg("question_id", "revision_id")
    found = {row["source_id"]: row for row in seen.to_dicts()}
    assert set(found["salary"]["question_id"]) == {"q-hr"}
    assert set(found["leave"]["revision_id"]) == {"2026"}
    assert "old" not in found


def test_a_run_verifies_until_a_byte_changes(evaluate):
    run = evaluate()
    assert load(run.path).damage() == []
    target = Path(run.path, "trace.parquet")
    data = bytearray(target.read_bytes())
    data[len(data) // 2] ^= 1
    target.write_bytes(data)
    Path(run.path, "summary.md").unlink()
    assert [line.split(":")[0] for line in load(run.path).damage()] == [
        "summary.md", "trace.parquet",
    ]  # fmt: skip


def test_exact_search_on_a_sample_measures_only_the_sample(evaluate):
    run = evaluate("retrieve.arms.dense.exact_sample=10")
    exact = run.trace.filter(pl.col("stage") == "dense_exact")
    assert exact.height == 10
    status = run.per_query.filter(pl.col("stage") == "dense_exact")["status"]
    assert dict(status.value_counts().iter_rows()) == {"ok": 10, "not_run": 82}
    means = run.summary()["metrics"]["dense_exact"]["recall@5"]
    assert means["n"] + means["n_undefined"] <= 10
