"""Bad input: one clear message, the right exit code, nothing half-written."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from execution_project import DOCUMENTS, QUESTIONS, write_lines

from rayeval import files
from rayeval.cli.main import run_command
from rayeval.errors import ConfigError, InfrastructureError, ModelError


@pytest.fixture
def copy(project, tmp_path) -> Path:
    """The project, to be spoilt."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for name in ("documents.jsonl", "golden.jsonl", "rayeval.yaml"):
        (folder / name).write_text((project / name).read_text())
    return folder


def run(folder: Path, *more: str) -> int:
    command = ["run", str(folder / "rayeval.yaml"), "--runs", str(folder / "runs"), *more]
    return run_command(command)


def left(folder: Path) -> list[str]:
    """Run folders that are there."""
    runs = folder / "runs"
    return [p.name for p in runs.iterdir() if p.name != ".store"] if runs.exists() else []


@pytest.mark.parametrize(
    ("override", "says"),
    [
        pytest.param("chunk.sise=40", "chunk.sise: unknown key; did you mean size?", id="typo"),
        pytest.param("retrieve.arms.bm25.analyzer={kind: kiwi, n: 2}",
                     "analyzer.n: unknown key here (other places or kinds have it); to change its "
                     "kind, set all of it: --set 'retrieve.arms.bm25.analyzer={kind: …}'",
                     id="another kind's key"),
        pytest.param("chunk.wxyz=1", "chunk.wxyz: unknown key; here there are kind, overlap, size,",
                     id="a key like none"),
        pytest.param("retrieve.arms.bm25.depht=9", "retrieve.arms.bm25.depht: unknown key; did "
                     "you mean depth?", id="typo in an arm"),
        pytest.param("chunk.kind=fxed", "chunk: unknown kind 'fxed'; expected one of", id="kind"),
        pytest.param("chunk.overlap=60", "overlap", id="overlap not below size"),
        pytest.param("retrieve.arms={}", "retrieve.arms", id="no arm"),
        pytest.param("fuse=null", "fuse: missing; with 2 arms", id="nothing fuses the arms"),
        pytest.param("metrics.names=[recal@5]", "recall@5", id="unknown metric"),
        pytest.param("retrieve.arms.fused={kind: bm25}", "'fused' can't be an arm's name", id="name"),
        pytest.param("fuse.weights={bm52: 2}", "did you mean 'bm25'?", id="weight of no arm"),
        pytest.param("corpus.as_of=yesterday", "yesterday", id="no date"),
        pytest.param("golden.path=nowhere.jsonl", "nowhere.jsonl", id="no golden set"),
        pytest.param("corpus.path=nowhere", "nowhere", id="no corpus"),
        pytest.param("retrieve.arms.dense.embedder={kind: sentence_transformers, model: ./no}",
                     "no model folder at", id="a model that is not there"),
        pytest.param("tokenizer={kind: hf, path: golden.jsonl}", "golden.jsonl holds no tokenizer",
                     id="a tokenizer that is none"),
        pytest.param("corpus={path: ., include: ['*.pdf']}", "empty_corpus", id="an empty choice"),
        pytest.param("rerank={kind: cross_encoder, model: 'package:no_such/model'}",
                     "not installed: pip install no-such", id="a package that is not there"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_run(copy, capsys, override, says):
    assert run(copy, "--set", override) == 2
    out, err = capsys.readouterr()
    assert says in " ".join(err.split())
    assert out == ""
    assert "Traceback" not in err
    assert left(copy) == []


def test_a_missing_extra_names_its_command(copy, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    assert run(copy, "--set", "retrieve.arms.bm25.analyzer={kind: kiwi}") == 2
    assert "pip install 'rayeval[ko]'" in " ".join(capsys.readouterr().err.split())
    assert left(copy) == []


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        pytest.param("documents.jsonl", "", "empty_corpus", id="empty corpus"),
        pytest.param("golden.jsonl", "", "empty_golden_set", id="empty golden set"),
        pytest.param("golden.jsonl", '{"question_id": "q", "question": "\\ud800", "answerable": '
                     'false}\n', "lone_surrogate", id="lone surrogate"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_evaluated(copy, capsys, name, content, kind):
    (copy / name).write_text(content)
    assert run(copy) == 2
    assert kind in " ".join(capsys.readouterr().err.split())
    assert left(copy) == []


def test_bytes_that_are_not_utf8(copy, capsys):
    (copy / "golden.jsonl").write_bytes(b'{"question_id": "q", "question": "\xff\xfe"}\n')
    assert run(copy) == 2
    assert "not_utf8" in " ".join(capsys.readouterr().err.split())


def test_unknown_sources_are_problems_to_validate_and_warnings_to_run(copy, capsys):
    config = str(copy / "rayeval.yaml")
    assert run_command(["validate", config, "--runs", str(copy / "runs"), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert [(p["kind"], p["question_id"], p["line"]) for p in found["problems"]] == [
        ("unknown_source", "q-gone", 9)
    ]
    assert run(copy, "--json") == 0
    out = capsys.readouterr().out
    assert json.loads(out)["failures"]["INGESTION_MISSING_SOURCE"] == 1


def test_a_question_of_100_000_characters(copy):
    long = {"question_id": "q-long", "question": "휴가 leave? " * 10_000,
            "evidence": [{"source_id": "leave", "quote": "25 days"}]}  # fmt: skip
    write_lines(copy / "golden.jsonl", [*QUESTIONS, long])
    assert run(copy) == 0


def test_a_document_with_nul_characters(copy, capsys):
    nul = {"source_id": "nul", "text": "before\x00after the nul"}
    write_lines(copy / "documents.jsonl", [*DOCUMENTS, nul])
    asked = {"question_id": "q-nul", "question": "after the nul",
             "evidence": [{"source_id": "nul", "quote": "after the nul"}]}  # fmt: skip
    write_lines(copy / "golden.jsonl", [*QUESTIONS, asked])
    assert run(copy, "--json") == 0
    path = Path(json.loads(capsys.readouterr().out)["path"])
    warnings = json.loads((path / "manifest.json").read_text())["warnings"]
    assert any("nul_character" in warning for warning in warnings)
    failures = pl.read_parquet(path / "failures.parquet")
    assert failures.filter(pl.col("question_id") == "q-nul")["status"].item() == "success"


def test_one_question_that_cannot_be_embedded_is_an_error_and_no_score(copy, capsys, monkeypatch):
    from rayeval.retrieve.dense.hashed import HashedEmbedder

    embed = HashedEmbedder.embed

    def spoilt(self, texts):
        vectors, tokens = embed(self, texts)
        vectors[[text == "ERR-4012" for text in texts]] = float("nan")
        return vectors, tokens

    monkeypatch.setattr(HashedEmbedder, "embed", spoilt)
    assert run(copy, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["status"]["error"] == 1
    assert summary["metrics"]["dense_exact"]["recall@5"]["n_error"] == 1
    assert summary["metrics"]["bm25"]["recall@5"]["n_error"] == 0
    trace = pl.read_parquet(Path(summary["path"]) / "trace.parquet")
    rows = trace.filter((pl.col("question_id") == "q-code") & (pl.col("stage") != "filter"))
    errors = dict(rows.select("stage", "error").iter_rows())
    assert errors["bm25"] is None
    assert "NaN" in errors["dense_exact"]
    failures = pl.read_parquet(Path(summary["path"]) / "failures.parquet")
    assert failures.filter(pl.col("question_id") == "q-code")["status"].item() == "error"
    assert errors["context"].startswith("upstream")
    numbers = pl.read_parquet(Path(summary["path"]) / "per_query.parquet")
    row = numbers.filter((pl.col("question_id") == "q-code") & (pl.col("stage") == "fused"))
    assert row["status"].item() == "error"
    assert row["recall@5"].is_nan().item()


def test_an_embedder_that_fails_on_everything_is_no_low_score(copy, capsys, monkeypatch):
    from rayeval.retrieve.dense.hashed import HashedEmbedder

    def broken(self, texts):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(HashedEmbedder, "embed", broken)
    assert run(copy) == 4
    assert "failed on" in " ".join(capsys.readouterr().err.split())


def test_a_full_disk_leaves_no_run(copy):
    """Files may not grow beyond 3 kB: the first table that does not fit ends the run."""
    script = "from rayeval.cli.main import main; main()"
    command = [sys.executable, "-c", script, "run", str(copy / "rayeval.yaml"), "--runs",
               str(copy / "runs")]  # fmt: skip
    limited = subprocess.run(
        command, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert limited.returncode == 4, limited.stderr
    assert "can't write" in limited.stderr
    assert "Traceback" not in limited.stderr
    [run] = left(copy)
    assert run_command(["show", run, "--runs", str(copy / "runs")]) == 2
    assert run_command(["resume", run, "--runs", str(copy / "runs")]) == 0
    assert run_command(["verify", run, "--runs", str(copy / "runs")]) == 0


def test_a_run_that_could_not_be_noted_leaves_no_folder(copy, monkeypatch, capsys):
    def full(path, data):
        Path(path).parent.mkdir(parents=True)
        raise InfrastructureError(f"can't write {path}: no space left")

    monkeypatch.setattr(files, "write_bytes", full)
    assert run(copy) == 4
    assert "no space left" in " ".join(capsys.readouterr().err.split())
    assert left(copy) == []


def test_errors_are_of_the_tree():
    assert (ConfigError("x").exit_code, ModelError("x").exit_code) == (2, 2)
