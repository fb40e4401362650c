"""A judge whose verdicts came with the trace: who it is, and the step that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import registry
from rayeval.answer_tables import JUDGEMENTS, VERDICTS
from rayeval.execution.plan.builder import Builder, columns
from rayeval.execution.plan.judge import JudgeSteps, judgement_rows_step
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.step import Column, Step
from rayeval.execution.store import Output, read
from rayeval.judge.config import TASKS
from rayeval.judge.tasks import EVERY

FROM_TRACE = "the trace"
"""Where verdicts come from, in a manifest's `judge`; a judge that was asked has no `origin`."""


@dataclass(frozen=True)
class ToldJudge:
    """Somebody else's judge."""

    key: str
    """Of the output with VERDICTS."""
    name: str
    tasks: tuple[str, ...]
    """What it judged, as a configuration would name it."""

    @property
    def pins(self) -> dict[str, Any]:
        """As `judge_pins`. Nothing says by which model and prompts, so no record is ever of it."""
        return {
            "model": self.name,
            "revision": None,
            "tasks": list(self.tasks),
            "prompts": {},
            "origin": FROM_TRACE,
        }

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.name}, not calibrated (verdicts that came with the trace)"


def told_judge(verdicts: Output) -> ToldJudge | None:
    """Whose verdicts an output holds; None where there are none."""
    frame = pl.concat(
        pl.DataFrame(pl.from_arrow(read(path, ["judge", "outcomes"]))) for path in verdicts.paths()
    )
    if frame.is_empty():
        return None
    names = frame["outcomes"].explode().struct.field("task").unique().to_list()
    asked = {task.prompt for task in EVERY if task.name in names}
    tasks = tuple(task for task in TASKS if task in asked)
    return ToldJudge(verdicts.key, frame["judge"][0], tasks)


def told_steps(
    builder: Builder, judge: ToldJudge, resolved: Step, answers: tuple[Column, ...]
) -> JudgeSteps:
    """`judged`, and its rows. answers: what was said and handed over (`judge.item`)."""
    asked = ("question_id", "question", "reference_answer")
    judged = builder.add(
        Step(
            name="judged",
            kind="map",
            identity={"step": "told verdicts", "v": 1},
            make=registry.told_verdicts,
            schema=JUDGEMENTS,
            batch=(*columns(resolved, *asked, error="resolved.error"), *answers),
            whole={"verdicts": judge.key},
        )
    )
    return JudgeSteps(judged, {"judgements.parquet": judgement_rows_step(builder, judged)})


def judged_by(config: ScoreConfig, judge: ToldJudge | None) -> Iterator[str]:
    """What to know of a judge whose verdicts came with the trace."""
    if judge is None:
        return
    if config.judge is not None:
        yield f"the verdicts of {judge.name} are left out: --judge asks a judge of your own"
        return
    yield (
        f"answers are judged by {judge.name}, not calibrated: the trace has its verdicts, and does "
        "not say by which model; its metrics say where to look, and pass no gate"
    )


def verdict_table(tables: Iterable[pa.Table] | None) -> pa.Table:
    """All of them as one; empty where there are none."""
    return pa.concat_tables([VERDICTS.empty_table(), *(tables or ())])
