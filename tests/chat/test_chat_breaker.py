"""An endpoint that is gone or refuses all: asking ends, rows say so, the next run asks again."""

import socket

import pytest
from faulty import Fault, serving

from rayeval.chat import build
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.live import breaker as breakers
from rayeval.live import wire
from rayeval.live.breaker import REFUSED, UNAUTHORIZED
from rayeval.live.log import Lines, Nothing
from rayeval.live.retry import AGAIN

AT_ONCE = 4


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(wire, "pause", lambda state: 0.0)
    monkeypatch.setattr(breakers, "PAUSES_S", (0.01, 0.02, 0.04))


def requests(n, start=0):
    return [Request((("user", str(i)),), prompt="p") for i in range(start, start + n)]


def engine(url, log=None, **settings):
    settings = {"concurrency": AT_ONCE, "deadline_s": 5, "retries": 2, **settings}
    return build(OpenAI(url=url, model="m", **settings), log or Nothing(), "answers")


def not_asked(found):
    return [one.reason for one in found if isinstance(one, Failed) and "not asked" in one.reason]


@pytest.mark.parametrize(
    ("status", "most"),
    [
        pytest.param(404, REFUSED, id="no such model"),
        pytest.param(401, UNAUTHORIZED, id="no key"),
    ],
)
def test_what_is_refused_each_time_is_not_sent_for_every_row(monkeypatch, status, most):
    monkeypatch.setenv("CHAT_KEY", "s3cret-key")
    headers = {"Authorization": "Bearer ${CHAT_KEY}"}
    with serving(lambda body: Fault(status, b"no s3cret-key")) as server:
        model = engine(server.url, headers=headers)
        found = model.complete(requests(100))
        assert most <= len(server.seen) <= most + AT_ONCE - 1
        later = model.complete(requests(50, start=100))
        assert len(not_asked(later)) == 50, "later partitions of the step aren't asked either"
    assert len(not_asked(found)) == 100 - len(server.seen)
    reason = not_asked(found)[0]
    assert reason.startswith(f"{server.url}: not asked: the endpoint refused ")
    assert f"HTTP {status}: no [CHAT_KEY]" in reason
    assert ("CHAT_KEY from the environment" in reason) == (status == 401)
    assert all(isinstance(one, Failed) and one.reason.endswith(AGAIN) for one in found + later)


def test_where_nobody_listens_tries_end_too():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = engine(f"http://127.0.0.1:{free.getsockname()[1]}/v1").complete(requests(60))
    assert len(not_asked(found)) >= 60 - REFUSED - AT_ONCE
    assert {one.outcome for one in found} == {"failed"}


def test_an_outage_in_the_middle_costs_its_own_requests_only():
    """Twenty fail, each after its tries; then the endpoint is asked by one, until it is back."""
    script = iter(["ok"] * 10 + [Fault(503, b"restarting")] * 3 * (REFUSED + 1) + ["ok"] * 200)
    with serving(lambda body: next(script)) as server:
        found = engine(server.url, concurrency=1).complete(requests(100))
    replies = [isinstance(one, Reply) for one in found]
    assert replies == [True] * 10 + [False] * (REFUSED + 1) + [True] * (100 - 31)
    assert not_asked(found) == []


def test_what_is_not_asked_costs_nothing_and_closes_no_budget(tmp_path):
    budget = {"budget": {"max_tokens": 100_000}, "max_completion_tokens": 100}
    script = [Fault(404, b"loading")]
    with serving(lambda body: script[-1]) as server:
        first = engine(server.url, Lines(str(tmp_path)), **budget).complete(requests(60))
        script.append("ok")
        second = engine(server.url, Lines(str(tmp_path)), **budget).complete(requests(60))
    assert len(not_asked(first)) > 30
    assert all(isinstance(one, Reply) for one in second)
