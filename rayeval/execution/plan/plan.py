"""The whole plan of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rayeval.corpus.units import Unit
from rayeval.execution.artifacts import Sources
from rayeval.execution.config import RunConfig
from rayeval.execution.plan.answer import AnswerSteps, answer_steps
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns
from rayeval.execution.plan.corpus import CorpusSteps, corpus_steps
from rayeval.execution.plan.gold import gold_steps
from rayeval.execution.plan.judge import answered, judging_steps
from rayeval.execution.plan.judged import described, judge_steps, walked
from rayeval.execution.plan.missed import missed_steps
from rayeval.execution.plan.questions import GoldenFile, question_steps
from rayeval.execution.plan.search import arm_steps
from rayeval.execution.plan.selection import context_step, fuse_step, passages_step, rerank_step
from rayeval.execution.plan.timed import Timed, timed_arm
from rayeval.execution.step import Column, Step, digest
from rayeval.metrics.pipeline import Pipeline


@dataclass(frozen=True)
class Inputs:
    """What a plan is made from, besides the configuration: content, by hash."""

    units: tuple[Unit, ...]
    fingerprints: tuple[str, ...]
    golden_sha256: str

    @property
    def pins(self) -> dict[str, str]:
        """What a resumed run must find again."""
        return {"golden": self.golden_sha256, "corpus": digest(list(self.fingerprints))}


@dataclass(frozen=True)
class Steps:
    """Every step in an order in which they can be computed."""

    steps: tuple[Step, ...]
    resolved: Step

    def needed(self, target: Step) -> list[Step]:
        """`target` and what it is computed from, in order; what was stored before is no step."""
        by_key = {step.key: step for step in self.steps}
        keys, todo = set(), [target.key]
        while todo:
            step = by_key.get(todo.pop())
            if step is not None and step.key not in keys:
                keys.add(step.key)
                todo += [c.key for c in step.batch] + [*step.sharded.values(), *step.whole.values()]
        return [step for step in self.steps if step.key in keys]


@dataclass(frozen=True)
class Plan(Steps):
    """The steps of a run, and the outputs that matter."""

    catalogue: Step
    chunks: Step
    timed: tuple[Timed, ...]
    tables: tuple[tuple[str, Step], ...]
    """Outputs that are tables of the run as they are."""
    filter: Step
    places: tuple[Step, ...]
    foreign: tuple[Step, ...] = ()
    """Outputs with passages that are no chunks of the corpus."""

    def sources(self, root: str) -> Sources:
        """What the run's files are written from."""
        stages = [("filter", self.filter.key)]
        stages += [(timed.stage, timed.shown.key) for timed in self.timed if timed.traced]
        return Sources(
            root=root,
            questions=self.resolved.key,
            stages=tuple(stages),
            places=tuple(step.key for step in self.places),
            chunks=self.chunks.key,
            foreign=tuple(step.key for step in self.foreign),
            tables=tuple((name, step.key) for name, step in self.tables),
        )


def make_plan(
    config: RunConfig, inputs: Inputs, limit: int | None = None, root: str | None = None
) -> Plan:
    """The steps of a run over what `inputs` found; root: the store that it will use."""
    builder = Builder(config, root=root)
    golden = GoldenFile(config.golden, inputs.golden_sha256)
    corpus = corpus_steps(builder, inputs.units, inputs.fingerprints)
    resolved = question_steps(builder, golden, corpus, limit=limit)
    gold = gold_steps(builder, corpus, resolved)
    arms = [arm_steps(builder, name, corpus, resolved) for name in config.retrieve.arms]
    hits = {stage: step for arm in arms for stage, step in arm.stages.items()}
    passages = passages_step(builder, arms, corpus, resolved)
    last, later = _later(builder, arms, passages, corpus, resolved, golden)
    answers = None
    for label, step in last.items():
        answers = answer_steps(builder, (label, step), arms, corpus, resolved)
    # What no arm found is a matter of the arms alone: another reranker doesn't rank it again.
    searched = walked(hits, gold, passages, resolved)
    missed = missed_steps(builder, described(arms, []), arms, searched, corpus, resolved)
    pipeline = described(arms, [timed.stage for timed in later])
    batch = walked({**hits, **{t.stage: t.shown for t in later}}, gold, passages, resolved)
    timed = [timed_arm(arm, stage) for arm in arms for stage in arm.stages] + later
    said: dict[str, Step] = {}
    if answers is not None:
        timed.append(answers.timed)
        pipeline, read, said = _said(builder, pipeline, answers, resolved)
        batch += read
    tables = judge_steps(builder, pipeline, arms, batch, missed, resolved, gold) | said
    return Plan(
        steps=tuple(builder.steps.values()),
        resolved=resolved,
        catalogue=corpus.catalogue,
        chunks=corpus.chunks,
        timed=tuple(timed),
        tables=tuple(tables.items()),
        filter=gold.filter,
        places=(passages, gold.chunks),
        foreign=tuple(arm.onward[1] for arm in arms if arm.asking is not None),
    )


def _later(
    builder: Builder,
    arms: Sequence[Arm],
    passages: Step,
    corpus: CorpusSteps,
    resolved: Step,
    golden: GoldenFile,
) -> tuple[dict[str, Step], list[Timed]]:
    """The last stage by its name, none without arms to fuse; and every stage after the arms."""
    last = fuse_step(builder, arms, resolved)
    timed = [Timed("fused", (last["fused"],))] if "fused" in last else []
    for label, step in list(last.items()):
        reranked = rerank_step(builder, (label, step), arms, corpus, resolved, golden)
        if reranked is not None:
            texts = builder.named["candidates"]
            pairs = ((reranked.key, "reranked_pairs", "reranked_pairs"),)
            timed.append(Timed("reranked", (texts, reranked), counters=pairs))
            last = {"reranked": reranked}
    for label, step in list(last.items()):
        context = context_step(builder, (label, step), passages, arms, corpus, resolved)
        if context is not None:
            tokens = ((context.key, "context_tokens", "context_tokens"),)
            timed.append(Timed("context", (context,), counters=tokens))
            last = {"context": context}
    return last, timed


def _said(
    builder: Builder, pipeline: Pipeline, answers: AnswerSteps, resolved: Step
) -> tuple[Pipeline, tuple[Column, ...], dict[str, Step]]:
    """The pipeline with answers and their judge, columns that metrics read, tables of the run."""
    pipeline = replace(pipeline, answers=tuple(answers.variants))
    read = (*columns(resolved, "reference_answer"), *answers.columns)
    said = {"answers.parquet": answers.rows}
    judge = builder.run.judge
    if judge is None:
        return pipeline, read, said
    judging = judging_steps(builder, judge, resolved, answered(answers))
    pipeline = replace(pipeline, judged=tuple(judge.asked))
    return pipeline, (*read, *judging.columns), {**said, **judging.tables}


def sequence(plan: Steps) -> Sequence[Step]:
    """Every step, those that can find a problem in the user's files first."""
    first = plan.needed(plan.resolved)
    keys = {step.key for step in first}
    return [*first, *(step for step in plan.steps if step.key not in keys)]
