"""All that a score says of its trace, and when it refuses to say a number."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten
from rayeval.errors import DataError, Problem
from rayeval.execution import artifacts
from rayeval.execution import inputs as outputs
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.contradicted import contradicted, unknown_sources
from rayeval.execution.score.flagged import repeating, uncounted
from rayeval.execution.score.guessed import out_of_nothing
from rayeval.execution.score.looking import Looked
from rayeval.execution.score.plan import ScorePlan
from rayeval.execution.score.said import like_refusals, refuse_blind, unplaced, used_again
from rayeval.execution.score.sources import otherwise
from rayeval.execution.step import Step
from rayeval.execution.store import read
from rayeval.metrics.foreign.blind import FLAGS
from rayeval.metrics.pipeline import Pipeline

FAILED = "failures.parquet"


def walk_warnings(root: str, plan: ScorePlan, pipeline: Pipeline) -> Iterator[str]:
    """Warnings of what the first failures of all questions show of the stages."""
    yield from out_of_nothing(pipeline, artifacts.parts(root, dict(plan.tables)[FAILED].key))


def warnings_of(root: str, plan: ScorePlan, config: ScoreConfig) -> Iterator[str]:
    """Warnings of what the score could not make full use of: all that `scored` tells.

    Raises DataError where it could make none.
    """
    flags = _column(root, plan.scored, "question_id", *FLAGS)
    names = config.metrics.names
    whole = names is not None and all(name.startswith("source_recall") for name in names)
    refuse_blind(flags, config.trace.name, sources_alone=whole)
    yield from repeating(flags)
    yield from uncounted(flags, documents=plan.looked is not None)
    passages = _passages(root, plan)
    yield from used_again(passages.select("chunk_id", "text"))
    sources, touched = passages["source_id"], bool(pc.any(flags["touched"]).as_py())
    if plan.looked is not None:
        yield from _looked(root, plan, plan.looked, sources, touched, config)
    else:
        yield from otherwise(_gold(root, plan), sources, config.trace.name, touched=touched)
    if plan.answers is not None:
        asked, told = (
            pl.DataFrame(pl.from_arrow(_column(root, step, "question_id", name)))
            for step, name in ((plan.resolved, "answerable"), (plan.answers, "counts"))
        )
        yield from like_refusals(told.join(asked, on="question_id"), config.trace.refusals)


def _looked(
    root: str,
    plan: ScorePlan,
    looked: Looked,
    sources: pl.Series,
    touched: bool,
    config: ScoreConfig,
) -> Iterator[str]:
    """What the documents say of the trace.

    sources: of the kept hits. touched: whether a hit lies in a source in which its question has
    evidence.
    """
    misplaced = _column(root, looked.misplaced)
    catalogue = _column(root, plan.catalogue, "source_id")
    corpus = pl.Series(catalogue["source_id"], dtype=pl.String).unique()
    lost = unknown_sources(misplaced, corpus)
    if lost is not None:
        if not touched and not sources.is_in(corpus.implode()).any():
            problem = Problem(config.trace.name, None, None, "unknown_sources", lost)
            raise DataError([problem])
        yield lost
    stated = _column(root, looked.claims, "lacks").num_rows
    yield from contradicted(misplaced, stated)
    yield from unplaced(read(path) for path in outputs.paths(root, looked.anchored.key))


def _gold(root: str, plan: ScorePlan) -> pl.Series:
    """The sources of all evidence, each once; null where one names none."""
    evidence = _column(root, plan.resolved, "evidence")["evidence"]
    return pl.Series(flatten(evidence)[1].field("source_id"), dtype=pl.String).unique()


def _column(root: str, step: Step, *names: str) -> pa.Table:
    """Columns of a step's output; without names all of them."""
    paths = outputs.paths(root, step.key)
    return pa.concat_tables(read(path, list(names) or None) for path in paths)


def _passages(root: str, plan: ScorePlan) -> pl.DataFrame:
    """`chunk_id, source_id, text` of the kept hits, each once."""
    found = pl.DataFrame(schema=dict.fromkeys(("chunk_id", "source_id", "text"), pl.String))
    for path in outputs.paths(root, plan.scored.key):
        _, hits = flatten(read(path, ["passages"])["passages"])
        columns = {name: pl.Series(hits.field(name), dtype=pl.String) for name in found.columns}
        found = pl.concat([found, pl.DataFrame(columns).unique()]).unique()
    return found
