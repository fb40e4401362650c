"""What a run leaves and what the commands say of it (DESIGN §§10, 12)."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from acceptance_project import BM25, QUERY, Finished, command, finish, jsonl, project, ranked

import rayeval
from rayeval.execution.load import load_values

COUNTS = {"mean", "n", "n_undefined", "n_missing", "n_error"}
METRICS = [
    "hit",
    "recall",
    "all_groups",
    "joint_recall",
    "partial",
    "source_recall",
    "precision",
    "precision_returned",
    "mrr",
    "map",
    "ndcg",
    "char_recall",
    "char_precision",
    "char_iou",
    "judged",
]
QUESTIONS = [
    {
        "question_id": f"q-{name}",
        "question": QUERY,
        "language": "en",
        "split": "dev" if name < "D" else "test",
        "created_from": "log",
        "slices": ["number_date"],
        "evidence": [{"source_id": name}],
    }
    for name in "ABCDE"
]


def small(folder: Path, **more) -> Path:
    return project(
        folder, ranked(*"ABCDE"), QUESTIONS, context={"kind": "top_k", "depth": 2}, **more
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Finished:
    return finish(small(tmp_path_factory.mktemp("small"), latency={"sample": 3}))


def test_json_of_a_run(run):
    assert set(run.json) == {"run_id", "path", "n", "status", "failures", "metrics", "slices"}
    assert run.json["n"] == 5
    assert run.json["status"] == {"success": 2, "failed": 3, "error": 0, "missing": 0}
    assert run.json["failures"] == {"CONTEXT_BUDGET_DROPPED_GOLD": 3}
    assert set(run.json["metrics"]) == {"bm25", "context"}
    assert set(run.json["metrics"]["bm25"]["recall@5"]) == COUNTS
    assert run.json["metrics"]["context"]["recall@5"]["mean"] == 0.4
    for name in ("number_date", "language:en", "origin:log", "split:dev", "answerable:true"):
        assert set(run.json["slices"][name]["bm25"]["recall@5"]) == COUNTS
    assert run.json["slices"]["split:test"]["context"]["recall@5"]["n"] == 2
    assert Path(run.json["path"]).name == run.json["run_id"]


def test_every_metric_at_the_default_cutoffs(run):
    names = {f"{metric}@{k}" for metric in METRICS for k in (1, 5, 10, 20)}
    assert set(run.json["metrics"]["bm25"]) == names
    of_context = {"duplicate_ratio", "context_tokens", "tokens_per_gold_char"}
    assert set(run.json["metrics"]["context"]) == names | of_context


def test_metrics_come_back_as_they_were_typed(tmp_path):
    names = ["recall@05", "ndcg@1200tok", "context_tokens"]
    run = finish(small(tmp_path), "--set", f"metrics.names={json.dumps(names)}")
    assert list(run.json["metrics"]["context"]) == names
    assert list(run.json["metrics"]["bm25"]) == names[:2]


def test_tables(run):
    assert {p.name for p in run.path.iterdir()} >= {
        "manifest.json", "questions.parquet", "trace.parquet", "passages.parquet",
        "per_query.parquet", "failures.parquet", "aggregate.parquet", "slices.parquet",
        "latency.parquet", "report.html", "summary.md",
    }  # fmt: skip
    keys = {"questions": ["question_id"], "failures": ["question_id"], "passages": ["chunk_id"],
            "trace": ["question_id", "stage"], "per_query": ["question_id", "stage"],
            "latency": ["question_id", "stage"], "aggregate": ["stage", "metric"],
            "slices": ["slice", "stage", "metric"]}  # fmt: skip
    for name, key in keys.items():
        table = run.table(name)
        assert table.height
        assert not table.select(key).is_duplicated().any(), name
    numbers = run.table("per_query").drop("question_id", "stage", "status")
    assert set(numbers.dtypes) == {pl.Float64}
    assert {"question_id", "status", "code", "stage", "group_id", "contributing",
            "observed_stages"} <= set(run.table("failures").columns)  # fmt: skip


def test_latency_of_questions_run_alone(run):
    """`sample: 3`: three questions one at a time; times stand in this table only."""
    table = run.table("latency")
    serial = table.filter(mode="serial")
    assert serial["question_id"].n_unique() == 3
    assert set(serial["stage"]) == {"bm25", "context", "retrieval", "end_to_end"}
    assert set(table["mode"]) == {"serial", "batched"}
    tokens = table.filter(stage="context")["context_tokens"].to_list()
    assert tokens == [24] * 5
    for name in ("questions", "trace", "passages", "per_query", "failures", "aggregate", "slices"):
        assert not [c for c in run.table(name).columns if c.endswith(("_ms", "_s"))]


def test_the_manifest_says_what_the_run_was_made_of(run):
    value = run.manifest
    golden = Path(value["golden"]["path"])
    assert value["golden"]["sha256"] == hashlib.sha256(golden.read_bytes()).hexdigest()
    assert len(value["corpus"]["snapshot"]) == 64
    assert value["config"]["retrieve"]["arms"]["bm25"]["k1"] == 1.2
    assert value["config"]["chunk"]["size"] == 100_000
    assert "unicode" in value["models"]["bm25"]
    assert value["tokenizer"]
    assert {"python", "rayeval", "pyarrow", "polars", "numpy"} <= set(value["libraries"])
    assert value["seed"] == 42
    assert {"machine", "cores", "memory_gib"} <= set(value["hardware"])
    assert "environment" in value
    assert value["started"] <= value["ended"]
    for name, stated in value["files"].items():
        assert stated["sha256"] == hashlib.sha256((run.path / name).read_bytes()).hexdigest()
    assert {p.name for p in run.path.iterdir()} == {*value["files"], "manifest.json"}


def test_the_manifest_names_the_commit_of_the_code(run):
    """§10: "code commit (and whether the tree was dirty)", wherever the configuration lies."""
    here = Path(rayeval.__file__).parent
    git = ["git", "-C", str(here), "rev-parse", "HEAD"]
    head = subprocess.run(git, capture_output=True, text=True, check=False)
    if head.returncode:
        pytest.skip("not a checkout")
    assert run.manifest["code"]["commit"] == head.stdout.strip()
    assert run.manifest["code"]["dirty"] in (True, False)


def test_show_by_id_and_by_path(run):
    runs = run.path.parent
    for name in (run.json["run_id"], run.path):
        said = command("show", name, "--runs", runs)
        assert (said.code, said.json) == (0, run.json)
    said = command("show", run.json["run_id"], "q-C", "--runs", runs)
    assert said.json["failure"]["code"] == "CONTEXT_BUDGET_DROPPED_GOLD"
    assert [hit["source_id"] for hit in said.json["stages"]["context"]["hits"]] == ["A", "B"]
    assert command("show", run.json["run_id"], "q-Z", "--runs", runs).code == 2
    assert command("show", "no-such-run", "--runs", runs).code == 2


def test_runs_lie_in_the_folder_runs_by_default(tmp_path, monkeypatch):
    small(tmp_path)
    monkeypatch.chdir(tmp_path)
    said = command("run", "rayeval.yaml")
    assert said.code == 0
    assert (tmp_path / "runs" / said.json["run_id"] / "manifest.json").exists()
    assert command("show", said.json["run_id"]).json == said.json
    assert command("verify", said.json["run_id"]).code == 0


@pytest.mark.parametrize("damage", ["a byte", "a file less", "a file more", "the manifest"])
def test_verify_finds_what_changed(tmp_path, damage):
    run = finish(small(tmp_path))
    runs = run.path.parent
    assert command("verify", run.json["run_id"], "--runs", runs).code == 0
    target = run.path / ("manifest.json" if damage == "the manifest" else "per_query.parquet")
    if damage == "a file less":
        target.unlink()
    elif damage == "a file more":
        (run.path / "more.parquet").write_bytes(b"")
    elif damage == "the manifest":
        changed = json.loads(target.read_text())
        changed["started"] = "2000-01-01T00:00:00+00:00"  # nothing that a file's hash would tell
        target.write_text(json.dumps(changed))
    else:
        data = bytearray(target.read_bytes())
        data[len(data) // 2] ^= 1
        target.write_bytes(data[:-1])
    said = command("verify", run.json["run_id"], "--runs", runs)
    assert said.code == 2
    assert "Traceback" not in said.err
    if damage != "the manifest":
        assert len(said.json["damage"]) == 1


def states(config: Path, *sets: str) -> dict[str, str]:
    said = command("run", config, "--runs", config.parent / "runs", "--dry-run", *sets)
    assert said.code == 0
    return {step["step"]: step["state"] for step in said.json["steps"]}


def test_a_dry_run_computes_nothing_and_then_everything_is_stored(tmp_path):
    config = small(tmp_path)
    assert set(states(config).values()) == {"compute"}
    assert not list((tmp_path / "runs").glob("**/*.parquet"))
    finish(config)
    assert set(states(config).values()) == {"stored"}


def test_another_reranker_computes_only_from_there_on(tmp_path, embeddings, tiny_reranker):
    """Issue 2; what no arm found does not depend on the reranker."""
    documents = [{"source_id": f"d{n}", "text": f"w{n} w{n + 1} <{n} 1>"} for n in range(8)]
    questions = [
        {"question_id": f"q{n}", "question": f"w{n} <1 {n}>", "evidence": [{"source_id": f"d{n}"}]}
        for n in range(8)
    ]
    arms = {"bm25": {**BM25, "depth": 2}, "dense": embeddings.arm(depth=2)}
    rerank = {"kind": "cross_encoder", "model": tiny_reranker, "candidates": 2, "depth": 2}
    config = project(
        tmp_path, documents, questions, retrieve={"arms": arms}, fuse={"kind": "rrf"}, rerank=rerank
    )
    finish(config)
    seen = len(embeddings.seen)
    found = states(config, "--set", "rerank.depth=1")
    assert {name for name, state in found.items() if state != "stored"} == {
        "reranked", "per_query", "failures", "aggregate", "slices",
        "top_scores", "thresholds", "risk_coverage",
    }  # fmt: skip
    again = finish(config, "--set", "rerank.depth=1")
    assert len(embeddings.seen) == seen
    assert {row["stage"] for row in again.table("latency").filter(mode="batched").to_dicts()} == {
        "reranked"
    }


def test_limit_takes_the_first_by_id(tmp_path):
    run = finish(small(tmp_path), "--limit", "2")
    assert run.table("questions")["question_id"].to_list() == ["q-A", "q-B"]


def test_splits_select(tmp_path):
    run = finish(small(tmp_path), "--set", "golden.splits=[test]")
    assert run.table("questions")["question_id"].to_list() == ["q-D", "q-E"]


def test_set_overrides_and_repeats(tmp_path):
    config = small(tmp_path)
    run = finish(config, "--set", "context.depth=5", "--set", "metrics.cutoffs=[3]")
    assert run.manifest["config"]["context"]["depth"] == 5
    assert run.json["metrics"]["context"]["recall@3"]["mean"] == 0.6
    assert run.json["status"]["success"] == 5


def test_a_store_elsewhere(tmp_path):
    config = small(tmp_path)
    finish(config, "--store", str(tmp_path / "elsewhere"))
    assert list((tmp_path / "elsewhere").glob("*/*/manifest.json"))
    assert not (tmp_path / "runs" / ".store").exists()


def test_resume_of_a_finished_run_gives_it_as_it_is(run):
    said = command("resume", run.json["run_id"], "--runs", run.path.parent)
    assert (said.code, said.json) == (0, run.json)


def test_init_writes_a_project_to_start_from(tmp_path):
    """§12: one config (rayeval.yaml), a golden set, gates, a CI workflow."""
    target = tmp_path / "new"
    said = command("init", target)
    assert said.code == 0
    names = {str(p.relative_to(target)) for p in target.rglob("*") if p.is_file()}
    assert {"rayeval.yaml", "golden.jsonl", "gates.yaml"} <= names
    assert any(name.startswith(".github/workflows/") for name in names)
    stages = {
        gate["stage"] for gate in yaml.safe_load((target / "gates.yaml").read_text())["gates"]
    }
    assert command("validate", target / "rayeval.yaml", "--runs", tmp_path).code == 0
    assert stages <= set(finish(target / "rayeval.yaml").json["metrics"])
    assert command("init", target).code == 2


def test_doctor(tmp_path):
    assert command("doctor").code == 0
    config = small(tmp_path)
    assert command("doctor", config).code == 0
    said = command("doctor", config, "--set", "rerank={kind: cross_encoder, model: ./none}")
    assert said.code == 2
    assert [f["name"] for f in said.json["findings"] if f["needed"]] == ["rerank"]


def test_the_configuration_of_the_design(tmp_path):
    """§12's own, with models that are there."""
    text = """
golden: {path: samples/handbook/golden.jsonl, splits: [dev]}
corpus: {path: samples/handbook/docs, as_of: 2026-08-01}
chunk: {kind: structure, size: 400, overlap: 0, unit: chars}
retrieve:
  filter: {access: true, current: true}
  arms:
    bm25: {kind: bm25, analyzer: {kind: char_ngram, n: 2}, depth: 50}
    dense: {kind: dense, embedder: {kind: sentence_transformers, model: m}, depth: 50,
            ann: {kind: hnsw, m: 32, ef_search: 64}}
fuse: {kind: rrf, k: 60, depth: 20}
rerank: {kind: cross_encoder, model: m, candidates: 20, depth: 10}
context: {kind: budget, max_tokens: 1200, depth: 5}
metrics: {cutoffs: [1, 5, 10, 20], full: 0.8, partial: 0.2, relevant: 2}
latency: {sample: 50}
placement: {workers: 2, shards: 4}
seed: 42
"""
    config = load_values(yaml.safe_load(text)).config
    assert config.corpus.as_of.isoformat() == "2026-08-01T00:00:00+00:00"
    assert config.golden.path.endswith("samples/handbook/golden.jsonl")


def test_the_python_api(tmp_path):
    config = small(tmp_path)
    run = rayeval.evaluate(config, runs=tmp_path / "runs", store=tmp_path / "store")
    assert run.per_query.height == 10
    assert run.failures["status"].value_counts().height == 2
    again = rayeval.load(run.path)
    assert again.summary() == run.summary() == command("show", run.path).json
    assert rayeval.load(run.run_id, tmp_path / "runs").path == run.path
    assert rayeval.load(Path(run.path)).run_id == run.run_id


def test_a_module_is_the_command_too():
    done = subprocess.run(
        [sys.executable, "-m", "rayeval", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"rayeval {rayeval.__version__}"


def test_progress_goes_to_stderr_and_one_document_to_stdout(tmp_path):
    said = command("run", small(tmp_path), "--runs", tmp_path / "runs")
    assert "per_query" in said.err
    jsonl(tmp_path / "golden.jsonl", [])
    said = command("run", tmp_path / "rayeval.yaml", "--runs", tmp_path / "runs")
    assert (said.code, said.json["error"]["exit_code"]) == (2, 2)
