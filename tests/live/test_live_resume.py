"""What reached the log of answers is never asked for again, whatever ends the run."""

import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from live_services import arm, gold, project, serving

from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.live.log import Lines, Objects


def test_killed_in_the_middle_and_resumed(tmp_path):
    """DESIGN §9, law 8: only the request that was under way is sent again."""
    released = threading.Event()

    def answer(request):
        if len(server.seen) == 3:
            released.wait(30)
        return gold(request)

    with serving(answer) as server:
        path = project(tmp_path, {"svc": arm(server, concurrency=1)})
        command = [
            sys.executable,
            "-m",
            "rayeval",
            "run",
            str(path),
            "--runs",
            str(tmp_path / "runs"),
        ]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while len(server.seen) < 3 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        released.set()
        [folder] = (tmp_path / "runs").glob("*-run-*")
        run = resume_run(str(folder), "runs", Silent())
    asked = server.questions()
    assert len(asked) == 4
    assert asked[2] == asked[3]
    assert run.failures["status"].to_list() == ["success"] * 3


@pytest.mark.parametrize("kind", [Lines, Objects])
def test_a_log_is_there_for_whoever_comes_later(tmp_path, kind):
    folder = str(tmp_path / "log")
    first = kind(folder)
    first.put("a", {"status": 200, "json": {"text": "휴가", "score": 0.1}})
    first.put("b", {"status": 404, "said": "no"})
    assert (
        first.get("a")
        == kind(folder).get("a")
        == {"status": 200, "json": {"text": "휴가", "score": 0.1}}
    )
    assert kind(folder).get("b") == {"status": 404, "said": "no"}
    assert kind(folder).get("c") is None
    first.put("d", {"json": float("nan")})  # as services do write it
    assert kind(folder).get("d")["json"] != kind(folder).get("d")["json"]


def test_a_line_that_was_being_written_does_not_count(tmp_path):
    Lines(str(tmp_path)).put("a", 1)
    [path] = tmp_path.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + json.dumps({"request": "b", "answer": 2}).encode())
    log = Lines(str(tmp_path))
    assert (log.get("a"), log.get("b")) == (1, None)
