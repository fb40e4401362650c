"""Files that are not what was written: said in words, wherever they lie."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from execution_project import contents

from rayeval.errors import InfrastructureError, RunError
from rayeval.execution.evaluate import run_config
from rayeval.execution.inputs import _paths
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.lock import held
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.execution.runs import load

DAMAGES = [
    pytest.param(b"", id="empty"),
    pytest.param(b'{"run_id": "x", "fi', id="cut off"),
    pytest.param(b"hello", id="no JSON"),
    pytest.param(b"\xff\xfe\x00", id="no text"),
    pytest.param(b"[]", id="a list"),
    pytest.param(b"null", id="null"),
    pytest.param(b'{"commits": [{}]}', id="without what belongs there"),
]


@pytest.fixture(scope="module")
def made(project, tmp_path_factory) -> Path:
    """A folder with one run and its store."""
    runs = tmp_path_factory.mktemp("made")
    run_config(load_config(str(project / "rayeval.yaml")), Options(runs=str(runs)), Silent())
    return runs


@pytest.fixture
def run(made, tmp_path) -> Path:
    """The run in a copy of that folder, to be spoilt; `evaluate` writes to the same one."""
    shutil.copytree(made, tmp_path / "runs")
    return next(p for p in (tmp_path / "runs").iterdir() if p.name != ".store")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_manifest(run, damage):
    (run / "manifest.json").write_bytes(damage)
    for act in (lambda: load(str(run)), lambda: resume_run(str(run), "", Silent())):
        with pytest.raises(RunError, match=r"is damaged: manifest.json .*rayeval verify"):
            act()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_plan(run, damage):
    (run / "manifest.json").unlink()
    (run / "plan.json").write_bytes(damage)
    with pytest.raises(RunError, match=r"is damaged: plan.json"):
        resume_run(str(run), "", Silent())


def test_a_plan_of_another_version(run):
    (run / "manifest.json").unlink()
    plan = json.loads((run / "plan.json").read_text())
    plan["options"]["turbo"] = True
    (run / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(RunError, match=r"options of another version.*turbo"):
        resume_run(str(run), "", Silent())


@pytest.mark.parametrize("name", ["questions", "trace", "failures", "aggregate"])
@pytest.mark.parametrize("damage", [None, b"", b"PAR1 and nothing more"])
def test_a_damaged_table(run, name, damage):
    file = run / f"{name}.parquet"
    file.unlink() if damage is None else file.write_bytes(damage)
    with pytest.raises(RunError, match=rf"is damaged: {name}.parquet can't be read"):
        getattr(load(str(run)), name)
    assert [line.partition(":")[0] for line in load(str(run)).damage()] == [file.name]


@pytest.mark.parametrize("damage", [DAMAGES[0], DAMAGES[-1]])
@pytest.mark.parametrize("name", ["manifest.json", "commits/000000.json"])
def test_a_damaged_store_names_the_folder_to_delete(evaluate, run, name, damage):
    undisturbed = contents(load(str(run)))
    step = json.loads((run / "manifest.json").read_text())["steps"]["passages"]["key"]
    folder = run.parent / ".store" / step[:2] / step
    if name != "manifest.json":
        (folder / "manifest.json").unlink()
    (folder / name).write_bytes(damage)
    _paths.cache_clear()
    with pytest.raises(InfrastructureError, match=rf"delete the folder {folder} and run again"):
        evaluate()
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    assert contents(evaluate()) == undisturbed


def test_one_process_at_a_run(run):
    (run / "manifest.json").unlink()
    code = "import sys; from rayeval.cli.main import main; main()"
    command = [sys.executable, "-c", code, "resume", str(run), "--json"]
    with held(str(run)):
        beside = subprocess.run(command, capture_output=True, text=True, check=False)
    assert beside.returncode == 2
    assert "another process is at the run" in json.loads(beside.stdout)["error"]["message"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert load(str(run)).damage() == []


def test_a_process_that_was_killed_holds_nothing(run):
    code = (
        "import sys, time; from rayeval.execution.lock import held\n"
        "with held(sys.argv[1]): print(flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(RunError, match="another process"), held(str(run)):
            pass
        holder.kill()
    with held(str(run)):
        assert run.is_dir()
