"""What no endpoint should answer, and what no log should hold: neither ends a run."""

import gzip
import json

import pytest
from faulty import Fault, completion, serving

from rayeval.chat import build
from rayeval.chat.config import Budget, OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.live import wire
from rayeval.live.log import Lines, Nothing

ASKED = Request((("user", "hello"),), prompt="p1")


def ask(server, log=None, **settings):
    config = OpenAI(url=server.url, model="m", retries=0, **settings)
    (found,) = build(config, log or Nothing(), "step").complete([ASKED])
    return found


@pytest.mark.parametrize("charset", ["hex", "zlib", "idna", "undefined", "no-such", "base64"])
@pytest.mark.parametrize("status", [200, 400, 503])
def test_a_page_in_an_encoding_that_is_none_of_text_is_a_failure_like_any_other(charset, status):
    headers = {"Content-Type": f"text/html; charset={charset}"}
    with serving(lambda body: Fault(status, "<b>점검</b>".encode(), headers)) as server:
        found = ask(server)
    assert isinstance(found, Failed)
    assert found.outcome == "failed"


def test_a_refusal_says_what_the_page_says_in_its_own_encoding():
    headers = {"Content-Type": "text/html; charset=euc-kr"}
    with serving(lambda body: Fault(400, "점검 중".encode("euc-kr"), headers)) as server:
        assert "HTTP 400: 점검 중" in ask(server).reason


@pytest.mark.parametrize("count", [10**30, 2**62, -1, 1.5, True, "7"])
def test_a_count_of_tokens_that_no_reply_has_is_unknown(tmp_path, count):
    told = {**completion("x"), "usage": {"prompt_tokens": count, "completion_tokens": 20}}
    with serving(lambda body: told) as server:
        found = ask(server, Lines(str(tmp_path)), tokens_per_minute=1e6)
        again = ask(server, Lines(str(tmp_path)))
    assert isinstance(found, Reply)
    assert (found.prompt_tokens, found.completion_tokens) == (None, 20)
    assert again == found


def test_half_a_character_in_a_refusal_or_a_reason_is_text_that_a_table_can_hold():
    said = [completion(None, refusal="no \ud800"), completion("x", finish_reason="st\ud800op")]
    bodies = iter(json.dumps(one).encode() for one in said)
    with serving(lambda body: Fault(body=next(bodies))) as server:
        refused, stopped = ask(server), ask(server)
    assert (refused.outcome, refused.reason) == ("refused", "no ?")
    assert (stopped.text, stopped.finish_reason) == ("x", "st?op")


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_does_not_fill_the_memory(monkeypatch, packed):
    monkeypatch.setattr(wire, "MOST_BYTES", 1 << 20)
    data = json.dumps(completion("x" * (2 << 20))).encode()
    fault = Fault(body=data)
    if packed:
        fault = Fault(body=gzip.compress(data), headers={"Content-Encoding": "gzip"})
    with serving(lambda body: fault) as server:
        found = ask(server)
    assert isinstance(found, Failed)
    assert "an answer of over 1 MiB" in found.reason


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        "text",
        {"response": "", "latency_ms": 1.0},
        {"response": None, "latency_ms": 1.0},
        {"response": "<html>", "latency_ms": 1.0},
        {"response": json.dumps(completion("x"))},
        {"response": json.dumps(completion("x")), "latency_ms": "soon"},
        {"response": json.dumps(completion("x")), "latency_ms": float("nan")},
    ],
)
def test_what_the_log_has_and_nobody_can_read_is_asked_for_again(tmp_path, damaged):
    with serving(lambda body: "whole") as server:
        first = ask(server, Lines(str(tmp_path)))
        [path] = tmp_path.iterdir()
        path.write_text(json.dumps({"request": first.request, "answer": damaged}) + "\n")
        assert ask(server, Lines(str(tmp_path)), budget=Budget(max_tokens=10**6)).text == "whole"
    assert len(server.seen) == 2


@pytest.mark.parametrize("name", ["0.jsonl", "z.jsonl"])
def test_a_damaged_line_does_not_hide_a_whole_one(tmp_path, name):
    with serving(lambda body: "whole") as server:
        first = ask(server, Lines(str(tmp_path)))
        line = json.dumps({"request": first.request, "answer": 1}).encode()
        (tmp_path / name).write_bytes(line[:-1] + b"\0" * 9 + b"\n")
        assert ask(server, Lines(str(tmp_path))).text == "whole"
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "null",
        "[]",
        "[" * 100_000,
        '{"scope": "step"}',
        '{"note": "paid", "scope": "step"}',
        '{"note": "paid", "scope": "step", "of": "x", "prompt": "1", "completion": null}',
        '{"note": "closed", "scope": "step"}',
    ],
)
def test_a_damaged_note_costs_only_itself(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with serving(lambda body: "ok") as server:
        found = ask(server, Lines(str(tmp_path)), budget=Budget(max_tokens=10**6))
    assert found.text == "ok"


def test_a_pause_until_a_date_that_is_none_is_no_pause():
    header = {"Retry-After": "Wed, 21 Oct 2015 07:28:00 +999999999999999999999"}
    with serving(lambda body: Fault(503, b"down", header)) as server:
        assert "HTTP 503: down" in ask(server).reason
