"""What is paid for once and counted: the log of replies, and the budget over it."""

import json

import pytest
from faulty import Fault, completion, serving

from rayeval.chat import build
from rayeval.chat.budget import prompt_tokens
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Request
from rayeval.errors import ConfigError, InfrastructureError
from rayeval.live import log as logs
from rayeval.live.log import Lines, Nothing
from rayeval.live.retry import AGAIN

COST = 120
"""Tokens that the server says every reply had."""


def request(text="hello"):
    return Request((("user", text),), prompt="p1")


def ask(server, *requests, log=None, scope="answer", **settings):
    settings = {
        "model": "m",
        "deadline_s": 5,
        "retries": 0,
        "max_completion_tokens": 200,
        **settings,
    }
    return build(OpenAI(url=server.url, **settings), log or Nothing(), scope).complete(requests)


def outcomes(found):
    return [one.outcome if isinstance(one, Failed) else "ok" for one in found]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        pytest.param(completion(None, refusal="no"), "refused", id="a refusal"),
        pytest.param(completion(None, finish_reason="content_filter"), "refused", id="a filter"),
        pytest.param(completion(None, finish_reason="length"), "ok", id="all tokens went to thinking"),
    ],
)  # fmt: skip
def test_whole_completions_are_paid_once_whatever_they_say(tmp_path, reply, outcome):
    with serving(lambda body: reply) as server:
        for _ in range(2):
            (found,) = ask(server, request(), log=Lines(str(tmp_path)), retries=3)
            assert outcomes([found]) == [outcome]
            assert outcome == "refused" or (found.text, found.finish_reason) == ("", "length")
        assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 422, 503])
def test_a_failure_is_never_kept_as_a_reply(tmp_path, status):
    script = iter([Fault(status, b"no"), "yes"])
    with serving(lambda body: next(script)) as server:
        (first,) = ask(server, request(), log=Lines(str(tmp_path)))
        (second,) = ask(server, request(), log=Lines(str(tmp_path)))
    assert first.outcome == "failed"
    assert first.reason.endswith(AGAIN)
    assert second.text == "yes"


def test_a_key_that_the_endpoint_repeats_is_not_in_the_log_and_a_word_is_no_secret(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("KEY", "sk-long-enough")
    monkeypatch.setenv("USER_NAME", "test")
    headers = {"Authorization": "Bearer ${KEY}", "X-User": "${USER_NAME}"}
    with serving(lambda body: completion("a test of sk-long-enough")) as server:
        (found,) = ask(server, request(), log=Lines(str(tmp_path)), headers=headers)
    assert found.text == "a test of [KEY]"
    assert all(b"sk-long-enough" not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("value", ["two\nlines", "비밀"])
def test_what_no_header_can_hold_is_said_before_anything_is_sent(monkeypatch, value):
    monkeypatch.setenv("KEY", value)
    config = OpenAI(url="http://127.0.0.1:1", model="m", headers={"X-Key": "${KEY}"})
    with pytest.raises(ConfigError, match="KEY in the environment has characters") as caught:
        build(config, Nothing())
    assert value not in str(caught.value)


@pytest.mark.parametrize("url", ["http://h/v1?key=1", "http://u:p@h/v1", "ftp://h", "h:8000/v1"])
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url):
    with pytest.raises(ValueError, match="url"):
        OpenAI(url=url, model="m")


def test_a_slash_at_the_end_of_the_address_makes_no_other_endpoint(tmp_path):
    with serving(lambda body: "ok") as server:
        for url in (server.url, f"{server.url}/"):
            build(OpenAI(url=url, model="m"), Lines(str(tmp_path))).complete([request()])
        assert [sent["path"] for sent in server.seen] == ["/v1/chat/completions"]


def test_a_log_that_can_not_be_written_ends_the_run_with_its_own_error():
    class Full(Nothing):
        def put(self, digest, answer):
            raise InfrastructureError("no space left")

    with (
        serving(lambda body: "ok") as server,
        pytest.raises(InfrastructureError, match="no space left"),
    ):
        ask(server, *[request(str(n)) for n in range(9)], log=Full(), concurrency=2)


def test_opening_a_log_reads_no_answer_and_a_damaged_line_costs_only_itself(tmp_path, monkeypatch):
    first = Lines(str(tmp_path))
    for n in range(100):
        first.put(f"{n:032x}", {"n": n})
        first.note({"note": "failed", "of": f"{n:032x}"})
    [path] = tmp_path.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[10] = lines[10][:20]  # a full disk, and then another line
    path.write_bytes(b"".join(lines))
    read, real = [], json.loads
    monkeypatch.setattr(logs.json, "loads", lambda text: read.append(text) or real(text))
    log = Lines(str(tmp_path))
    assert read == []
    known = [log.get(f"{n:032x}") for n in range(100)]
    assert [n for n, answer in enumerate(known) if answer != {"n": n}] == [5]
    assert len(list(log.notes())) == 99


def script(body):
    return completion("ok", finish_reason="stop")


def bound(text):
    return prompt_tokens(request(text)) + 200


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_first_request_that_is_too_much_is_the_end_of_it(tmp_path, concurrency):
    """Later ones would fit, of this call or another, of this process or the next."""
    settings = {"budget": {"max_tokens": 2 * COST + bound("0")}, "concurrency": concurrency}
    big = request("x" * 2000)
    with serving(script) as server:
        log = Lines(str(tmp_path))
        config = OpenAI(url=server.url, model="m", max_completion_tokens=200, **settings)
        engine = build(config, log, "answer")
        found = engine.complete([request("0"), big, request("1"), request("0")])
        assert outcomes(found) == ["ok", "budget", "budget", "ok"]
        assert outcomes(engine.complete([request("2")])) == ["budget"]
        later = ask(server, request("2"), request("0"), log=Lines(str(tmp_path)), **settings)
        assert outcomes(later) == ["budget", "ok"]
        assert len(server.seen) == 1
        more = {**settings, "budget": {"max_tokens": 10_000}}
        again = ask(server, big, request("1"), request("2"), log=Lines(str(tmp_path)), **more)
        assert outcomes(again) == ["ok"] * 3


def test_what_was_paid_before_a_kill_counts_whether_or_not_it_is_asked_for_again(tmp_path):
    """Its partition is finished, so nobody puts those requests again."""
    settings = {"budget": {"max_tokens": 2 * COST + bound("0") - 1}, "max_completion_tokens": 200}
    with serving(script) as server:
        first = ask(server, request("0"), request("1"), log=Lines(str(tmp_path)), **settings)
        second = ask(server, request("2"), log=Lines(str(tmp_path)), **settings)
        other = ask(server, request("2"), log=Lines(str(tmp_path)), scope="judge", **settings)
    assert outcomes(first + second + other) == ["ok", "ok", "budget", "ok"]


def test_a_reply_without_counts_costs_what_it_may_have_cost(tmp_path):
    silent = {key: value for key, value in completion("ok").items() if key != "usage"}
    settings = {"budget": {"max_tokens": 2 * bound("0")}, "concurrency": 3}
    with serving(lambda body: silent) as server:
        found = ask(server, *map(request, "012"), log=Lines(str(tmp_path)), **settings)
    assert outcomes(found) == ["ok", "ok", "budget"]
    assert (found[0].prompt_tokens, found[0].cost_usd) == (None, None)


def test_what_failed_gives_its_share_of_the_budget_back():
    replies = iter([Fault(400, b"no"), "ok"])
    with serving(lambda body: next(replies)) as server:
        found = ask(server, request("0"), request("1"), budget={"max_tokens": bound("0")})
    assert outcomes(found) == ["failed", "ok"]
