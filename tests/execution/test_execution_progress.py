"""What a run says while it computes."""

import time

import pytest
from execution_project import QUESTIONS

from rayeval.execution import progress
from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.store import Commit, File


def slowly(seconds):
    time.sleep(seconds)
    yield Commit(0, (File("part", 532, 1, "digest"),), seconds)


@pytest.mark.parametrize(
    ("seconds", "patience", "told"),
    [
        pytest.param(0.5, 0.05, ["still computing", "532 rows"], id="slow"),
        pytest.param(0.0, 30.0, ["532 rows"], id="quick"),
    ],
)
def test_a_slow_step_says_so_before_it_ends(monkeypatch, capsys, seconds, patience, told):
    monkeypatch.setattr(progress, "SLOW_S", patience)
    with progress.Bars() as bars:
        assert len(list(bars.watch("vectors:dense", slowly(seconds), 1, 532))) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(told)
    assert all("vectors:dense" in line for line in lines)
    assert [word in line for word, line in zip(told, lines, strict=True)] == [True] * len(told)


def test_measuring_latency_is_announced(project, tmp_path, capsys):
    with progress.Bars() as bars:
        run_config(
            load_config(str(project / "rayeval.yaml"), ["latency.sample=1000"]),
            Options(str(tmp_path)),
            bars,
        )
    asked = len(QUESTIONS)
    assert f"{asked} questions, measured one at a time" in " ".join(capsys.readouterr().err.split())
