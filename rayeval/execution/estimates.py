"""What the requests of a run may come to, before any is sent.

`requests_least` of a judge are those that wait for no answer: all that is asked if every answer is
refused. The other figures are upper bounds: a token is taken to stand in every two bytes of a
prompt (`chat.budget`), replies to be as long as they may be. Where a step's inputs are stored its
requests are known and only those count that the log of earlier replies lacks (`peeking`); else
contexts are taken to be full of the largest chunks (gold's too), and every task to apply.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from rayeval.answer import stage as answering
from rayeval.answer.config import OpenAIAnswer, Variant, VllmAnswer
from rayeval.chat.budget import prompt_tokens
from rayeval.chat.config import Chat
from rayeval.chat.engine import Engine, Request
from rayeval.chat.estimate import Estimate
from rayeval.chat.record import cost_usd
from rayeval.columns import Ints
from rayeval.execution.config import RunConfig
from rayeval.execution.latency import WARM_UP
from rayeval.execution.peeking import Peeked, peeked
from rayeval.execution.plan.answer import column_of
from rayeval.execution.plan.plan import Plan
from rayeval.execution.sizes import Sizes, sizes_of
from rayeval.execution.step import Step
from rayeval.execution.store import Output
from rayeval.judge import stage as judging
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.judge.tasks import EVERY, EXTRACTING
from rayeval.stage import Stage

BLANK: Mapping[str, Any] = {"question": "", "text": "", "reference": "", "answer": "",
                            "marks": ["E1"], "passages": [], "claims": []}  # fmt: skip
READS = {
    "claims": ("question", "answer"),
    "reference_claims": ("question", "reference"),
    "correctness": ("question", "reference", "answer"),
    "relevance": ("question", "context"),
    "support": ("context", "claims"),
    "reference_support": ("context", "claims"),
    "reference": ("question", "reference", "claims"),
    "recall": ("question", "answer", "claims"),
    "citations": ("context", "claims"),
}
"""What a task's prompt holds besides its own text."""
NOTHING = Estimate(0, 0, 0, None, 0)
UNANSWERED = frozenset({"reference_claims", "reference_support", "relevance"})
"""Asked whatever is answered, or refused."""
Answer = OpenAIAnswer | VllmAnswer
Judge = OpenAIJudge | VllmJudge
ONCE = frozenset({"reference_claims", "relevance"})
"""The same for every repeat of an answer, and so asked once."""


def estimates(config: RunConfig, plan: Plan, root: str, limit: int | None) -> list[dict[str, Any]]:
    """A row per step that asks a chat model and is not finished, and one of the latency pass."""
    if config.answer is None:
        return []
    sizes = sizes_of(config, plan, root, limit)
    n = len(sizes.question)
    found = {column_of(v): _answers(config, v, sizes) for v in config.answer.variants}
    if config.judge is not None:
        found["judged"] = _judge(config, config.judge, sizes)
        if config.judge.twice is not None:
            again = min(config.judge.twice.sample, n)
            found["judged_again"] = _again(config, config.judge, sizes, again)
    keys = {step.name: step.key for step in plan.steps}
    found = {name: e for name, e in found.items() if Output(root, keys[name]).manifest() is None}
    found |= _known(config, plan, root, sizes, found)
    if sample := min(config.latency.sample, n):
        found["latency"] = _timed(config, sizes, sample)
    return [{"step": name, **asdict(one), **_ends(config, name)} for name, one in found.items()]


def _known(
    config: RunConfig, plan: Plan, root: str, sizes: Sizes, wanted: Collection[str]
) -> dict[str, Estimate]:
    """Of the steps whose inputs are there: what the log lacks."""
    steps = {step.name: step for step in plan.steps if step.name in wanted}
    found: dict[str, Estimate] = {}
    given: dict[str, Sequence[pa.Table]] = {}
    for name, step in steps.items():
        chat = config.judge if name.startswith("judged") else config.answer
        if chat is None or config.answer is None:
            continue
        seen = peeked(root, step, chat, _builder(config.answer, config.judge, step), given)
        if seen is None:
            continue
        judge = config.judge if name == "judged" else None
        waiting = [] if judge is None else list(_waiting(config, judge, sizes, seen))
        tokens = np.array(list(seen.lacking.values()), np.int64)
        least = _total(chat, [tokens]).requests
        found[name] = replace(_total(chat, [tokens, *waiting], least), logged=seen.known)
        if judge is not None and not waiting:
            given[step.key] = seen.tables
    return found


