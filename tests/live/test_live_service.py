"""Asking a service: what an answer means, what is tried again, and the limits that hold."""

import asyncio
import socket
import threading
import time

import pyarrow as pa
import pytest
from live_services import BODY, QUESTIONS, answered, arm, gold, serving

from rayeval.live import retry, turns, wire
from rayeval.live.log import Nothing
from rayeval.retrieve.foreign import search
from rayeval.retrieve.foreign.config import HttpArm
from rayeval.tables import TEXT, TEXTS

ASKED = pa.schema([("question_id", TEXT), ("question", TEXT), ("principals", TEXTS)])
BATCH = pa.Table.from_pylist([{"principals": [], **row} for row in QUESTIONS], ASKED)


def ask(settings, batch=BATCH):
    """question_id → its hits' texts, or the error."""
    table = search.build(HttpArm(**settings), Nothing())(batch)
    return {
        row["question_id"]: row["error"] or [hit["text"] for hit in row["found"]]
        for row in table.to_pylist()
    }


def failed(found):
    return {name: error for name, error in found.items() if isinstance(error, str)}


@pytest.fixture
def pauses(monkeypatch):
    """Waits are noted, not waited."""
    waited = []
    real = retry.pause
    monkeypatch.setattr(wire, "pause", lambda state: waited.append(real(state)) or 0.0)
    return waited


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param((404, b"no index", {}), "HTTP 404: no index", id="404"),
        pytest.param((400, {"error": "too long"}, {}), 'HTTP 400: {"error": "too long"}', id="400"),
        pytest.param((302, b"", {"Location": "http://127.0.0.1:9/"}), "HTTP 302", id="elsewhere"),
        pytest.param((200, {"items": []}, {}), "the answer has nothing at 'r.items'", id="no list"),
        pytest.param((200, {"r": {"items": {}}}, {}), "has a dict at 'r.items'", id="no list there"),
        pytest.param((200, {"r": {"items": [{"x": 1}]}}, {}), "hit 1 says nothing", id="no fields"),
        pytest.param(
            (200, b'{"r": {"items": [{"t": "a", "s": NaN}]}}', {}), "score nan; expected a finite", id="NaN"
        ),
        pytest.param(
            (200, {"r": {"items": [{"id": 1}, {"id": "1"}]}}, {}), "same chunk_id '1'", id="an id twice"
        ),
        pytest.param(
            (200, {"r": {"items": [{"t": "a", "s": 1}, {"t": "b", "s": 2}]}}, {}),
            "hit 2 has the score 2, more than", id="scores against the order",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_good_is_the_rows_error(pauses, answer, message):
    """Never an empty list, and no other row's."""

    def mixed(request):
        return answer if request["body"]["q"].startswith("when") else gold(request)

    with serving(mixed) as server:
        found = ask(arm(server))
    assert list(failed(found)) == ["q-vpn"]
    assert message in found["q-vpn"]
    assert pauses == []
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("failures", "waits"),
    [
        pytest.param([(429, b"", {"Retry-After": "7"})], [7.0], id="waits as long as it is told"),
        pytest.param([(503, b"", {}), (500, b"", {})], [0.5, 1.0], id="waits longer each time"),
        pytest.param([(200, b"<html>", {})], [0.5], id="no JSON"),
        pytest.param([1.5], [0.5], id="no answer in time"),
    ],
)
def test_what_may_pass_is_tried_again(pauses, monkeypatch, failures, waits):
    script = list(failures)
    monkeypatch.setattr(turns.Turns, "hold", lambda self, seconds: None)

    def answer(request):
        step = script.pop(0) if script else gold
        if isinstance(step, float):
            time.sleep(step)
            step = gold
        return step(request) if callable(step) else step

    with serving(answer) as server:
        late = any(isinstance(step, float) for step in failures)
        found = ask(arm(server, deadline_s=1 if late else 30, concurrency=1))
    assert failed(found) == {}
    assert pauses == waits
    assert len(server.seen) == 3 + len(failures)


