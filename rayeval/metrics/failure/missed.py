"""Which gold chunks are worth ranking beyond depth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import combined, lists
from rayeval.metrics.evidence import bools
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.pipeline import OK, Pipeline


class Missed:
    """The chunks that hold what no arm found.

    Batch: as for `FirstFailure`, without scores and ranks. Result: the same rows in the same order,
    `question_id` and `wanted`, sorted ids of the chunks that find a gold group which no arm has
    within depth (of a split group, those that overlap it most) and that the filter leaves; empty
    where nothing is missed, the question is unanswerable, or an arm has no result.
    """

    def __init__(self, pipeline: Pipeline, *, full: float) -> None:
        self.pipeline, self.full = pipeline, full

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        scene = Scene(batch, self.pipeline, full=self.full)
        outputs = [arm.output for arm in self.pipeline.arms]
        asked = bools(combined(batch["answerable"]), True).copy()
        for stage in outputs:
            asked &= scene.outcome[stage] == OK
        needed = scene.groups.gold & asked[scene.groups.row] & ~scene.held(*outputs)
        chunk, group = scene.holders
        chunk = np.unique(chunk[needed[group]])
        passages = scene.corpus.passages
        wanted = pl.DataFrame(
            {
                "row": passages.row[chunk],
                "chunk_id": pl.Series(passages.items.field("chunk_id").take(pa.array(chunk))),
            }
        ).sort("row", "chunk_id")
        ids = wanted["chunk_id"].to_arrow().cast(pa.large_string())
        column = lists(wanted["row"].to_numpy(), ids, batch.num_rows)
        return pa.table({"question_id": batch["question_id"], "wanted": column})
