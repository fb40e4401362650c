"""The commands as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rayeval.cli.main import run_command

COMMANDS = ("init", "validate", "run", "show", "verify", "resume", "export", "doctor")


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> Path:
    """What `rayeval init` writes, run once."""
    folder = tmp_path_factory.mktemp("started") / "project"
    assert run_command(["init", str(folder)]) == 0
    assert run_command(["run", str(folder / "rayeval.yaml"), "--runs", str(folder / "runs")]) == 0
    return folder


@pytest.fixture
def run_id(started) -> str:
    return next(p.name for p in (started / "runs").iterdir() if p.name != ".store")


def printed(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    assert run_command([command, "--help"]) == 0
    assert f"rayeval {command}" in capsys.readouterr().out.split("Example")[1]


def test_a_started_project_is_valid(started, capsys):
    config = str(started / "rayeval.yaml")
    assert run_command(["validate", config, "--runs", str(started / "runs"), "--json"]) == 0
    assert printed(capsys) == {"problems": [], "warnings": []}


def test_init_overwrites_nothing(started, capsys):
    assert run_command(["init", str(started)]) == 2
    assert "not empty" in " ".join(capsys.readouterr().err.split())


def test_init_writes_a_workflow(started):
    assert "rayeval run" in (started / ".github/workflows/retrieval.yml").read_text()


def test_run_json_is_one_document_with_everything(started, capsys):
    arguments = ["run", str(started / "rayeval.yaml"), "--runs", str(started / "runs"), "--json"]
    assert run_command(arguments) == 0
    found = printed(capsys)
    assert set(found) == {"run_id", "path", "n", "status", "failures", "metrics", "slices"}
    assert found["n"] == 4
    assert set(found["status"]) == {"success", "failed", "error", "missing"}
    assert set(found["metrics"]) == {"bm25", "context"}
    numbers = found["metrics"]["bm25"]["recall@3"]
    assert set(numbers) == {"mean", "n", "n_undefined", "n_missing", "n_error"}
    assert set(found["slices"]) >= {"number_date", "language:ko", "answerable:false"}


def test_show_a_run(started, run_id, capsys):
    assert run_command(["show", run_id, "--runs", str(started / "runs")]) == 0
    text = capsys.readouterr().out
    assert "Means over answerable questions" in text
    assert "First failures" in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_show_a_question(started, run_id, capsys):
    runs = ["--runs", str(started / "runs")]
    assert run_command(["show", run_id, "equipment-wait", *runs]) == 0
    text = capsys.readouterr().out
    assert "장비 신청하면 며칠 걸리나요" in text
    assert "bm25: " in text
    assert run_command(["show", run_id, "equipment-wait", "--json", *runs]) == 0
    found = printed(capsys)
    assert found["failure"]["status"] == "success"
    assert found["stages"]["bm25"]["hits"][0]["covers"] == {"e1": 1.0}


def test_show_a_question_that_is_not_there(started, run_id, capsys):
    assert run_command(["show", run_id, "parkin", "--runs", str(started / "runs")]) == 2
    assert "near it: parking" in " ".join(capsys.readouterr().err.split())


def test_runs_are_found_by_the_beginning_of_their_id(started, run_id, capsys):
    assert run_command(["verify", run_id[:-2], "--runs", str(started / "runs"), "--json"]) == 0
    assert printed(capsys)["damage"] == []


def test_an_unknown_run(started, capsys):
    assert run_command(["show", "no-such", "--runs", str(started / "runs")]) == 2
    assert "neither a path nor an id" in " ".join(capsys.readouterr().err.split())


def test_errors_with_json_are_one_document(capsys):
    assert run_command(["run", "no-such.yaml", "--json"]) == 2
    assert printed(capsys)["error"]["exit_code"] == 2


def test_unknown_options_exit_2(capsys):
    assert run_command(["run", "x.yaml", "--colour"]) == 2
    assert "colour" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", ["run", "validate", "show", "verify", "resume"])
def test_an_empty_folder_of_runs_is_not_the_root_of_the_file_system(started, command, capsys):
    assert run_command([command, str(started / "rayeval.yaml"), "--runs", ""]) == 2
    assert "name a folder" in " ".join(capsys.readouterr().err.split())


def test_dry_run_computes_nothing(started, tmp_path, capsys):
    arguments = ["run", str(started / "rayeval.yaml"), "--runs", str(tmp_path), "--dry-run"]
    assert run_command([*arguments, "--json"]) == 0
    steps = printed(capsys)["steps"]
    assert {step["state"] for step in steps} == {"compute"}
    assert list(tmp_path.iterdir()) == []


def test_doctor_names_what_a_configuration_lacks(started, capsys):
    config = str(started / "rayeval.yaml")
    assert run_command(["doctor", config]) == 0
    text = capsys.readouterr().out
    assert "words, unicode " in text
    assert "{" not in text
    rerank = "rerank={kind: cross_encoder, model: ./nothing}"
    assert run_command(["doctor", config, "--set", rerank, "--json"]) == 2
    lacking = [f for f in printed(capsys)["findings"] if f["needed"]]
    assert [f["name"] for f in lacking] == ["rerank"]


@pytest.mark.parametrize("module", ["torch", "ray", "faiss", "sentence_transformers", "kiwipiepy"])
def test_heavy_libraries_are_not_imported_before_they_are_needed(module):
    code = f"import rayeval.cli.main, rayeval.registry, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
