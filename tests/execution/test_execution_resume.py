"""Kill the driver at any moment, go on, and get what an undisturbed run gives (law 8)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from execution_project import contents

from rayeval.errors import InfrastructureError, RunError
from rayeval.execution.evaluate import executor_of
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.execution.runs import Run, load


def start(project: Path, runs: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-c", "from rayeval.cli.main import main; main()", "run",
               str(project / "rayeval.yaml"), "--runs", str(runs), *more]  # fmt: skip
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_after(process: subprocess.Popen, runs: Path, commits: int) -> bool:
    """Kills once the store has that many commit records; False if the run was faster."""
    while process.poll() is None:
        if len(list(runs.glob(".store/*/*/commits/*.json"))) >= commits:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.01)
    return False


def unfinished(runs: Path) -> str:
    return next(p.name for p in runs.iterdir() if p.name != ".store")


@pytest.fixture(scope="module")
def undisturbed(project, tmp_path_factory) -> dict[str, bytes]:
    runs = tmp_path_factory.mktemp("undisturbed")
    assert start(project, runs).wait() == 0
    return contents(load(unfinished(runs), str(runs)))


SLOW = pytest.mark.slow


@pytest.mark.parametrize("commits", [1, *(pytest.param(n, marks=SLOW) for n in (6, 15, 30))])
def test_killed_and_resumed(project, tmp_path, undisturbed, commits):
    assert kill_after(start(project, tmp_path), tmp_path, commits)
    run = unfinished(tmp_path)
    with pytest.raises(RunError, match=r"never finished.*rayeval resume"):
        load(run, str(tmp_path))
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob(".store/*/*/commits/*.json")}
    result = resume_run(run, str(tmp_path), Silent())
    assert contents(result) == undisturbed
    after = {p: p.stat().st_mtime_ns for p in tmp_path.glob(".store/*/*/commits/*.json")}
    assert before.items() <= after.items(), "a finished partition was computed again"


def test_a_worker_that_is_killed_is_said_in_words(project, tmp_path):
    config = load_config(str(project / "rayeval.yaml")).config
    options = Options(runs=str(tmp_path), workers=2)
    with (
        pytest.raises(InfrastructureError, match=r"a worker process is gone.*--workers 1"),
        executor_of(config, options) as executor,
    ):
        executor._pool().submit(os.abort).result()


def test_killed_while_the_runs_own_files_are_written(project, tmp_path, undisturbed):
    process = start(project, tmp_path)
    while process.poll() is None and not list(tmp_path.glob("2*/questions.parquet*")):
        time.sleep(0.002)
    process.kill()
    process.wait()
    run = unfinished(tmp_path)
    if not (tmp_path / run / "manifest.json").exists():
        with pytest.raises(RunError, match="never finished"):
            load(run, str(tmp_path))
    result = resume_run(run, str(tmp_path), Silent())
    assert contents(result) == undisturbed
    assert not list(Path(result.path).glob("*.tmp")), "left-overs of an interrupted write"
    assert result.damage() == []


def test_resuming_a_finished_run_gives_it_as_it_is(evaluate, tmp_path):
    run: Run = evaluate()
    files = {p.name: p.stat().st_mtime_ns for p in Path(run.path).iterdir()}
    again = resume_run(run.run_id, str(tmp_path / "runs"), Silent())
    assert {p.name: p.stat().st_mtime_ns for p in Path(again.path).iterdir()} == files


def test_a_run_does_not_go_on_with_other_questions(project, tmp_path):
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("documents.jsonl", "golden.jsonl", "rayeval.yaml"):
        (copy / name).write_text((project / name).read_text())
    runs = tmp_path / "runs"
    assert kill_after(start(copy, runs), runs, 6)
    golden = copy / "golden.jsonl"
    golden.write_text(golden.read_text().replace("how many days", "how many hours"))
    with pytest.raises(RunError, match=r"the golden is no longer what run .* began with"):
        resume_run(unfinished(runs), str(runs), Silent())
