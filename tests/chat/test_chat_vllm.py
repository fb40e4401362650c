"""What vLLM is given, and what is made of what it gives: vLLM itself is a stand-in here.

`make test-vllm` runs the same engine over the real one.
"""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from rayeval import chat
from rayeval.chat import running
from rayeval.chat.config import Budget, Prices, Vllm
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.errors import InfrastructureError, MissingExtraError, ModelError
from rayeval.live.log import Lines


class EngineDeadError(Exception):
    pass


class VLLMClientError(Exception):
    pass


class Engine:
    """Says how many of its requests were in the batch; refuses `long`, dies of `dead`."""

    started: ClassVar[list[dict[str, Any]]] = []
    batches: ClassVar[list[list[tuple[str, SimpleNamespace]]]] = []
    ended = 0
    finish = "stop"

    def __init__(self, **settings: Any) -> None:
        if settings["dtype"] == "wrong":
            raise ValueError("no such dtype")
        if settings["dtype"] == "huge":
            raise RuntimeError("engine core initialization failed.")
        self.started.append(settings)
        self.llm_engine = SimpleNamespace(engine_core=SimpleNamespace(shutdown=self.shutdown))

    def shutdown(self) -> None:
        type(self).ended += 1

    def chat(self, messages: list, sampling: list, *, use_tqdm: bool) -> list:
        texts = [one[-1]["content"] for one in messages]
        if "long" in texts:
            raise VLLMClientError("too long")
        if "dead" in texts:
            raise EngineDeadError("gone")
        self.batches.append(list(zip(texts, sampling, strict=True)))
        return [self.said(text) for text in texts]

    def said(self, text: str) -> SimpleNamespace:
        one = SimpleNamespace(text=f"re: {text}", finish_reason=self.finish, token_ids=[1, 2, 3])
        times = SimpleNamespace(queued_ts=10.0, last_token_ts=10.25)
        return SimpleNamespace(outputs=[one], prompt_token_ids=[0] * 7, metrics=times)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model's folder, with vLLM a stand-in."""
    module = ModuleType("vllm")
    module.LLM = Engine
    params = SimpleNamespace(
        SamplingParams=SimpleNamespace, StructuredOutputsParams=SimpleNamespace
    )
    parts = {
        "exceptions": SimpleNamespace(VLLMClientError=VLLMClientError),
        "sampling_params": params,
    }
    dead = SimpleNamespace(exceptions=SimpleNamespace(EngineDeadError=EngineDeadError))
    parts["v1"] = SimpleNamespace(engine=dead)
    for name, part in parts.items():
        setattr(module, name, part)
    names = ("vllm", "vllm.exceptions", "vllm.sampling_params", "vllm.v1", "vllm.v1.engine")
    for name in (*names, "vllm.v1.engine.exceptions"):
        monkeypatch.setitem(sys.modules, name, module)
    for name in running.SETTINGS:
        monkeypatch.setenv(name, "as it was")
    monkeypatch.setattr(Engine, "started", [])
    monkeypatch.setattr(Engine, "batches", [])
    monkeypatch.setattr(Engine, "ended", 0)
    monkeypatch.setattr(running, "_running", [])
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return tmp_path / "model"


@pytest.fixture
def build(model, tmp_path):
    def made(**settings: Any):
        return chat.build(Vllm(model=str(model), **settings), Lines(str(tmp_path / "log")))

    return made


def ask(text: str, *, repeat: int = 0, schema: Any = None) -> Request:
    return Request((("system", "s"), ("user", text)), "prompt-1", schema, repeat)


def test_a_call_is_one_batch_with_each_request_s_own_parameters(build):
    schema = {"type": "object"}
    engine = build(temperature=0.5, top_p=0.9, seed=7, max_completion_tokens=11)
    replies = engine.complete([ask("a"), ask("b", schema=schema), ask("a", repeat=2), ask("a")])
    [batch] = Engine.batches
    assert [text for text, _ in batch] == ["a", "b", "a"]
    plain, structured, again = (one for _, one in batch)
    assert (plain.temperature, plain.top_p, plain.seed, plain.max_tokens) == (0.5, 0.9, 7, 11)
    assert plain.structured_outputs is None and structured.structured_outputs.json == schema
    assert again.seed == 9
    assert replies[0] == replies[3]
    first = replies[0]
    assert (first.text, first.finish_reason, first.latency_ms) == ("re: a", "stop", 250.0)
    assert (first.prompt_tokens, first.completion_tokens, first.cost_usd) == (7, 3, None)


