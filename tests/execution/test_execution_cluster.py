"""Which Ray cluster a run joins."""

import socket

import pytest

from rayeval.errors import InfrastructureError
from rayeval.execution.cluster import KEEP_LOOPBACK, OURS, choose


@pytest.fixture(autouse=True)
def nothing_noted(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv(KEEP_LOOPBACK, "")
    monkeypatch.delenv(KEEP_LOOPBACK)


@pytest.fixture
def head():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def note(tmp_path):
    (tmp_path / "ray").mkdir()
    return (tmp_path / "ray/ray_current_cluster").write_text


def test_without_a_cluster_ray_is_started():
    assert choose(None) == OURS


def test_a_running_cluster_is_joined(head, note):
    note(head)
    assert choose(None) == choose("auto") == head


def test_a_cluster_that_is_gone_is_not_waited_for(note):
    note("127.0.0.1:9")
    assert choose(None) == OURS
    with pytest.raises(InfrastructureError, match=r"no Ray cluster answers at 127\.0\.0\.1:9"):
        choose("auto")


def test_a_job_joins_its_own_cluster(head, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", head)
    assert choose("auto") == head


def test_loopback_stays_loopback(head, monkeypatch):
    import os

    assert choose(head) == head
    assert os.environ[KEEP_LOOPBACK] == "0"


def test_a_ray_that_does_not_come_up_is_said_in_words(monkeypatch):
    import ray

    from rayeval.execution.ray import connect

    def timed_out(*_, **__):
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", timed_out)
    with pytest.raises(InfrastructureError, match=r"can't start Ray here: The current node timed"):
        connect(OURS)
