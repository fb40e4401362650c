"""How large what prompts are filled with may be, in tokens from above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from rayeval.chat.budget import PER_TOKEN
from rayeval.chat.config import Chat
from rayeval.columns import Ints, combined
from rayeval.context.live import HttpSelector, PythonSelector
from rayeval.context.selection import Budget, TopK
from rayeval.execution import inputs
from rayeval.execution.config import RunConfig
from rayeval.execution.plan.plan import Plan
from rayeval.execution.store import Output, read
from rayeval.golden.load import in_splits, load_questions

UNIT_BYTES = {"chars": 4, "words": 24, "tokens": 8}
"""The most that one of them takes, where no chunks are there to be measured."""
FENCED = 48
"""Tokens of heading and fences around a passage or claim."""


@dataclass(frozen=True)
class Sizes:
    """Tokens of what prompts are filled with, a row per question."""

    question: Ints
    reference: Ints
    """0: there is none."""
    history: Ints
    context: int

    def of(self, name: str, chat: Chat, answer_tokens: int) -> Ints | int:
        """Of one of `estimates.READS`; claims are as long as the judge may write them."""
        if name in ("question", "reference", "context"):
            found: Ints | int = getattr(self, name)
            return found
        return answer_tokens if name == "answer" else chat.max_completion_tokens + FENCED


def sizes_of(config: RunConfig, plan: Plan, root: str, limit: int | None) -> Sizes:
    """Of the questions that a run would ask."""
    golden = config.golden
    table, _ = load_questions(golden.path, golden.format, relevant=config.metrics.relevant)
    table = in_splits(table, golden.splits)
    table = table if limit is None else table.slice(0, limit)
    history = [
        sum(len(turn["content"].encode()) // PER_TOKEN + FENCED for turn in turns or ())
        for turns in table["history"].to_pylist()
    ]
    return Sizes(
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
