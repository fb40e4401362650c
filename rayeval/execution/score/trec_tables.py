"""The tables of a run that was scored as trec_eval scores it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Floats, Ints, lists
from rayeval.execution.artifacts import PASSAGE, TRACE
from rayeval.metrics import AGGREGATE, FAILURES
from rayeval.metrics.names import Measure
from rayeval.metrics.ranking import NEVER
from rayeval.metrics.spans import Bools
from rayeval.metrics.sums import exact_sums, mean
from rayeval.metrics.trec.names import COUNTS
from rayeval.metrics.trec.ranks import Grouped, Judged
from rayeval.tables import LOCATED, RESOLVED, TEXT, conform

STAGE = "trace"
BLOCK = 1024
"""Queries to a row group of the trace."""
QUESTIONS = pa.schema([field for field in RESOLVED if field.name not in ("file", "line")])


def questions(judged: Judged, relevant: int) -> pa.Table:
    """Of schema RESOLVED; evidence are the judged documents, each a group of its own."""
    n, size = len(judged.queries), len(judged.query)
    gold = judged.grade >= relevant
    evidence = pl.DataFrame(
        {
            "evidence_id": _names(judged),
            "group_id": _names(judged),
            "source_id": judged.documents,
            "relevance": judged.grade,
            "gold": gold,
        }
    ).with_columns(found=pl.lit("located"), visible=pl.lit(True), whole=pl.lit(False))
    located = conform(
        _filled(evidence.to_arrow(), pa.schema(list(LOCATED))), pa.schema(list(LOCATED))
    )
    struct = located.to_struct_array().combine_chunks() if size else pa.array([], LOCATED)
    first = _first(judged.query, gold, n)
    own = judged.documents.gather(np.maximum(first, 0)) if size else judged.queries
    frame = pl.DataFrame({"question_id": judged.queries, "answerable": first >= 0, "own": own})
    frame = frame.with_columns(
        question=pl.lit(""),  # a run and its judgements don't say
        origin=pl.lit("unknown"),
        validated=pl.lit(False),
        labels=pl.lit("partial"),
        cluster=pl.when("answerable").then("own").otherwise("question_id"),
    )
    table = frame.to_arrow().append_column("evidence", lists(judged.query, struct, n))
    return conform(_filled(table, QUESTIONS), QUESTIONS)


def per_query(judged: Judged, values: Mapping[str, Floats]) -> pa.Table:
    """A row per query, by id; those that the run lacks are `missing`."""
    frame = pl.DataFrame({"question_id": judged.queries, "there": judged.returned > 0})
    status = pl.when("there").then(pl.lit("ok")).otherwise(pl.lit("missing"))
    table = frame.select("question_id", stage=pl.lit(STAGE), status=status).to_arrow()
    table = conform(table, pa.schema([(name, TEXT) for name in table.column_names]))
    for name, value in values.items():
        table = table.append_column(name, pa.array(value))
    return table


def aggregate(
    judged: Judged, measures: Sequence[Measure], values: Mapping[str, Floats]
) -> pa.Table:
    """AGGREGATE: what trec_eval prints for `all` under -c: means, but sums of counts.

    A query that the run lacks scores 0; it counts in the mean, and in `n_missing`.
    """
    n, missing = len(judged.queries), int((judged.returned == 0).sum())
    rows = []
    for measure in measures:
        name, value = measure.metric.name, values[measure.name]
        if name == "num_rel":  # trec_eval adds up grades from 1 on here, whatever -l says
            value = np.bincount(judged.query, judged.grade >= 1, minlength=n).astype(np.float64)
        [total] = exact_sums(value, np.zeros(n, np.int64), 1)
        counts = {"n": n, "n_undefined": 0, "n_missing": missing, "n_error": 0}
        average = mean(total, 1 if name in COUNTS else n)
        rows.append({"stage": STAGE, "metric": measure.name, "mean": average, **counts})
    return pa.Table.from_pylist(rows, schema=AGGREGATE)


def failures(judged: Judged, relevant: int) -> pa.Table:
    """FAILURES: a query succeeds if the run has all of its relevant documents, at any rank."""
    n = len(judged.queries)
    gold = judged.grade >= relevant
    lost = _first(judged.query, gold & (judged.rank == NEVER), n)
    frame = pl.DataFrame(
        {
            "question_id": judged.queries,
            "answerable": _first(judged.query, gold, n) >= 0,
            "there": judged.returned > 0,
            "whole": lost < 0,
            "lost": _names(judged).gather(np.maximum(lost, 0)) if len(gold) else judged.queries,
        }
    ).filter("answerable")
    failed = pl.col("there") & ~pl.col("whole")
    seen, stage = pl.lit([STAGE]), pl.lit(STAGE)
    frame = frame.select(
        "question_id",
        status=pl.when(failed).then(pl.lit("failed"))
        .when("there").then(pl.lit("success")).otherwise(pl.lit("missing")),
        code=pl.when(failed).then(pl.lit("RETRIEVAL_MISSED_GOLD")),
        stage=pl.when(failed | ~pl.col("there")).then(stage),
        group_id=pl.when(failed).then("lost"),
        observed_stages=pl.when("there").then(seen).otherwise(pl.lit([], pl.List(pl.String))),
        reached_stages=pl.when(pl.col("there") & pl.col("whole")).then(seen)
        .otherwise(pl.lit([], pl.List(pl.String))),
    )  # fmt: skip
    return conform(_filled(frame.to_arrow(), FAILURES), FAILURES)


def trace(run: Grouped) -> Iterator[pa.Table]:
    """TRACE: every hit of the run in trec_eval's order, by query."""
    yield TRACE.empty_table()
    for first in range(0, len(run.start), BLOCK):
        start, end = run.start[first], run.end[min(first + BLOCK, len(run.end)) - 1]
        hits = run.hits[int(start) : int(end)]
        hits = hits.sort("query", "score", "document", descending=[False, True, True])
        rows = hits.group_by("query", maintain_order=True).agg(
            hits=pl.struct(chunk_id="document", score="score")
        )
        table = rows.select(question_id="query", stage=pl.lit(STAGE), hits="hits").to_arrow()
        yield conform(table, TRACE)


def passages(judged: Judged, run: Grouped | None) -> pa.Table:
    """PASSAGE: every judged document and every one of `run`; only their ids are known."""
    every = [judged.documents] if run is None else [judged.documents, run.hits["document"]]
    ids = pl.concat([documents.unique() for documents in every]).unique().sort()
    frame = pl.DataFrame({"chunk_id": ids, "source_id": ids}).with_columns(text=pl.lit(""))
    return conform(_filled(frame.to_arrow(), PASSAGE), PASSAGE)


def _filled(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with an empty list in every list column of `schema` that it lacks."""
    for field in schema:
        if field.name not in table.column_names and pa.types.is_list(field.type):
            column = lists(
                np.empty(0, np.int64), pa.array([], field.type.value_type), table.num_rows
            )
            table = table.append_column(field.name, column)
    return table


def _names(judged: Judged) -> pl.Series:
    """`e1`, `e2`, … within every query."""
    first = np.searchsorted(judged.query, np.arange(len(judged.queries)))
    number = pl.Series(np.arange(len(judged.query)) - first[judged.query] + 1)
    return pl.select(pl.format("e{}", number)).to_series()


def _first(query: Ints, flags: Bools, n: int) -> Ints:
    """(n,): each query's first judgement that is flagged; -1: none. query: sorted."""
    first = np.full(n, -1)
    at = np.flatnonzero(flags)[::-1]
    first[query[at]] = at
    return first
