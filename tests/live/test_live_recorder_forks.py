"""The recorder in processes that fork, as servers and `multiprocessing` do."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

BEGIN = """
import fcntl, os, signal, sys, threading, time, rayeval
path = os.environ["RAYEVAL_TRACE"]

def record(name):
    with rayeval.trace(name):
        pass
"""

WHILE_ONE_WRITES = """
held = os.open(path, os.O_CREAT | os.O_RDWR)
fcntl.flock(held, fcntl.LOCK_EX)
thread = threading.Thread(target=record, args=("thread",))
thread.start()
time.sleep(0.5)  # by now it waits for the file, and has this process's lock
idle = os.fork()
if idle == 0:
    time.sleep(30)  # a worker that never records
    os._exit(0)
child = os.fork()
if child == 0:
    signal.alarm(20)
    files = [os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]
    record(f"child with {files.count(os.path.realpath(path))} of the file's descriptors")
    os._exit(0)
fcntl.flock(held, fcntl.LOCK_UN)
thread.join()
record("parent")
os.waitpid(child, 0)
os.kill(idle, signal.SIGKILL)
"""

WITHIN_A_BLOCK = """
with rayeval.trace("q") as t:
    child = os.fork()
    if child == 0:
        try:
            t.stage("bm25", ["a"])
        except rayeval.errors.InputError as error:
            print(error)
        record("child's own")
        sys.exit()  # which leaves the block
    os.waitpid(child, 0)
    t.stage("bm25", ["b"])
"""


def ran(tmp_path, code):
    """The lines that the code recorded, and what it printed."""
    path = tmp_path / "t.jsonl"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BEGIN + code],
        env={**os.environ, "RAYEVAL_TRACE": str(path)},
        capture_output=True, text=True, check=True, timeout=25,
    )  # fmt: skip
    return [json.loads(line) for line in path.read_text().splitlines()], done.stdout


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks into /proc")  # noqa: PTH110
def test_a_fork_while_a_line_is_written_stops_nobody(tmp_path):
    rows, _ = ran(tmp_path, WHILE_ONE_WRITES)
    child = "child with 1 of the file's descriptors"  # the one that the script holds
    assert {row["question_id"] for row in rows} == {"thread", "parent", child}


def test_a_block_is_a_line_of_the_process_that_entered_it(tmp_path):
    rows, said = ran(tmp_path, WITHIN_A_BLOCK)
    assert [row["question_id"] for row in rows] == ["child's own", "q"]
    assert rows[1]["stages"]["bm25"]["hits"] == [{"text": "b"}]
    assert "the block was entered in another process" in said
