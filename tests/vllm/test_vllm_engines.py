"""Both engines over a real model: what every one of them must do (the model itself is weak)."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from serving import MODEL, TOKENS, finished

from rayeval import chat
from rayeval.chat import running
from rayeval.chat.config import Budget, OpenAI, Prices, Vllm
from rayeval.chat.engine import Engine, Failed, Reply, Request
from rayeval.chat.structured import Bad, parse
from rayeval.live.log import Lines

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("default")]

VERDICTS = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer", "minimum": 1, "maximum": 2},
                    "verdict": {"enum": ["supported", "contradicted", "not_in_context"]},
                },
                "required": ["number", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}
ENGLISH = "[E1] The office is closed on Sundays. Claims: 1. It is closed on Sundays. 2. It is blue."
KOREAN = "[E1] 서울은 대한민국의 수도이다. 주장: 1. 수도는 서울이다. 2. 서울은 바다에 있다."

Build = Callable[..., Engine]


def request(text: str, *, schema: object = VERDICTS, repeat: int = 0) -> Request:
    messages = (("system", "Judge each claim by the evidence. JSON only."), ("user", text))
    return Request(messages, "prompt-1", schema, repeat)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["openai", "vllm"])
def kind(request: pytest.FixtureRequest):
    yield request.param
    running.end()


@pytest.fixture
def build(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Build:
    """A new engine over the test's log, as a new run has it."""

    def made(**settings: object) -> Engine:
        log = Lines(str(tmp_path / "log"))
        settings = {"max_completion_tokens": 64, **settings}
        if kind == "openai":
            url = f"{request.getfixturevalue('server')}/v1"
            return chat.build(OpenAI(url=url, model=MODEL, deadline_s=120, **settings), log)
        model = str(request.getfixturevalue("model"))
        return chat.build(
            Vllm(model=model, max_model_len=TOKENS, enforce_eager=True, **settings), log
        )

    return made


def records(folder: Path) -> list[dict]:
    lines = "".join(path.read_text() for path in sorted(folder.glob("*.jsonl"))).splitlines()
    return [row for row in map(json.loads, lines) if "answer" in row]


@pytest.mark.parametrize(
    "text", [pytest.param(ENGLISH, id="English"), pytest.param(KOREAN, id="Korean")]
)
def test_a_structured_reply_follows_its_schema(build: Build, text: str):
    [reply] = build().complete([request(text)])
    assert isinstance(reply, Reply), reply
    assert reply.finish_reason == "stop"
    value = parse(reply, VERDICTS)
    assert not isinstance(value, Bad), value
    assert len(value["verdicts"]) == 2
    assert 0 < reply.completion_tokens <= 64
    assert reply.prompt_tokens > 20
    assert reply.latency_ms > 0


@pytest.fixture
def served(kind: str, request: pytest.FixtureRequest) -> Callable[[], float]:
    """How many requests the server has finished; none for the engine in this process."""
    return (lambda: 0.0) if kind == "vllm" else partial(finished, request.getfixturevalue("server"))


def test_what_was_logged_is_not_asked_again(build: Build, kind: str, tmp_path: Path, served):
    asked = [request(ENGLISH), request(KOREAN), request(ENGLISH, repeat=1), request(ENGLISH)]
    before = served()
    first = build().complete(asked)
    assert served() - before == (3 if kind == "openai" else 0)
    assert first[0] == first[3] and first[0].request != first[2].request
    kept = records(tmp_path / "log")
    assert len(kept) == 3
    assert all(row["answer"]["response"] and row["answer"]["prompt_tokens"] for row in kept)
    running.end()
    assert build().complete(asked) == first
    assert served() - before == (3 if kind == "openai" else 0)
    assert running._running == []  # nor was a model loaded for it


def test_a_request_that_is_too_long_fails_alone(build: Build):
    first, long, last = build().complete(
        [request(ENGLISH), request("word " * 9000), request(KOREAN)]
    )
    assert isinstance(first, Reply) and isinstance(last, Reply)
    assert isinstance(long, Failed) and long.outcome == "failed"
    assert str(TOKENS) in long.reason


def test_a_reply_at_its_limit_is_truncated_not_unparseable(build: Build):
    [reply] = build(max_completion_tokens=4).complete([request(ENGLISH)])
    assert (reply.finish_reason, reply.completion_tokens) == ("length", 4)
    bad = parse(reply, VERDICTS)
    assert isinstance(bad, Bad) and bad.outcome == "truncated"


def test_a_seed_makes_repeats_differ_and_a_repeat_is_its_own(build: Build):
    story = [request("Name an animal.", schema=None, repeat=n) for n in range(4)]
    replies = build(temperature=1.0).complete(story)
    assert len({reply.text for reply in replies}) > 1
    assert len({reply.request for reply in replies}) == 4


def test_the_budget_stops_before_it_is_passed(build: Build):
    prices = Prices(input_per_million=1, output_per_million=1)
    asked = [request(f"{n} {ENGLISH}") for n in range(8)]
    replies = build(prices=prices, budget=Budget(max_tokens=500)).complete(asked)
    done = [reply for reply in replies if isinstance(reply, Reply)]
    left = [reply for reply in replies if isinstance(reply, Failed)]
    assert done and left and replies[: len(done)] == done
    assert {reply.outcome for reply in left} == {"budget"}
    tokens = sum(reply.prompt_tokens + reply.completion_tokens for reply in done)
    assert tokens <= 500
    assert sum(reply.cost_usd for reply in done) == pytest.approx(tokens / 1e6)