@pytest.mark.parametrize(
    ("answer", "deadline_s", "message"),
    [
        pytest.param(lambda _: (503, b"down", {}), 30, "HTTP 503: down", id="still down"),
        pytest.param(lambda _: (200, b"[" * 100_000, {}), 30, "isn't JSON", id="nested without end"),
        pytest.param(lambda _: time.sleep(1.6) or (200, {}, {}), 1, "no whole answer within 1 s", id="hangs"),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_the_rows_error(pauses, answer, deadline_s, message):
    def mixed(request):
        return answer(request) if request["body"]["q"].startswith("when") else gold(request)

    with serving(mixed) as server:
        found = ask(arm(server, deadline_s=deadline_s, retries=1))
    assert list(failed(found)) == ["q-vpn"]
    assert message in found["q-vpn"]
    assert len(server.seen) == 2 + 2


def test_a_server_that_drips_does_not_hold_the_run(pauses):
    """Bytes keep coming, so no wait for one is long; the whole answer never is there."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip():
        while not over.is_set():
            peer, _ = listener.accept()
            with peer:
                try:
                    peer.recv(65536)
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                    while not over.wait(0.02):
                        peer.sendall(b" ")
                except OSError:
                    continue

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    svc = {
        "kind": "http",
        "url": url,
        "body": BODY,
        "deadline_s": 0.2,
        "retries": 0,
        "concurrency": 1,
    }
    found = ask(svc)
    over.set()
    listener.close()
    assert set(failed(found)) == {"q-it", "q-leave", "q-vpn"}
    assert "no whole answer within 0.2 s" in found["q-it"]


def test_no_more_requests_at_once_than_allowed():
    def slow(request):
        time.sleep(0.02)
        return gold(request)

    rows = [{"question_id": f"q{n}", "question": f"q {n}", "principals": []} for n in range(12)]
    with serving(lambda request: slow({"body": {"q": "when do tokens expire"}})) as server:
        found = ask(arm(server, concurrency=3), pa.Table.from_pylist(rows, ASKED))
    assert failed(found) == {}
    assert server.most <= 3


def elapsed_s(taking, *, waiting=1, hold_s=0.0):
    """How long the last of `waiting` waits for its turn; a pause begins when all stand in line."""

    async def all_of_them():
        taking.begin()
        tasks = [asyncio.create_task(taking.next()) for _ in range(waiting)]
        await asyncio.sleep(0.01)
        taking.hold(hold_s)
        await asyncio.gather(*tasks)

    start = time.monotonic()
    asyncio.run(all_of_them())
    return time.monotonic() - start


def test_requests_begin_at_the_given_rate():
    taking = turns.Turns(1 / 0.05)
    assert elapsed_s(taking, waiting=4) >= 3 * 0.05
    assert elapsed_s(taking) >= 0.05  # another event loop, the same limit


def test_a_pause_holds_those_too_who_stand_in_line():
    assert elapsed_s(turns.Turns(1 / 0.05), waiting=2, hold_s=0.3) >= 0.3
    assert elapsed_s(turns.Turns(None), hold_s=0.0) < 10


def test_a_pause_too_long_to_wait_for_fails_all_at_once():
    taking = turns.Turns(None)
    taking.hold(86_400)
    with pytest.raises(retry.UnavailableError, match="no request for over 600 s") as caught:
        asyncio.run(taking.next())
    assert not retry.may_pass(caught.value)


def test_a_notebook_has_an_event_loop_already():
    async def cell(server):
        return ask(arm(server))

    with serving(gold) as server:
        assert failed(asyncio.run(cell(server))) == {}


def test_equal_requests_are_sent_once():
    twice = pa.concat_tables([BATCH, BATCH])
    with serving(answered({"t": "x"})) as server:
        assert ask(arm(server), twice) == {f"q-{n}": ["x"] for n in ("it", "leave", "vpn")}
    assert len(server.seen) == 3


def test_items_without_a_mapping_are_texts_or_our_own_fields():
    items = ["a", {"text": "b", "source_id": "d", "title": "not ours"}]
    with serving(answered(*items)) as server:
        assert ask(arm(server, fields={})) == {f"q-{n}": ["a", "b"] for n in ("it", "leave", "vpn")}


def test_get_and_a_body_of_text():
    with serving(answered("VPN tokens expire after 90 days.")) as server:
        url = f"{server.url}?q={{question}}&k={{depth}}&who={{principals}}"
        svc = {"kind": "http", "method": "GET", "url": url, "hits": "r.items", "depth": 3}
        ask(svc)
        body = '{"query": {question}, "text": "ask: {question}", "size": {depth}}'
        ask({**svc, "url": server.url, "method": "POST", "body": body})
    paths = [r["path"] for r in server.seen if r["body"] is None]
    assert (
        "/search?q=%EC%9E%A5%EB%B9%84%EB%8A%94%20%22%EB%A9%B0%EC%B9%A0%22%3F&k=3&who=hr%2Cit"
        in paths
    )
    bodies = [r["body"] for r in server.seen if r["body"] is not None]
    korean = '장비는 "며칠"?'
    assert {"query": korean, "text": f"ask: {korean}", "size": 3} in bodies