def test_no_seed_is_none(build):
    build(seed=None).complete([ask("a", repeat=3)])
    assert Engine.batches[0][0][1].seed is None


def test_what_is_logged_needs_no_model(build):
    first = build().complete([ask("a"), ask("b")])
    running.end()
    assert build().complete([ask("b"), ask("a")]) == first[::-1]
    assert (len(Engine.started), len(Engine.batches)) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"temperature": 0.1}, id="temperature"),
        pytest.param({"seed": 1}, id="seed"),
        pytest.param({"revision": "2"}, id="revision"),
        pytest.param({"dtype": "float32"}, id="dtype"),
        pytest.param({"max_completion_tokens": 9}, id="length"),
    ],
)
def test_what_decides_a_reply_asks_anew(build, change):
    build().complete([ask("a")])
    build(**change).complete([ask("a")])
    assert len(Engine.batches) == 2


def test_other_weights_in_the_same_folder_are_another_model(build, model):
    build().complete([ask("a")])
    (model / "config.json").write_text('{"other": 1}')
    build().complete([ask("a")])
    assert len(Engine.batches) == 2


def test_a_refused_request_fails_alone(build):
    found = build().complete([ask("a"), ask("b"), ask("long"), ask("c")])
    assert [type(one) for one in found] == [Reply, Reply, Failed, Reply]
    assert found[2].outcome == "failed" and "too long" in found[2].reason
    build().complete([ask("long")])  # nor is the failure kept as an answer
    assert isinstance(build().complete([ask("long")])[0], Failed)


def test_a_reply_that_was_broken_off_is_none(build, monkeypatch):
    monkeypatch.setattr(Engine, "finish", "abort")
    [found] = build().complete([ask("a")])
    assert isinstance(found, Failed) and found.reason.endswith("the next run asks again")
    monkeypatch.setattr(Engine, "finish", "length")
    [found] = build().complete([ask("a")])
    assert found.finish_reason == "length"


def test_a_dead_engine_is_the_machine_s_fault_and_is_not_used_again(build):
    engine = build()
    with pytest.raises(InfrastructureError, match="died: gone"):
        engine.complete([ask("dead")])
    assert Engine.ended == 1
    engine.complete([ask("a")])
    assert len(Engine.started) == 2


def test_steps_of_one_model_share_an_engine_and_another_model_takes_its_place(build):
    build(temperature=0.0).complete([ask("a")])
    build(temperature=1.0).complete([ask("a")])
    assert (len(Engine.started), Engine.ended) == (1, 0)
    build(max_model_len=99).complete([ask("a")])
    assert (len(Engine.started), Engine.ended) == (2, 1)


def test_the_budget_lets_in_what_fits_by_what_was_really_used(build):
    prices = Prices(input_per_million=1_000_000, output_per_million=2_000_000)
    # A request may take 25 (its prompt, estimated) + 10 tokens, and then has 7 + 3.
    engine = build(prices=prices, budget=Budget(max_tokens=60), max_completion_tokens=10)
    found = engine.complete([ask(str(n)) for n in range(5)])
    assert [type(one) for one in found] == [Reply, Reply, Reply, Failed, Failed]
    assert {one.outcome for one in found[3:]} == {"budget"}
    assert found[0].cost_usd == 7 + 2 * 3


@pytest.mark.parametrize(
    ("dtype", "error", "says"),
    [
        pytest.param("wrong", ModelError, "no such dtype", id="a wrong setting"),
        pytest.param(
            "huge", InfrastructureError, "placement.gpus", id="an engine that can't start"
        ),
    ],
)
def test_why_a_model_is_not_there(build, dtype, error, says):
    with pytest.raises(error, match=says):
        build(dtype=dtype).complete([ask("a")])


def test_a_model_that_is_no_folder(model, tmp_path):
    with pytest.raises(ModelError, match="nowhere"):
        chat.build(Vllm(model="nowhere"), Lines(str(tmp_path / "log")))


def test_without_vllm_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rayeval\[vllm\]'"):
        chat.build(Vllm(model=str(tmp_path)), Lines(str(tmp_path / "log")))
