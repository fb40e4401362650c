"""Per-question numbers: a row for every (question, stage)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, combined
from rayeval.errors import ConfigError
from rayeval.metrics.block import Block
from rayeval.metrics.config import Metrics
from rayeval.metrics.evidence import bools
from rayeval.metrics.names import Measure, Metric, measures
from rayeval.metrics.pipeline import MISSING, OK, STATUSES, Codes, Pipeline, outcomes
from rayeval.metrics.ranking import ranking
from rayeval.metrics.values import Values
from rayeval.tables import TEXT

Extras = Mapping[str, Mapping[str, str]]
"""Stage → metric → the batch column that has its value for every question."""


class PerQuery:
    """What every question scores at every stage.

    Batch: `question_id, answerable, labels, evidence` (lists of LOCATED), `passages` (lists of
    PLACE), a column of HITS per stage and beside it, if it can fail, `{stage}.error`.
    Result: `question_id, stage, status` (ok, error, missing, not_run) and a float64 column per
    metric, sorted by question id and order of stages. A value is NaN where it is undefined, where
    the row has an error or was not run, and where the question is unanswerable. A missing row
    scores what an empty one would, or NaN where the metric has no worst value.
    """

    def __init__(self, config: Metrics, pipeline: Pipeline, extras: Extras | None = None) -> None:
        self.config, self.pipeline, self.extras = config, pipeline, extras or {}
        wanted = measures(config.names, config.cutoffs)
        self._measures = {
            stage: tuple(m for m in wanted if self._has(stage, m.metric))
            for stage in pipeline.stages
        }
        taken = {m.name for found in self._measures.values() for m in found}
        nowhere = [m.name for m in wanted if m.name not in taken]
        if config.names is not None and nowhere:
            raise ConfigError(
                f"no stage of this pipeline has the metric {nowhere[0]!r}; its stages are "
                f"{', '.join(pipeline.stages)}. Leave it out, or add the stage that has it."
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

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question and stage."""
        batch = by_question(batch)
        stages = self.pipeline.stages
        outcome = outcomes(batch, self.pipeline)
        values = self._values(batch, outcome)
        n = batch.num_rows
        codes = np.stack([outcome[stage] for stage in stages], axis=1).ravel()
        return pa.table(
            {
                "question_id": combined(batch["question_id"]).take(
                    np.repeat(np.arange(n), len(stages))
                ),
                "stage": pa.array(stages, TEXT).take(np.tile(np.arange(len(stages)), n)),
                "status": pa.array(STATUSES, TEXT).take(codes),
                **{name: values[i].ravel() for i, name in enumerate(self.names)},
            }
        )

    def _values(self, batch: pa.Table, outcome: Mapping[str, Codes]) -> Floats:
        """(n_metrics, n_questions, n_stages)"""
        stages = self.pipeline.stages
        block = Block(batch, full=self.config.full, partial=self.config.partial)
        answerable = bools(combined(batch["answerable"]), True)
        values = np.full((len(self.names), batch.num_rows, len(stages)), np.nan)
        column = {name: number for number, name in enumerate(self.names)}
        for number, stage in enumerate(stages):
            hits = ranking(batch, stage, block.relevance.passages)
            numbers = Values(block, hits, gain=self.config.gain)
            scored = answerable & (outcome[stage] == OK)
            empty = answerable & (outcome[stage] == MISSING)
            for measure in self._measures[stage]:
                extra = self.extras.get(stage, {}).get(measure.name)
                value = numbers.value(measure) if extra is None else _floats(batch[extra])
                counts = scored if measure.metric.worst is None else scored | empty
                values[column[measure.name], counts, number] = value[counts]
        return values

    def _has(self, stage: str, metric: Metric) -> bool:
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
