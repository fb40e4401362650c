"""Judges: asked, and their verdicts laid out in rows."""

from __future__ import annotations

from rayeval import chat
from rayeval.judge import stage
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.judge.rows import Rows
from rayeval.registry.live import request_log
from rayeval.stage import Shard, Stage


def judging(
    config: OpenAIJudge | VllmJudge, again: bool, requests: str | None, scope: str, shard: Shard
) -> Stage:
    """Answers → what a judge makes of them; again: of those that it has judged before.

    requests: as for `asking`. scope: whose budget is counted.
    """
    engine = chat.build(config, request_log(requests, shard), scope)
    return stage.build(config, engine, again=again)


def judgement_rows(column: str, shard: Shard) -> Stage:
    """Judgements → a row for each answer."""
    return Rows(column)
