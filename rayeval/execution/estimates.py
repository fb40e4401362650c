"""What the requests of a run may come to, before any is sent.

`requests_least` of a judge are those that wait for no answer: all that is asked if every answer is
refused. The other figures are upper bounds: a token is taken to stand in every two bytes of a
prompt (`chat.budget`), replies to be as long as they may be, contexts to be full of the largest
chunks (gold's too), and every task to apply. What the log of earlier replies spares is not taken
off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from rayeval.answer.config import Variant
from rayeval.chat.budget import PER_TOKEN, prompt_tokens
from rayeval.chat.config import Chat
from rayeval.chat.engine import Request
from rayeval.chat.estimate import Estimate
from rayeval.chat.record import cost_usd
from rayeval.columns import Ints, combined
from rayeval.context.live import HttpSelector, PythonSelector
from rayeval.context.selection import Budget, TopK
from rayeval.execution import inputs
from rayeval.execution.config import RunConfig
from rayeval.execution.latency import WARM_UP
from rayeval.execution.plan.answer import column_of
from rayeval.execution.plan.plan import Plan
from rayeval.execution.store import Output, read
from rayeval.golden.load import in_splits, load_questions
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.judge.tasks import EVERY, EXTRACTING

UNIT_BYTES = {"chars": 4, "words": 24, "tokens": 8}
"""The most that one of them takes, where no chunks are there to be measured."""
FENCED = 48
"""Tokens of heading and fences around a passage or claim."""
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
ONCE = frozenset({"reference_claims", "relevance"})
"""The same for every repeat of an answer, and so asked once."""


@dataclass(frozen=True)
class _Sizes:
    """Tokens of what prompts are filled with, a row per question."""

    question: Ints
    reference: Ints
    """0: there is none."""
    history: Ints
    context: int

    def of(self, name: str, chat: Chat, answer_tokens: int) -> Ints | int:
        """Of one of `READS`; claims are as long as the judge may write them."""
        if name in ("question", "reference", "context"):
            found: Ints | int = getattr(self, name)
            return found
        return answer_tokens if name == "answer" else chat.max_completion_tokens + FENCED


def estimates(config: RunConfig, plan: Plan, root: str, limit: int | None) -> list[dict[str, Any]]:
    """A row per step that asks a chat model and is not finished, and one of the latency pass."""
    if config.answer is None:
        return []
    sizes = _sizes(config, plan, root, limit)
    n = len(sizes.question)
    found = {column_of(v): _answers(config, v, sizes) for v in config.answer.variants}
    if config.judge is not None:
        found["judged"] = _judge(config, config.judge, sizes)
        if config.judge.twice is not None:
            again = min(config.judge.twice.sample, n)
            found["judged_again"] = _again(config, config.judge, sizes, again)
    keys = {step.name: step.key for step in plan.steps}
    found = {name: e for name, e in found.items() if Output(root, keys[name]).manifest() is None}
    if sample := min(config.latency.sample, n):
        found["latency"] = _timed(config, sizes, sample)
    return [{"step": name, **asdict(one), **_ends(config, name)} for name, one in found.items()]


def _ends(config: RunConfig, name: str) -> dict[str, Any]:
    """The budget that ends the step before."""
    chat = config.judge if name.startswith("judged") else config.answer
    return chat.budget.model_dump() if chat is not None else {}


def _timed(config: RunConfig, sizes: _Sizes, n: int) -> Estimate:
    """Each question once more, and some before to warm up: the largest, as nobody knows which."""
    if config.answer is None:
        return NOTHING
    tokens = np.sort(_prompts(config, "answer", sizes))[::-1]
    return _total(config.answer, [tokens[:n], tokens[: min(n, WARM_UP)]])


def _answers(config: RunConfig, variant: Variant, sizes: _Sizes) -> Estimate:
    answer = config.answer
    if answer is None:
        return NOTHING
    return _total(answer, [_prompts(config, variant, sizes)] * answer.repeats)


def _prompts(config: RunConfig, variant: Variant, sizes: _Sizes) -> Ints:
    """(n_questions,): tokens of each one's request."""
    answer = config.answer
    if answer is None:
        return np.zeros(0, np.int64)
    blank: dict[str, Any] = {"question": "", "history": [], "language": None, "evidence": []}
    prompt = answer.prompt_of(variant).messages(**blank)
    own = prompt_tokens(Request(prompt, ""))
    context = 0 if variant == "closed_book" else sizes.context
    return own + sizes.question + sizes.history + context


def _judge(config: RunConfig, judge: OpenAIJudge | VllmJudge, sizes: _Sizes) -> Estimate:
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


def _again(config: RunConfig, judge: OpenAIJudge | VllmJudge, sizes: _Sizes, n: int) -> Estimate:
    """Of the largest `n`, since nobody knows yet which are drawn."""
    extracted = {task.name for task in EXTRACTING}
    found = {t: one for t, one in _tasks(config, judge, sizes) if t not in extracted}
    largest = {task: np.sort(one)[::-1][:n] for task, one in found.items()}
    return _total(judge, list(largest.values()), 0)  # the sample may have no reference answer


def _tasks(
    config: RunConfig, judge: OpenAIJudge | VllmJudge, sizes: _Sizes
) -> Iterator[tuple[str, Ints]]:
    """(task, tokens of its prompt for every question that it may be asked of)."""
    prompts, asked = judge.loaded(), set(judge.asked)
    answer_tokens = config.answer.max_completion_tokens if config.answer else 0
    for task in EVERY:
        if task.part_of & asked:
            messages = prompts[task.prompt].messages(**BLANK, fence="0" * 12)
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


def _sizes(config: RunConfig, plan: Plan, root: str, limit: int | None) -> _Sizes:
    golden = config.golden
    table, _ = load_questions(golden.path, golden.format, relevant=config.metrics.relevant)
    table = in_splits(table, golden.splits)
    table = table if limit is None else table.slice(0, limit)
    history = [
        sum(len(turn["content"].encode()) // PER_TOKEN + FENCED for turn in turns or ())
        for turns in table["history"].to_pylist()
    ]
    return _Sizes(
        _tokens(table["question"]),
        _tokens(table["reference_answer"]),
        np.array(history, np.int64),
        _context(config, plan, root),
    )


def _tokens(texts: Any) -> Ints:
    """Of every text, from above; 0 where there is none."""
    sizes = pc.fill_null(pc.binary_length(combined(texts)), 0)
    found: Ints = np.asarray(sizes).astype(np.int64)
    return np.where(found > 0, found // PER_TOKEN + FENCED, 0)


def _context(config: RunConfig, plan: Plan, root: str) -> int:
    """Tokens of a context that is full."""
    largest = _largest_chunk(config, plan, root)
    match config.context:
        case None:
            depth = config.answer.depth if config.answer else 0
        case TopK(depth=depth):
            pass
        case Budget(max_tokens=most, depth=limit):
            depth = limit or -(-most * UNIT_BYTES["tokens"] // max(1, largest))
        case HttpSelector(candidates=depth) | PythonSelector(candidates=depth):
            pass
    return depth * (largest // PER_TOKEN + FENCED)


def _largest_chunk(config: RunConfig, plan: Plan, root: str) -> int:
    """In bytes: measured where the chunks are there, else as large as it may be."""
    if Output(root, plan.chunks.key).manifest() is None:
        return config.chunk.size * UNIT_BYTES[config.chunk.unit]
    texts = (read(path, ["text"])["text"] for path in inputs.paths(root, plan.chunks.key))
    return max((pc.max(pc.binary_length(text)).as_py() or 0 for text in texts), default=0)
