"""What a score says where it had to guess how the stages of a trace hang together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import polars as pl
import pyarrow as pa

from rayeval.metrics.pipeline import Pipeline
from rayeval.words import plural, verb

NAMED = 3


def out_of_order(doubtful: Sequence[str], pipeline: Pipeline) -> Iterator[str]:
    """A warning of stages that questions list in different places, or against known roles.

    doubtful: those of unknown role.
    """
    if doubtful:
        yield (
            f"questions list {', '.join(doubtful)} in different places, or where "
            f"{verb(len(doubtful), 'it', 'they')} can't be; taken as {_shape(pipeline)}. Say what "
            f"{verb(len(doubtful), 'it does', 'they do')}: --role {doubtful[0]}=arm, or fused, "
            "reranked, context"
        )


def out_of_nothing(pipeline: Pipeline, failures: Iterable[pa.Table]) -> Iterator[str]:
    """A warning of a stage of unknown role that finds gold which the one before it lacks.

    failures: tables of schema FAILURES. That it worked on what the one before it found is then no
    longer sure: they may be arms, side by side.
    """
    pairs = [
        (one.name, two.name) for one, two in pairwise(pipeline.later)
        if one.kind == two.kind == "unknown"
    ]  # fmt: skip
    names: dict[tuple[str, str], list[str]] = {pair: [] for pair in pairs}
    for table in failures if pairs else ():
        frame = pl.DataFrame(
            pl.from_arrow(table.select(["question_id", "observed_stages", "reached_stages"]))
        )
        reached = pl.col("reached_stages").list
        for one, two in pairs:
            odd = pl.col("observed_stages").list.contains(one) & ~reached.contains(one)
            names[one, two] += frame.filter(odd & reached.contains(two))["question_id"].to_list()
    for (one, two), found in names.items():
        if found:
            shown = ", ".join(found[:NAMED]) + (", …" if len(found) > NAMED else "")
            have = verb(len(found), "has", "have")
            yield (
                f"{plural(len(found), 'question')} ({shown}) {have} all gold at {two} and not at "
                f"{one}, which is listed before it. If they search side by side: "
                f"--role {one}=arm --role {two}=arm"
            )


def _shape(pipeline: Pipeline) -> str:
    """`bm25, dense side by side, then fused`."""
    arms = [stage for arm in pipeline.arms for stage in arm.stages]
    side = f"{', '.join(arms)}{' side by side' if len(arms) > 1 else ''}"
    return ", then ".join([*([side] if arms else []), *(stage.name for stage in pipeline.later)])
