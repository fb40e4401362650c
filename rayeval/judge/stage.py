"""Answers → what a judge makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rayeval.answer_tables import JUDGEMENTS
from rayeval.chat.engine import Engine
from rayeval.judge.asking import Asker
from rayeval.judge.config import Judge, OpenAIJudge
from rayeval.judge.item import Item, items_of
from rayeval.judge.tasks import EVERY, EXTRACTING, ON_CLAIMS, WHOLE
from rayeval.live.retry import AGAIN
from rayeval.stage import Stage
from rayeval.tables import TEXT

TOGETHER = 32
"""Answers whose requests keep an engine of this process busy."""
NOTHING = "nothing could be judged: "
"""How the error of a row begins of which a judge said nothing that can be used."""


def build(config: Judge, engine: Engine, *, again: bool = False) -> Stage:
    """A stage: answers → JUDGEMENTS; again: of those that were judged before, a second opinion.

    Raises ConfigError if a prompt is none.
    """
    asker = Asker(engine, frozenset(config.asked), config.loaded(), repeat=int(again))
    return Again(asker) if again else Judging(asker, _together(config))


def _together(config: Judge) -> int | None:
    """How many answers are judged at a time; None: all, for there is no budget to end it."""
    if (config.budget.max_cost_usd, config.budget.max_tokens) == (None, None):
        return None
    return config.concurrency if isinstance(config, OpenAIJudge) else TOGETHER


class Judging:
    """A batch with answers (see `items_of`) → JUDGEMENTS, a row per question.

    Claims are extracted first, then judged; each time all that a batch asks is asked at once, or
    what `together` answers ask: then a budget that ends has bought whole judgements of some answers
    rather than claims of all and verdicts on none.
    """

    def __init__(self, asker: Asker, together: int | None = None) -> None:
        self.asker, self.together = asker, together

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        items = items_of(batch)
        brackets_last = sorted(items, key=lambda item: item.variant != "answer")
        size = self.together or max(1, len(items))
        for first in range(0, len(items), size):
            part = brackets_last[first : first + size]
            self.asker.ask(part, (*EXTRACTING, *WHOLE))
            self.asker.ask(part, ON_CLAIMS)
        return table_of(batch, items)


class Again:
    """As `Judging`, for a second opinion on the first answer to each question.

    The batch has `judged` too: the claims that were judged the first time are judged again, so that
    verdicts can be put side by side. What had no verdict then has none now.
    """

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        items = [one for one in items_of(batch) if (one.variant, one.repeat) == ("answer", 0)]
        judged = batch["judged"].to_pylist()
        for item in items:
            [before] = [one for one in judged[item.row] if _same(item, one)]
            item.claims = _bare(before["claims"], ("text", "citations"))
            item.reference_claims = _bare(before["reference_claims"], ("text",))
        self.asker.ask(items, (*WHOLE, *ON_CLAIMS))
        return table_of(batch, items)


def table_of(batch: pa.Table, items: Sequence[Item]) -> pa.Table:
    """JUDGEMENTS of the batch's questions. A question of which nothing at all could be judged has
    an error; whatever else went wrong is among the outcomes."""
    rows: list[list[Item]] = [[] for _ in range(batch.num_rows)]
    for item in items:
        rows[item.row].append(item)
    judged = pa.array([[_judged(one) for one in row] for row in rows], JUDGEMENTS.field(1).type)
    errors = pa.array([_error(row) for row in rows], TEXT)
    return pa.table([batch["question_id"], judged, errors], schema=JUDGEMENTS)


def _judged(item: Item) -> dict[str, Any]:
    order = {name: place for place, name in enumerate(task.name for task in EVERY)}
    item.outcomes.sort(key=lambda one: order.get(one["task"], -1))
    return item.judged()


def _error(items: Sequence[Item]) -> str | None:
    outcomes = [one for item in items for one in item.outcomes]
    if not outcomes or any(one["outcome"] == "ok" for one in outcomes):
        return None
    worst = max(outcomes, key=lambda one: str(one["reason"]).endswith(AGAIN))
    return f"{NOTHING}{worst['task']}: {worst['outcome']}: {worst['reason']}"


def _same(item: Item, judged: Mapping[str, Any]) -> bool:
    return (item.variant, item.repeat) == (judged["variant"], judged["repeat"])


def _bare(claims: Sequence[Mapping[str, Any]] | None, names: Sequence[str]) -> Any:
    """Claims as they were extracted, without verdicts."""
    return None if claims is None else [{name: one[name] for name in names} for one in claims]
