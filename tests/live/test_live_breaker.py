"""When asking ends: an endpoint that is gone or refuses all is not asked about every row."""

import asyncio
import socket

import pyarrow as pa
import pytest
from live_services import arm, gold, serving

from rayeval.live import breaker as breakers
from rayeval.live import wire
from rayeval.live.breaker import REFUSED, UNAUTHORIZED, Breaker, StoppedError
from rayeval.live.log import Lines, Nothing
from rayeval.live.retry import AGAIN, UnavailableError
from rayeval.retrieve.foreign import search
from rayeval.retrieve.foreign.config import HttpArm
from rayeval.tables import TEXT, TEXTS

ASKED = pa.schema([("question_id", TEXT), ("question", TEXT), ("principals", TEXTS)])
GONE = None
"""Instead of a status: no connection."""


def rows(n):
    asked = "when do tokens expire"
    found = [{"question_id": f"q{i:03}", "question": f"{asked} {i}", "principals": []}
             for i in range(n)]  # fmt: skip
    return pa.Table.from_pylist(found, ASKED)


def told(breaker, statuses):
    """Puts a request after another; which of them were sent, and why the others were not."""

    async def all_of_them():
        breaker.begin()
        sent, reasons = 0, []
        for status in statuses:
            try:
                async with breaker.admitted():
                    sent += 1
                    breaker.answered() if status == 200 else breaker.refused(status, f"S {status}")
            except StoppedError as error:
                reasons.append(str(error))
        return sent, reasons

    return asyncio.run(all_of_them())


@pytest.fixture
def slept(monkeypatch):
    """Pauses are noted, not waited."""
    pauses, real = [], asyncio.sleep

    async def sleep(seconds):
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr(breakers.asyncio, "sleep", sleep)
    return pauses


@pytest.mark.parametrize(
    ("statuses", "sent"),
    [
        pytest.param([GONE] * 50, REFUSED, id="nobody there"),
        pytest.param([404] * 50, REFUSED, id="no such model"),
        pytest.param([503] * 50, REFUSED, id="a proxy without a server"),
        pytest.param([401] * 50, UNAUTHORIZED, id="no key"),
        pytest.param([403] * 50, UNAUTHORIZED, id="a key for something else"),
        pytest.param([400] * 50, 50, id="says something of each request"),
        pytest.param([500] * 50, 50, id="breaks at each"),
        pytest.param(([404] * (REFUSED - 1) + [200]) * 3, 3 * REFUSED, id="some in between"),
        pytest.param(([GONE] * (REFUSED - 1) + [400]) * 3, 3 * REFUSED, id="refuses in between"),
        pytest.param([200] + [403] * 50, 1 + REFUSED, id="a key that is no good for some"),
    ],
)
def test_it_ends_after_so_many_in_a_row_and_only_then(slept, statuses, sent):
    found, reasons = told(Breaker([]), statuses)
    assert found == sent
    assert len(reasons) == len(statuses) - sent
    assert slept == []


def test_it_says_how_many_were_refused_how_and_what_the_key_was_looked_up_as():
    _, (reason, *_) = told(Breaker(["B_KEY", "A_KEY"]), [401] * 5)
    assert reason == (
        "not asked: the endpoint refused 3 requests in a row: S 401; its headers hold A_KEY, B_KEY "
        "from the environment"
    )
    _, (reason, *_) = told(Breaker(["KEY"]), [GONE] * 21)
    assert reason == "not asked: the endpoint refused 20 requests in a row: S None"
    _, (reason, *_) = told(Breaker([]), [403] * 5)
    assert reason.endswith("S 403; its `headers` hold nothing from the environment")


def test_an_endpoint_that_answered_before_is_waited_for_by_one_request_at_a_time(slept):
    outage = [200] + [GONE] * (REFUSED + 2) + [200] + [200] * 9
    assert told(Breaker([]), outage) == (len(outage), [])
    assert slept == list(breakers.PAUSES_S)
    slept.clear()
    again = [200, *[GONE] * (REFUSED + 1), 200, *[GONE] * (REFUSED + 1), 200]
    assert told(Breaker([]), again) == (len(again), [])
    assert slept == [30, 60, 30, 60], "an endpoint that is back is waited for anew"


def test_one_that_does_not_come_back_is_given_up_after_the_last_pause(slept):
    found, reasons = told(Breaker([]), [200] + [GONE] * 100)
    assert found == 1 + REFUSED + len(breakers.PAUSES_S)
    assert len(reasons) == 101 - found
    assert len(slept) == len(breakers.PAUSES_S)


def test_only_one_request_is_out_while_it_is_doubted(slept):
    async def crowd():
        breaker, out, most = Breaker([]), 0, 0
        breaker.answered()
        for _ in range(REFUSED):
            breaker.refused(GONE, "gone")

        async def ask():
            nonlocal out, most
            async with breaker.admitted():
                out += 1
                most = max(most, out)
                await asyncio.sleep(0)
                breaker.refused(GONE, "gone")
                out -= 1

        return await asyncio.gather(*(ask() for _ in range(8)), return_exceptions=True), most

    found, most = asyncio.run(crowd())
    assert most == 1
    assert sum(isinstance(one, StoppedError) for one in found) == 8 - len(breakers.PAUSES_S)


def test_an_answer_that_is_late_or_garbled_is_neither_here_nor_there():
    breaker = Breaker([])
    for _ in range(2 * REFUSED):
        breaker.failed(UnavailableError("late", timed_out=True))
    assert told(breaker, [200])[0] == 1


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(wire, "pause", lambda state: 0.0)


def errors(settings, batch, log=None):
    table = search.build(HttpArm(**settings), log or Nothing())(batch)
    return [error for error in table["error"].to_pylist() if error is not None]


def test_a_search_service_that_is_gone_is_not_asked_about_every_question(quick):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        svc = {"kind": "http", "url": url, "body": "{question}", "concurrency": 4, "retries": 0}
        found = errors(svc, rows(100))
    assert len(found) == 100
    assert all(error.endswith(AGAIN) for error in found)
    assert sum("not asked: the endpoint refused 2" in error for error in found) >= 100 - REFUSED - 4


def test_a_key_that_is_refused_is_no_answer_to_keep(quick, tmp_path):
    good = gold({"body": {"q": "when do tokens expire"}})
    script = [(401, b"who are you", {})]
    with serving(lambda request: script[-1]) as server:
        found = errors(arm(server, concurrency=1), rows(10), Lines(str(tmp_path)))
        assert len(server.seen) == UNAUTHORIZED
        assert len(found) == 10
        assert all(error.endswith(AGAIN) for error in found)
        script.append(good)
        assert errors(arm(server), rows(10), Lines(str(tmp_path))) == []
        assert len(server.seen) == UNAUTHORIZED + 10


def test_a_question_that_the_service_does_not_know_keeps_nobody_from_asking_others(quick):
    with serving(lambda request: (404, b"no such question", {})) as server:
        assert len(errors(arm(server), rows(30))) == 30
        assert len(server.seen) == 30
