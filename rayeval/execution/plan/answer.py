"""The steps that answer: from the context, and for comparison without one and with gold's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.answer.config import OpenAIAnswer, Variant, VllmAnswer
from rayeval.answer.rows import ROWS
from rayeval.answer.stage import MEASURED, SUMS
from rayeval.chat.config import OpenAI, Vllm
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.plan.limits import limited
from rayeval.execution.plan.selection import candidates_step
from rayeval.execution.plan.timed import Timed
from rayeval.execution.step import Column, Step, digest
from rayeval.golden.texts import GOLD_TEXT, GoldTexts

ASKED = ("question_id", "question", "history", "language")
Config = OpenAIAnswer | VllmAnswer


@dataclass(frozen=True)
class AnswerSteps:
    """What the rest of the plan reads of answers."""

    variants: dict[Variant, Step]
    """`answer` first."""
    texts: Step
    """`candidates`: what the chunks say that were handed over."""
    gold_texts: Step | None
    rows: Step
    """A row per answer: `answers.parquet`."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of every variant its answers, and their errors beside them."""
        return found({column_of(v): s for v, s in self.variants.items()}, column="answers")

    @property
    def timed(self) -> Timed:
        """What users wait for; every request was timed by itself."""
        step = self.variants["answer"]
        counters = tuple((step.key, name, name) for name in SUMS)
        own = (step.key, "latency_ms")
        return Timed("answer", (self.texts, step), counters=counters, measured=own, traced=False)


def column_of(variant: Variant) -> str:
    """What a batch calls the answers of a variant; the step that gives them has this name too."""
    return "answers" if variant == "answer" else f"answers:{variant}"


def answer_steps(
    builder: Builder,
    before: tuple[str, Step],
    arms: Sequence[Arm],
    corpus: CorpusSteps,
    resolved: Step,
) -> AnswerSteps | None:
    """The answers' steps, if there are to be any. before: the list that is handed over."""
    config = builder.run.answer
    if config is None:
        return None
    label, hits = before
    depth = None if builder.run.context is not None else config.depth
    texts = candidates_step(builder, before, depth, arms, corpus, resolved, name="texts")
    evidence: dict[Variant, tuple[Column, ...]] = {
        "answer": (
            *found({label: hits}),
            *columns(texts, "candidates", error="texts.error"),
        ),
        "closed_book": (),
    }
    gold_texts = None
    if "gold_context" in config.bracket:
        gold_texts = _gold_texts(builder, corpus, resolved)
        said = columns(gold_texts, "gold_texts", error="gold_texts.error")
        evidence["gold_context"] = (*columns(resolved, "answerable"), *said)
    variants: dict[Variant, Step] = {}
    for variant in config.variants:
        of = label if variant == "answer" else None
        batch = (*columns(resolved, *ASKED, error="resolved.error"), *evidence[variant])
        variants[variant] = _asking(builder, config, variant, batch, of, depth)
    rows = answer_rows_step(
        builder, {v: column_of(v) for v in variants}, config.repeats, resolved,
        found({column_of(v): step for v, step in variants.items()}, column="answers"),
    )  # fmt: skip
    return AnswerSteps(variants, texts, gold_texts, rows)


def _asking(
    builder: Builder,
    config: Config,
    variant: Variant,
    batch: tuple[Column, ...],
    label: str | None,
    depth: int | None,
) -> Step:
    identity = config.identity_of(variant)
    if label is not None:
        identity |= {"column": label, "depth": depth}
    step = Step(
        name=column_of(variant),
        kind="map",
        fallible=True,
        identity=identity,
        make=registry.answering,
        schema=MEASURED,
        batch=batch,
        single=isinstance(config, OpenAIAnswer),
        model=isinstance(config, VllmAnswer),
    )
    config = limited(config, builder.config)
    make = partial(registry.answering, config, variant, label, depth)
    once = partial(
        registry.answering, config.model_copy(update={"repeats": 1}), variant, label, depth
    )
    return builder.add_asking(
        replace(step, make=partial(make, chat_log(config), step.key), alone=partial(once, None, ""))
    )


def chat_log(config: OpenAI | Vllm) -> str:
    """The name of the log of what a model said: whoever asks it the same has it there."""
    url = config.url if isinstance(config, OpenAI) else None
    return digest({"kind": config.kind, "url": url, "model": config.model})


def _gold_texts(builder: Builder, corpus: CorpusSteps, resolved: Step) -> Step:
    return builder.add(
        Step(
            name="gold_texts",
            kind="scatter",
            identity={"step": "gold_texts"},
            make=GoldTexts,
            schema=per_question(gold_texts=pa.list_(GOLD_TEXT)),
            batch=columns(resolved, "question_id", "evidence", error="resolved.error"),
            sharded={"documents": corpus.documents.key},
        )
    )


def answer_rows_step(
    builder: Builder,
    named: Mapping[str, str],
    repeats: int,
    questions: Step,
    answers: tuple[Column, ...],
) -> Step:
    """A row per answer. named: variant → its column among `answers`."""
    return builder.add(
        Step(
            name="answer_rows",
            kind="map",
            identity={"step": "answer_rows", "columns": dict(named), "repeats": repeats},
            make=partial(registry.answer_rows, dict(named), repeats),
            schema=ROWS,
            batch=(*columns(questions, "question_id"), *answers),
            aligned=False,
            tolerant=True,
        )
    )