def _builder(answer: Answer, judge: Judge | None, step: Step) -> Callable[[Engine], Stage]:
    """The step's stage over another engine."""
    if judge is not None and step.name.startswith("judged"):
        return partial(judging.build, judge, again=step.name == "judged_again")
    variant: Any = step.identity["variant"]
    column, depth = step.identity.get("column"), step.identity.get("depth")
    return lambda engine: answering.build(answer, variant, engine, column=column, depth=depth)


def _waiting(config: RunConfig, judge: Judge, sizes: Sizes, seen: Peeked) -> Iterator[Ints]:
    """Tokens of what may be asked about claims that are lacking: each as large as any may be."""
    tasks = dict(_tasks(config, judge, sizes))
    for task, n in seen.waiting().items():
        if task in tasks and len(tasks[task]):
            yield np.full(n, tasks[task].max())


def _ends(config: RunConfig, name: str) -> dict[str, Any]:
    """The budget that ends the step before."""
    chat = config.judge if name.startswith("judged") else config.answer
    return chat.budget.model_dump() if chat is not None else {}


def _timed(config: RunConfig, sizes: Sizes, n: int) -> Estimate:
    """Each question once more, and some before to warm up: the largest, as nobody knows which."""
    if config.answer is None:
        return NOTHING
    tokens = np.sort(_prompts(config, "answer", sizes))[::-1]
    return _total(config.answer, [tokens[:n], tokens[: min(n, WARM_UP)]])


def _answers(config: RunConfig, variant: Variant, sizes: Sizes) -> Estimate:
    answer = config.answer
    if answer is None:
        return NOTHING
    return _total(answer, [_prompts(config, variant, sizes)] * answer.repeats)


def _prompts(config: RunConfig, variant: Variant, sizes: Sizes) -> Ints:
    """(n_questions,): tokens of each one's request."""
    answer = config.answer
    if answer is None:
        return np.zeros(0, np.int64)
    blank: dict[str, Any] = {"question": "", "history": [], "language": None, "evidence": []}
    prompt = answer.prompt_of(variant).filled(**blank)
    own = prompt_tokens(Request(prompt, ""))
    context = 0 if variant == "closed_book" else sizes.context
    return own + sizes.question + sizes.history + context


def _judge(config: RunConfig, judge: Judge, sizes: Sizes) -> Estimate:
    """Of every answer; what is the same for all its repeats once."""
    answer = config.answer
    if answer is None:
        return NOTHING
    tokens: list[Ints] = []
    least = 0
    for variant in answer.variants:
        for task, found in _tasks(config, judge, sizes):
            blind = variant == "closed_book" and "context" in READS[task]
            asked = answer.repeats if task not in ONCE else int(variant == "answer")
            asked = 0 if blind else asked
            tokens += [found] * asked
            least += len(found) if asked and task in UNANSWERED else 0
    return _total(judge, tokens, least)


def _again(config: RunConfig, judge: Judge, sizes: Sizes, n: int) -> Estimate:
    """Of the largest `n`, since nobody knows yet which are drawn."""
    extracted = {task.name for task in EXTRACTING}
    found = {t: one for t, one in _tasks(config, judge, sizes) if t not in extracted}
    largest = {task: np.sort(one)[::-1][:n] for task, one in found.items()}
    return _total(judge, list(largest.values()), 0)  # the sample may have no reference answer


def _tasks(config: RunConfig, judge: Judge, sizes: Sizes) -> Iterator[tuple[str, Ints]]:
    """(task, tokens of its prompt for every question that it may be asked of)."""
    prompts, asked = judge.loaded(), set(judge.asked)
    answer_tokens = config.answer.max_completion_tokens if config.answer else 0
    for task in EVERY:
        if task.part_of & asked:
            messages = prompts[task.prompt].filled(**BLANK, fence="0" * 12)
            tokens = prompt_tokens(Request(messages, "")) + np.zeros_like(sizes.question)
            for name in READS[task.name]:
                tokens = tokens + sizes.of(name, judge, answer_tokens)
            needs = task.name in ("reference_claims", "reference_support", "recall")
            needs = needs or "reference" in READS[task.name]
            yield task.name, tokens[sizes.reference > 0] if needs else tokens


def _total(config: Chat, tokens: list[Ints], least: int | None = None) -> Estimate:
    """least: of the requests; None: all of them are certain."""
    requests, prompt = sum(map(len, tokens)), int(sum(int(one.sum()) for one in tokens))
    completion = requests * config.max_completion_tokens
    usd = cost_usd(config.prices, prompt, completion)
    return Estimate(requests, prompt, completion, usd, requests if least is None else least)
