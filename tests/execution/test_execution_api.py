"""The Python API."""

import polars as pl
import pytest
from execution_project import CONFIG, contents

import rayeval
from rayeval.errors import ConfigError, RunError


@pytest.fixture(scope="module")
def run(project, tmp_path_factory):
    runs = str(tmp_path_factory.mktemp("api"))
    return rayeval.evaluate(str(project / "rayeval.yaml"), runs=runs, sets=["context.depth=2"])


def test_tables_are_polars_frames(run):
    tables = (run.questions, run.trace, run.passages, run.per_query, run.failures, run.aggregate,
              run.slices, run.latency)  # fmt: skip
    assert all(isinstance(table, pl.DataFrame) and table.height for table in tables)


def test_printing_a_run_shows_its_metrics(run):
    assert "dense_ann" in str(run)
    assert "recall@5" in str(run)


def test_a_run_is_loaded_by_path_and_by_id(run):
    folder, _, name = run.path.rpartition("/")
    assert rayeval.load(run.path).run_id == rayeval.load(name, folder).run_id == name
    with pytest.raises(RunError, match="no run 'nothing'"):
        rayeval.load("nothing", folder)


def test_a_dict_is_a_configuration(project, tmp_path, run, monkeypatch):
    monkeypatch.chdir(project)
    given = {**CONFIG, "context": {**CONFIG["context"], "depth": 2}}
    again = rayeval.evaluate(given, runs=str(tmp_path))
    assert contents(again) == contents(run)


def test_limit_takes_the_first_questions_by_id(project, tmp_path):
    run = rayeval.evaluate(str(project / "rayeval.yaml"), runs=str(tmp_path), limit=3)
    assert run.questions["question_id"].to_list() == ["q-code", "q-either", "q-forbidden"]


def test_a_wrong_setting_is_named(project, tmp_path):
    with pytest.raises(ConfigError, match="did you mean depth"):
        rayeval.evaluate(str(project / "rayeval.yaml"), runs=str(tmp_path), sets=["fuse.deph=1"])


def test_every_path_may_be_a_uri(project, tmp_path, run):
    """As on an object store: nothing may assume a local path."""
    uri = f"file://{project}/rayeval.yaml"
    again = rayeval.evaluate(uri, runs=f"file://{tmp_path}/runs", sets=["context.depth=2"])
    assert again.damage() == []
    assert again.failures.equals(run.failures)


def test_latency_of_questions_run_alone(project, tmp_path):
    run = rayeval.evaluate(str(project / "rayeval.yaml"), runs=str(tmp_path),
                           sets=["latency.sample=5"])  # fmt: skip
    serial = run.latency.filter(pl.col("mode") == "serial")
    assert serial["question_id"].n_unique() == 5
    stages = {"bm25", "dense_exact", "dense_ann", "fused", "context", "retrieval", "end_to_end"}
    assert set(serial["stage"]) == stages
    one = {row["stage"]: row["latency_ms"] for row in serial.head(7).iter_rows(named=True)}
    onward = max(one["bm25"], one["dense_ann"])
    assert one["retrieval"] == pytest.approx(onward + one["fused"])
    assert one["end_to_end"] == pytest.approx(one["retrieval"] + one["context"])
    rest = run.latency.filter(pl.col("mode") == "batched")
    assert rest.height == (92 - 5) * 5
    tokens = run.latency.filter(pl.col("stage") == "context")["context_tokens"]
    assert tokens.max() <= 60
    again = rayeval.evaluate(str(project / "rayeval.yaml"), runs=str(tmp_path))
    assert set(again.latency["mode"]) == {"cached"}
