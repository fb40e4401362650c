"""The steps that put answers before a judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from rayeval import files, registry
from rayeval.answer_tables import JUDGEMENTS
from rayeval.columns import flatten
from rayeval.execution.models import judge_records
from rayeval.execution.plan.answer import AnswerSteps, chat_log, column_of
from rayeval.execution.plan.builder import Builder, asked_in_vain, columns, found
from rayeval.execution.plan.limits import limited
from rayeval.execution.plan.questions import drawn
from rayeval.execution.step import Column, Step
from rayeval.execution.store import Output
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.judge.rows import ROWS
from rayeval.live.retry import AGAIN

Config = OpenAIJudge | VllmJudge


@dataclass(frozen=True)
class JudgeSteps:
    """What the rest of the plan reads of a judge."""

    judged: Step
    tables: Mapping[str, Step]
    """File name → the step whose output is that table."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """`judged`, and its errors beside it."""
        return found({"judged": self.judged}, column="judged")


def judging_steps(
    builder: Builder, config: Config, resolved: Step, answers: tuple[Column, ...]
) -> JudgeSteps:
    """`judged`, and `judged_again` where a sample is judged twice.

    answers: of every variant its answers, and what its contexts say (`judge.item`).
    Raises ConfigError for a file of calibration that is none.
    """
    judge_records(config)  # rather now than when all is paid for
    asked = ("question_id", "question", "reference_answer")
    batch = (*columns(resolved, *asked, error="resolved.error"), *answers)
    judged = _judging(builder, config, batch, again=False)
    tables = {"judgements.parquet": judgement_rows_step(builder, judged)}
    if config.twice is not None:
        sample = drawn(builder, "judged_twice", config.twice.sample, config.seed or 0, resolved)
        batch += (*found({"judged": judged}, column="judged"), *columns(sample, "sampled"))
        again = _judging(builder, config, batch, again=True)
        tables["judged_again.parquet"] = judgement_rows_step(builder, again)
    return JudgeSteps(judged, tables)


def answered(answers: AnswerSteps) -> tuple[Column, ...]:
    """What a judge reads of a run's answers. A bracket that failed keeps nobody from judging the
    answer itself."""
    own, *brackets = answers.variants.items()
    said = found({column_of(own[0]): own[1]}, column="answers")
    said += tuple(Column(step.key, "answers", column_of(variant)) for variant, step in brackets)
    texts = columns(answers.texts, candidates="texts", error="texts.error")
    if answers.gold_texts is not None:
        texts += columns(answers.gold_texts, gold_texts="texts:gold_context")
    return (*said, *texts)


def _judging(builder: Builder, config: Config, batch: tuple[Column, ...], *, again: bool) -> Step:
    step = Step(
        name="judged_again" if again else "judged",
        kind="map",
        fallible=True,
        identity={**config.identity(), "again": again},
        make=registry.judging,
        schema=JUDGEMENTS,
        batch=batch,
        single=isinstance(config, OpenAIJudge),
        model=isinstance(config, VllmJudge),
    )
    config = limited(config, builder.config)
    make = partial(registry.judging, config, again, chat_log(config), step.key)
    return builder.add_asking(replace(step, make=make), judged_in_vain)


def judged_in_vain(output: Output) -> bool:
    """Whether a finished output lacks verdicts that another run may get."""
    if output.manifest() is None:
        return False
    return asked_in_vain(output) or any(map(_open, output.paths()))


def _open(path: str) -> bool:
    """Whether a partition has an outcome that may be another one soon."""
    _, answers = flatten(files.read_table(path, ["judged"])["judged"])
    _, outcomes = flatten(answers.field("outcomes"))
    reasons = outcomes.field("reason").to_pylist()
    return any(reason is not None and reason.endswith(AGAIN) for reason in reasons)


def judgement_rows_step(builder: Builder, judged: Step) -> Step:
    """A row per judged answer."""
    return builder.add(
        Step(
            name="judgement_rows" if judged.name == "judged" else "judged_again_rows",
            kind="map",
            identity={"step": "judgement_rows"},
            make=partial(registry.judgement_rows, "judged"),
            schema=ROWS,
            batch=(*columns(judged, "question_id"), *found({"judged": judged}, column="judged")),
            aligned=False,
            tolerant=True,
        )
    )
