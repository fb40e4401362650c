"""Per-question numbers: a row for every (question, stage)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, combined
from rayeval.errors import ConfigError
from rayeval.metrics.answers.given import statuses
from rayeval.metrics.answers.per_answer import UNJUDGED, Folded, named, per_answer
from rayeval.metrics.answers.per_answer import schema as of_answers
from rayeval.metrics.block import Block
from rayeval.metrics.config import Metrics
from rayeval.metrics.evidence import bools
from rayeval.metrics.names import Measure, Metric, measures
from rayeval.metrics.pipeline import MISSING, OK, STATUSES, Codes, Pipeline, outcomes
from rayeval.metrics.ranking import ranking
from rayeval.metrics.spans import Bools
from rayeval.metrics.values import Values
from rayeval.tables import TEXT, TEXTS

Extras = Mapping[str, Mapping[str, str]]
"""Stage → metric → the batch column that has its value for every question."""


class PerQuery:
    """What every question scores at every stage.

    Batch: `question_id, answerable, labels, evidence` (lists of LOCATED), `passages` (lists of
    PLACE), a column of HITS per stage and beside it, if it can fail, `{stage}.error`; where
    questions were answered, `reference_answer`, a column of lists of ANSWER per variant
    (`answers`, `answers:closed_book`, …), and `judged` (lists of JUDGED), with their errors.
    Result: `question_id, stage, status` (ok, error, missing, not_run) and a float64 column per
    metric, sorted by question id and order of stages, variants last. A value is NaN where it is
    undefined, where the row has an error or was not run, and, of hits, where the question is
    unanswerable. A missing row scores what an empty one would, or NaN where the metric has no worst
    value. With a judge, `unjudged` lists the metrics that are NaN because it failed.
    """

    def __init__(self, config: Metrics, pipeline: Pipeline, extras: Extras | None = None) -> None:
        self.config, self.pipeline, self.extras = config, pipeline, extras or {}
        wanted = measures(config.names, config.cutoffs)
        self.stages = (*pipeline.stages, *pipeline.answers)
        self._measures = {
            stage: tuple(m for m in wanted if self._has(stage, m.metric)) for stage in self.stages
        }
        taken = {m.name for found in self._measures.values() for m in found}
        nowhere = [m.name for m in wanted if m.name not in taken]
        if config.names is not None and nowhere:
            raise ConfigError(
                f"no stage of this pipeline has the metric {nowhere[0]!r}; its stages are "
                f"{', '.join(self.stages)}. Leave it out, or add the stage that has it."
            )
        self.names = tuple(m.name for m in wanted if m.name in taken)
        """The metric columns, in order."""

    def measures_of(self, stage: str) -> tuple[Measure, ...]:
        """What is measured at a stage."""
        return self._measures[stage]

    @property
    def measured(self) -> dict[str, tuple[str, ...]]:
        """The metrics of every stage; elsewhere their column is NaN and means nothing."""
        return {stage: tuple(m.name for m in found) for stage, found in self._measures.items()}

    @property
    def schema(self) -> pa.Schema:
        """Of the result."""
        known = [("question_id", TEXT), ("stage", TEXT), ("status", TEXT)]
        judged = [(UNJUDGED, TEXTS)] if self.pipeline.judged else []
        return pa.schema([*known, *((name, pa.float64()) for name in self.names), *judged])

    @property
    def answers_schema(self) -> pa.Schema:
        """Of the rows of answers."""
        return of_answers(self._measures, self.pipeline)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question and stage."""
        batch = by_question(batch)
        outcome = outcomes(batch, self.pipeline) | statuses(batch, self.pipeline)
        block = self._block(batch)
        values = self._values(batch, block, outcome)
        failed = self._of_answers(batch, block, outcome, values)
        n, width = batch.num_rows, len(self.stages)
        codes = np.stack([outcome[stage] for stage in self.stages], axis=1).ravel()
        columns = {
            "question_id": combined(batch["question_id"]).take(np.repeat(np.arange(n), width)),
            "stage": pa.array(self.stages, TEXT).take(np.tile(np.arange(width), n)),
            "status": pa.array(STATUSES, TEXT).take(codes),
            **{name: values[i].ravel() for i, name in enumerate(self.names)},
            UNJUDGED: named(failed.reshape(len(self.names), -1).T, self.names),
        }
        return pa.table(columns).select(self.schema.names)

    def answers(self, batch: pa.Table) -> pa.Table:
        """A row per answer (`per_answer`)."""
        batch = by_question(batch)
        return per_answer(batch, self._block(batch), self.pipeline, self._measures)

    def _block(self, batch: pa.Table) -> Block:
        return Block(batch, full=self.config.full, partial=self.config.partial)

    def _values(self, batch: pa.Table, block: Block, outcome: Mapping[str, Codes]) -> Floats:
        """(n_metrics, n_questions, n_stages): of stages with hits; elsewhere NaN."""
        answerable = bools(combined(batch["answerable"]), True)
        values = np.full((len(self.names), batch.num_rows, len(self.stages)), np.nan)
        for number, stage in enumerate(self.pipeline.stages):
            hits = ranking(batch, stage, block.relevance.passages)
            numbers = Values(block, hits, gain=self.config.gain)
            scored = answerable & (outcome[stage] == OK)
            empty = answerable & (outcome[stage] == MISSING)
            for measure in self._measures[stage]:
                extra = self.extras.get(stage, {}).get(measure.name)
                value = numbers.value(measure) if extra is None else _floats(batch[extra])
                counts = scored if measure.metric.worst is None else scored | empty
                values[self.names.index(measure.name), counts, number] = value[counts]
        return values

    def _of_answers(
        self, batch: pa.Table, block: Block, outcome: Mapping[str, Codes], values: Floats
    ) -> Bools:
        """Fills in the variants' part of `values`; says where a judge failed, in its shape."""
        failed = np.zeros(values.shape, bool)
        for variant in self.pipeline.answers:
            folded = Folded(batch, block, self.pipeline, variant)
            at = self.stages.index(variant)
            for measure in self._measures[variant]:
                place = self.names.index(measure.name), slice(None), at
                values[place], failed[place] = folded.value(measure.metric, outcome[variant])
        return failed

    def _has(self, stage: str, metric: Metric) -> bool:
        if stage in self.pipeline.answers:
            asked = set(metric.tasks) <= set(self.pipeline.judged)
            handed = stage != "closed_book" or not metric.needs_context
            return metric.stage == "answer" and asked and handed
        if metric.stage == "ann":
            return metric.name in self.extras.get(stage, {})
        return metric.stage in (None, self.pipeline.kind(stage))


def by_question(batch: pa.Table) -> pa.Table:
    """The rows in order of question ids."""
    order = pc.sort_indices(batch["question_id"]).to_numpy()
    sorted_already = (order == np.arange(len(order))).all()
    return batch if sorted_already else batch.take(pa.array(order))


def _floats(column: pa.ChunkedArray) -> Floats:
    values: Floats = combined(column).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
