"""The stages of a trace: what each one does, and their order (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.errors import ConfigError
from rayeval.execution.config import RunConfig
from rayeval.execution.load import validated
from rayeval.execution.plan.judged import LATER, kind_of
from rayeval.execution.runs import MANIFEST
from rayeval.execution.score.config import ROLES, Role
from rayeval.metrics.pipeline import Arm, Later, Pipeline

NAMED: Mapping[str, Role] = {
    **dict.fromkeys(("bm25", "dense", "dense_exact", "dense_ann"), "arm"),
    "fused": "fused",
    "reranked": "reranked",
    "context": "context",
}
"""Names of stages that say what the stage does: rayeval's own."""
Roles = Mapping[str, Role]
"""Stage → what it does; of any other stage nobody knows."""


@dataclass(frozen=True)
class Order:
    """The stages of a trace in the order of the pipeline."""

    stages: tuple[str, ...]
    doubtful: tuple[str, ...]
    """Those of unknown role that some question lists on the other side of a neighbour."""


def roles_of(stages: Sequence[str], own: RunConfig | None, given: Roles) -> Roles:
    """What is known of the stages: as the caller says, else by the configuration of the run whose
    trace it is, else by name.

    Raises ConfigError for the role of a stage that the trace has not.
    """
    if strange := [stage for stage in given if stage not in stages]:
        raise ConfigError(
            f"role of {strange[0]!r}: the trace has no such stage; it has {', '.join(stages)}"
        )
    arms = [] if own is None else _arms(stages, own)
    configured: Roles = dict.fromkeys((name for arm in arms for name in arm.stages), "arm")
    known = {**NAMED, **configured, **given}
    return {stage: known[stage] for stage in stages if stage in known}


def names_of(names: pa.Table) -> list[str]:
    """The stages of a trace as they come; `names` as for `in_order`."""
    found: list[str] = pl.Series(names["stage"]).drop_nulls().unique(maintain_order=True).to_list()
    return found


def in_order(names: pa.Table, roles: Roles) -> Order:
    """Every stage: known ones by their roles, the others after those that questions list before.

    names: `question_id, stage` of every row. Where questions contradict each other, or a role, the
    stage that comes first in the trace goes first.
    """
    first, pairs = names_of(names), _neighbours(names)
    rank = {stage: ROLES.index(role) for stage, role in roles.items()}
    after: dict[str, set[str]] = {stage: set() for stage in first}
    for before, later in pairs:
        if before not in rank or later not in rank or rank[before] == rank[later]:
            after[later].add(before)
    left, ordered = list(first), dict[str, int]()
    while left:
        lowest = min((rank[stage] for stage in left if stage in rank), default=0)
        allowed = [stage for stage in left if rank.get(stage, lowest) == lowest]
        free = [stage for stage in allowed if after[stage] <= ordered.keys()]
        ordered[(free or allowed)[0]] = len(ordered)
        left.remove((free or allowed)[0])
    odd = {stage for pair in pairs if ordered[pair[0]] > ordered[pair[1]] for stage in pair}
    return Order(tuple(ordered), tuple(s for s in ordered if s in odd and s not in rank))


def _neighbours(names: pa.Table) -> list[tuple[str, str]]:
    """(stage, the stage that some question lists next), each pair once."""
    frame = pl.DataFrame(pl.from_arrow(names)).drop_nulls("stage")
    pairs = frame.select(
        before="stage",
        after=pl.col("stage").shift(-1),
        same=pl.col("question_id") == pl.col("question_id").shift(-1),
    )
    pairs = pairs.filter(pl.col("same") & (pl.col("before") != pl.col("after")))
    return pairs.select("before", "after").unique(maintain_order=True).rows()


def pipeline_of(stages: Sequence[str], roles: Roles, own: RunConfig | None = None) -> Pipeline:
    """Arms side by side, then one stage after another.

    stages: in order. Nothing comes before an arm, so what stands before one, or before `fused`, is
    an arm too; any other stage of unknown role works on what the one before it found.
    """
    configured = [] if own is None else _arms(stages, own)
    arms = [arm for arm in configured if all(roles[stage] == "arm" for stage in arm.stages)]
    known = {stage for arm in arms for stage in arm.stages}
    places = {role: at for at, role in enumerate(map(roles.get, stages))}  # the last arm's
    first_fused = [at for at, stage in enumerate(stages) if roles.get(stage) == "fused"][:1]
    before = stages[: max(places.get("arm", 0), *first_fused, 0)]
    side = [s for s in stages if roles.get(s, "arm" if s in before else None) == "arm"]
    arms += [Arm(stage, "unknown", None, stage) for stage in side if stage not in known]
    later = [stage for stage in stages if stage not in side]
    return Pipeline(tuple(arms), tuple(_later(stage, roles.get(stage)) for stage in later))


def _later(stage: str, role: Role | None) -> Later:
    return Later(stage, "unknown" if role is None else LATER[role].kind)


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
