"""Asking a chat endpoint: what counts as a reply, what is tried again, what is never sent twice."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from faulty import Endpoint, Fault, completion, completion_bytes, serving

from rayeval.chat import build
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.errors import ConfigError
from rayeval.live import wire
from rayeval.live.log import Lines, Nothing, Objects
from rayeval.live.turns import Turns

GOOD = completion_bytes()
PRICES = {"input_per_million": 1.0, "output_per_million": 10.0}


def request(text="hello", **fields):
    return Request((("system", "say it"), ("user", text)), prompt="p1", **fields)


def config(server, **settings):
    return OpenAI(url=getattr(server, "url", server), model="m", **{"deadline_s": 5, **settings})


def ask(server, *requests, log=None, **settings):
    return build(config(server, **settings), log or Nothing()).complete(requests or [request()])


@pytest.fixture
def quick(monkeypatch):
    """Pauses between tries are noted, not waited."""
    waited, real = [], wire.pause
    monkeypatch.setattr(wire, "pause", lambda state: waited.append(real(state)) or 0.0)
    monkeypatch.setattr(Turns, "hold", lambda self, seconds: None)
    return waited


def test_a_reply_is_what_was_said_with_its_tokens_cost_and_request():
    with serving(lambda body: "안녕 [E1]") as server:
        (found,) = ask(
            server, request("질문 😀", schema={"type": "object"}, repeat=2), prices=PRICES
        )
    assert isinstance(found, Reply)
    assert (found.text, found.finish_reason) == ("안녕 [E1]", "stop")
    assert (found.prompt_tokens, found.completion_tokens) == (100, 20)
    assert found.cost_usd == pytest.approx((100 * 1 + 20 * 10) / 1e6)
    (sent,) = server.seen
    assert sent["path"] == "/v1/chat/completions"
    assert sent["messages"][-1] == {"role": "user", "content": "질문 😀"}
    assert (sent["temperature"], sent["seed"], sent["max_completion_tokens"]) == (0, 44, 512)
    schema = {"name": "reply", "schema": {"type": "object"}, "strict": True}
    assert sent["response_format"] == {"type": "json_schema", "json_schema": schema}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(503, b"down"), id="503"),
        pytest.param(Fault(500, b"{}"), id="500"),
        pytest.param(Fault(429, b"slow down", {"Retry-After": "7"}), id="429"),
        pytest.param(Fault(hang_s=1.6), id="hangs"),
        pytest.param(Fault(drip_s=0.05), id="drips"),
        pytest.param(Fault(cut=True), id="ends in the middle"),
        pytest.param(Fault(reset=True), id="reset"),
        pytest.param(Fault(body=b"<html>"), id="a page"),
        pytest.param(Fault(body=GOOD.replace(b"{}", b"\xff")), id="no UTF-8"),
        pytest.param(Fault(body=b'{"error": {"message": "overloaded"}}'), id="an error with 200"),
        pytest.param(Fault(body=b'{"choices": [{"message": {"content": null}}]}'), id="no content"),
        pytest.param(Fault(body=b"[" * 50_000), id="nested without end"),
        pytest.param(Fault(body=b'{"choices": []}'), id="no choices"),
        pytest.param(Fault(body=b'{"choices": [{"message": {"content": 3}}]}'), id="no text"),
    ],
)
def test_what_may_pass_is_tried_again_and_never_kept(quick, tmp_path, fault):
    script = iter([fault, fault, "good"])
    with serving(lambda body: next(script)) as server:
        log = Lines(str(tmp_path))
        (found,) = ask(server, log=log, deadline_s=_deadline_s(fault))
        assert (found.text, len(server.seen)) == ("good", 3)
    assert len([n for n in log.notes() if n["note"] == "failed"]) == 2
    if fault.status == 429:
        assert quick == [7, 7]


def _deadline_s(fault):
    """Short for what is late, and long for what is not, however busy the machine is."""
    late = isinstance(fault, Fault) and (fault.hang_s or fault.drip_s)
    return 1 if late else 30


@pytest.mark.parametrize(
    ("fault", "outcome", "message", "sent"),
    [
        pytest.param(Fault(503, b"down"), "failed", "HTTP 503: down", 3, id="still down"),
        pytest.param(Fault(hang_s=1.6), "timed_out", "no whole answer within 1 s", 3, id="hangs on"),
        pytest.param(Fault(400, b"too long"), "failed", "HTTP 400: too long", 1, id="400"),
        pytest.param(Fault(401, b"no s3cret"), "failed", r"HTTP 401: no [KEY]", 1, id="401"),
        pytest.param(completion(None, refusal="I won't"), "refused", "I won't", 1, id="refusal"),
        pytest.param(completion(None, finish_reason="content_filter"), "refused", "filter", 1, id="filtered"),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_an_outcome_of_its_own(
    quick, monkeypatch, fault, outcome, message, sent
):
    monkeypatch.setenv("KEY", "s3cret")
    with serving(lambda body: fault) as server:
        headers = {"Authorization": "Bearer ${KEY}"}
        (found,) = ask(server, deadline_s=_deadline_s(fault), retries=2, headers=headers)
        assert len(server.seen) == sent
        assert server.seen[0]["headers"]["Authorization"] == "Bearer s3cret"
    assert isinstance(found, Failed)
    assert found.outcome == outcome
    assert message in found.reason
    assert "s3cret" not in found.reason


def test_nobody_there_is_a_failure_of_every_request_not_of_the_run(quick):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        found = ask(url, request("a"), request("b"), retries=1)
    assert [one.outcome for one in found] == ["failed", "failed"]


def test_an_endpoint_that_is_still_starting_is_waited_for(monkeypatch):
    """Nobody listens, then it loads its model, then it answers."""
    script = iter([Fault(503, b"loading"), "ready"])
    server = Endpoint(lambda body: next(script))
    server.server_close()
    servers = []

    def pause(state):
        if not servers:
            servers.append(stack.enter_context(serving(server.script, server.server_port)))
        return 0.0

    monkeypatch.setattr(wire, "pause", pause)
    with ExitStack() as stack:
        (found,) = ask(server.url)
        assert (found.text, len(servers[0].seen)) == ("ready", 2)


def test_a_variable_that_the_environment_lacks_is_said_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("KEY", raising=False)
    with pytest.raises(ConfigError, match="lacks KEY"):
        build(config("http://127.0.0.1:1", headers={"Authorization": "Bearer ${KEY}"}), Nothing())


@pytest.mark.parametrize("kind", [Lines, Objects])
def test_what_the_log_has_is_not_sent_again_but_repeats_are_requests_of_their_own(tmp_path, kind):
    with serving(lambda body: f"reply to {body['seed']}") as server:
        first = ask(server, request(), request(), request(repeat=1), log=kind(str(tmp_path)))
        assert [one.text for one in first] == ["reply to 42", "reply to 42", "reply to 43"]
        assert len(server.seen) == 2
        assert ask(server, request(), request(repeat=1), log=kind(str(tmp_path))) == first[1:]
        assert len(server.seen) == 2
        changed = [
            {"temperature": 0.5},
            {"revision": "2"},
            {"seed": 1},
            {"max_completion_tokens": 9},
        ]
        for settings in changed:
            ask(server, log=kind(str(tmp_path)), **settings)
        ask(server, Request(request().messages, prompt="p2"), log=kind(str(tmp_path)))
        assert len(server.seen) == 2 + len(changed) + 1


def test_the_log_holds_requests_raw_replies_and_failed_tries_and_no_secret(
    quick, tmp_path, monkeypatch
):
    monkeypatch.setenv("KEY", "s3cret")
    script = iter([Fault(500, b"s3cret is wrong"), "good"])
    with serving(lambda body: next(script)) as server:
        ask(server, log=Lines(str(tmp_path)), headers={"Authorization": "Bearer ${KEY}"})
    text = "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))
    failed, kept = map(json.loads, text.splitlines())
    assert (failed["attempt"], failed["status"], failed["said"]) == (1, 500, "[KEY] is wrong")
    assert failed["latency_ms"] > 0
    assert json.loads(failed["body"])["messages"][0]["content"] == "say it"
    assert kept["answer"]["attempt"] == 2
    assert json.loads(kept["answer"]["response"])["choices"][0]["message"]["content"] == "good"
    assert "s3cret" not in text


def test_no_more_than_so_many_at_once_nor_in_a_minute():
    with serving(lambda body: Fault(hang_s=0.05)) as server:
        found = ask(server, *[request(str(n)) for n in range(8)], concurrency=3)
        assert len(found) == 8
        assert 1 < server.most <= 3
    with serving(lambda body: "ok") as server:
        ask(server, *[request(str(n)) for n in range(6)], requests_per_minute=60 / 0.05)
        assert server.times[-1] - server.times[0] >= 5 * 0.05 * 0.9
    with serving(lambda body: "ok") as server:
        # a request is taken for some 33 + 512 tokens until the reply says 120
        ask(
            server, *[request(str(n)) for n in range(3)], tokens_per_minute=60 * 5000, concurrency=1
        )
        assert server.times[-1] - server.times[0] >= 2 * 100 / 5000


def test_a_pause_that_the_endpoint_asks_of_one_holds_for_all():
    script = iter([Fault(429, b"", {"Retry-After": "1"}), *["ok"] * 9])
    with serving(lambda body: next(script)) as server:
        ask(server, *[request(str(n)) for n in range(4)], concurrency=1)
        assert server.times[1] - server.times[0] >= 0.9


@pytest.mark.parametrize(
    ("budget", "replies"),
    [
        pytest.param({"max_tokens": 1000}, 4, id="tokens"),
        pytest.param({"max_cost_usd": 1000e-6}, 2, id="dollars"),
        pytest.param({"max_tokens": 10}, 0, id="nothing fits"),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_budget_ends_the_asking_at_the_same_request_however_it_is_asked(
    tmp_path, budget, replies, concurrency
):
    """A request costs 120 tokens, 300 millionths of a dollar; beforehand it may be 545 tokens."""
    asked = [request(str(n)) for n in range(8)]
    settings = {
        "budget": budget,
        "prices": PRICES,
        "concurrency": concurrency,
        "max_completion_tokens": 50,
    }
    with serving(lambda body: "ok") as server:
        found = ask(server, *asked, log=Lines(str(tmp_path)), **settings)
        sent = len(server.seen)
        again = ask(server, *asked, log=Lines(str(tmp_path)), **settings)
        assert len(server.seen) == sent
    got = [one.outcome if isinstance(one, Failed) else "ok" for one in found]
    assert got == sorted(got, reverse=True)  # nothing is sent after the first that was too much
    assert set(got) <= {"ok", "budget"}
    assert found == again
    assert abs(got.count("ok") - sent) == 0
    assert got.count("ok") == (expected(budget))


def expected(budget):
    """How many fit, one after another, when each may cost its bound before and 120 after."""
    from rayeval.chat.budget import prompt_tokens

    bound = prompt_tokens(request("0")) + 50
    tokens, n = 0, 0
    while n < 8:
        if "max_tokens" in budget and tokens + bound > budget["max_tokens"]:
            break
        if (
            "max_cost_usd" in budget
            and n * 300e-6 + (bound - 50 + 500) / 1e6 > budget["max_cost_usd"]
        ):
            break
        tokens, n = tokens + 120, n + 1
    return n


KILLED = """
import sys
from rayeval.chat import build
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Request
from rayeval.live.log import Lines
config = OpenAI(url=sys.argv[1], model="m", concurrency=4)
asked = [Request((("user", str(n)),), prompt="p") for n in range(40)]
build(config, Lines(sys.argv[2])).complete(asked)
"""


def test_after_a_kill_no_logged_request_is_sent_again(tmp_path):
    """DESIGN §9, law 8: at most the requests under way repeat."""
    with serving(
        lambda body: Fault(hang_s=0.02, body=json.dumps(completion("ok")).encode())
    ) as server:
        command = [sys.executable, "-c", KILLED, server.url, str(tmp_path)]
        first = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(Path.cwd())})
        deadline = time.monotonic() + 60
        while len(server.seen) < 24 and time.monotonic() < deadline:
            time.sleep(0.005)
        first.send_signal(signal.SIGKILL)
        first.wait()
        logged = sum(
            "answer" in json.loads(line)
            for p in tmp_path.glob("*.jsonl")
            for line in p.read_text().splitlines()
            if line.endswith("}")
        )
        sent = len(server.seen)
        assert logged >= sent - 4
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())})
        repeated = sum(n - 1 for n in server.counts.values())
        assert len(server.counts) == 40
        assert repeated == sent - logged <= 4
