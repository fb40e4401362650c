"""Answers: asked for, and laid out in rows."""

from __future__ import annotations

from collections.abc import Mapping

from rayeval import chat
from rayeval.answer import stage
from rayeval.answer.config import OpenAIAnswer, Variant, VllmAnswer
from rayeval.answer.rows import Rows
from rayeval.registry.live import limits, request_log
from rayeval.stage import Shard, Stage


def answering(
    config: OpenAIAnswer | VllmAnswer,
    variant: Variant,
    column: str | None,
    depth: int | None,
    requests: str | None,
    scope: str,
    shard: Shard,
) -> Stage:
    """Questions and their evidence → answers.

    requests: as for `asking`. scope: whose budget is counted.
    """
    engine = chat.build(config, request_log(requests, shard), scope, limits(shard))
    return stage.build(config, variant, engine, column=column, depth=depth)


def answer_rows(columns: Mapping[str, str], repeats: int, shard: Shard) -> Stage:
    """Answers → a row for each."""
    return Rows(columns, repeats)
