"""Waiting for a key at a terminal."""

import os
import pty
import signal

import pytest

from rayeval.cli import keys


@pytest.fixture
def terminal(monkeypatch):
    """Our end of a terminal whose other end is stdin."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as stdin:
        monkeypatch.setattr(keys.sys, "stdin", stdin)
        yield ours
    os.close(ours)


@pytest.fixture
def heard(monkeypatch):
    """Signals are noted down and raise nothing."""
    noted = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: noted.append(number))
    yield noted
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_just_before_the_wait_ends_it_and_the_next_goes_on(terminal, heard, monkeypatch):
    """Ctrl-C between Python's last look for signals and the wait was seen by nobody (1 in 70,000)."""
    waits, wait = [], keys.select.select

    def late(reading, *others):
        """The signal is handled before the wait begins, so the wait alone can't be interrupted."""
        if not waits:
            os.kill(os.getpid(), signal.SIGUSR1)
        ready = wait(reading, *others, 10)
        waits.append(ready[0])
        if len(waits) == 1:
            os.write(terminal, b"y")
        return ready

    monkeypatch.setattr(keys.select, "select", late)
    with keys.keys() as typed:
        assert typed.next("y", end="q") == "y"
    assert heard == [signal.SIGUSR1] and len(waits) == 2


def test_what_wakes_others_is_as_it_was(terminal):
    with keys.keys():
        inside = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(inside)
    assert inside != -1 and signal.set_wakeup_fd(-1) == -1
