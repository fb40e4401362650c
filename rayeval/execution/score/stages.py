"""The stages of a trace: their order, and what kind each is (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.execution.config import RunConfig
from rayeval.execution.load import validated
from rayeval.execution.plan.judged import LATER, kind_of
from rayeval.execution.runs import MANIFEST
from rayeval.metrics.pipeline import Arm, Later, Pipeline

LAST = ("fused", "reranked", "context")
"""rayeval's own names of stages, in its pipeline's order."""


def in_order(names: pa.Table) -> list[str]:
    """The stages of a trace, each after those that some question has before it.

    names: `question_id, stage` of every row, a question's stages in the pipeline's order.
    """
    frame = pl.DataFrame(pl.from_arrow(names)).drop_nulls("stage")
    first = frame["stage"].unique(maintain_order=True).to_list()
    pairs = frame.select(
        before="stage",
        after=pl.col("stage").shift(-1),
        same=pl.col("question_id") == pl.col("question_id").shift(-1),
    )
    pairs = pairs.filter(pl.col("same") & (pl.col("before") != pl.col("after")))
    after: dict[str, set[str]] = {stage: set() for stage in first}
    for before, later in pairs.select("before", "after").unique().iter_rows():
        after[later].add(before)
    ordered: list[str] = []
    while len(ordered) < len(first):
        left = [stage for stage in first if stage not in ordered]
        free = [stage for stage in left if after[stage] <= set(ordered)]
        ordered.append((free or left)[0])
    return ordered


def pipeline_of(stages: Sequence[str], config: RunConfig | None) -> Pipeline:
    """What is known of the stages: by the configuration of the run whose trace it is, or by name.

    Stages before `fused` are arms side by side; elsewhere one stage works on what the one before
    it found.
    """
    arms = [] if config is None else _arms(stages, config)
    known = {stage for arm in arms for stage in arm.stages}
    if "fused" in stages:
        before = stages[: list(stages).index("fused")]
        arms += [Arm(s, "unknown", None, s) for s in before if s not in known and s not in LAST]
        known.update(before)
    later = [LATER.get(stage, Later(stage, "unknown")) for stage in stages if stage not in known]
    return Pipeline(tuple(arms), tuple(later))


def _arms(stages: Sequence[str], config: RunConfig) -> list[Arm]:
    """The arms of a run all of whose stages are in the trace."""
    arms = [kind_of(name, arm) for name, arm in config.retrieve.arms.items()]
    return [arm for arm in arms if set(arm.stages) <= set(stages)]


def own_config(path: str) -> RunConfig | None:
    """The configuration of the run whose `trace.parquet` this is; None of any other file."""
    folder, _, name = path.rpartition("/")
    manifest = f"{folder}/{MANIFEST}"
    if name != "trace.parquet" or not files.exists(manifest):
        return None
    try:
        value: Mapping[str, Any] = files.read_json(manifest)
    except ValueError:
        return None
    config = value.get("config")
    return (
        validated(config, manifest) if isinstance(config, dict) and "retrieve" in config else None
    )
