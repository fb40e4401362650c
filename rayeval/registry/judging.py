"""Judges: asked, and their verdicts laid out in rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rayeval import chat
from rayeval.judge import probes, stage
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.judge.item import items_of
from rayeval.judge.rows import Rows
from rayeval.judge.told import Told
from rayeval.live.log import log_in
from rayeval.registry.live import limits, limits_in, request_log
from rayeval.stage import Shard, Stage


def judging(
    config: OpenAIJudge | VllmJudge, again: bool, requests: str | None, scope: str, shard: Shard
) -> Stage:
    """Answers → what a judge makes of them; again: of those that it has judged before.

    requests: as for `asking`. scope: whose budget is counted.
    """
    engine = chat.build(config, request_log(requests, shard), scope, limits(shard))
    return stage.build(config, engine, again=again)


def told_verdicts(shard: Shard) -> Stage:
    """Answers → what the trace's own judge made of them. `verdicts`: VERDICTS."""
    return Told(shard.table("verdicts"))


def judgement_rows(column: str, shard: Shard) -> Stage:
    """Judgements → a row for each answer."""
    return Rows(column)


def probing(
    config: OpenAIJudge | VllmJudge,
    task: str,
    scale: Sequence[Any],
    answers: pa.Table,
    judged: Sequence[Mapping[str, Any]],
    store: tuple[str, str],
) -> Mapping[probes.Kind, probes.Probed]:
    """What becomes of verdicts that should stay as they are (`judge.probes`).

    answers: a row per question, with one answer (`judge.item`). judged: their rows of JUDGED, in
    the same order. store: its root, and the name of its log of what the judge has said already.
    """
    items = items_of(answers)
    probes.with_verdicts(items, judged)
    root, requests = store
    engine = chat.build(config, log_in(f"{root}/requests/{requests}"), "probes", limits_in(root))
    return probes.probed(items, task, scale, engine, config.loaded())
