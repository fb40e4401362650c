"""Somebody else's trace: what is gold without documents, and what a batch of questions scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.answer.refusals import Counted
from rayeval.chunk.tokens import Tokenizer
from rayeval.chunk.tokens import build as build_tokenizer
from rayeval.columns import combined, lists
from rayeval.golden.stated import Stated
from rayeval.interop.own.chunks import tables as chunk_tables
from rayeval.interop.own.trace import Trace
from rayeval.marked import TRACE
from rayeval.metrics.config import Metrics
from rayeval.metrics.failure.first_failure import FAILURES, FirstFailure
from rayeval.metrics.foreign.blind import FLAGS
from rayeval.metrics.foreign.checks import Fault, faults, unknown_chunks
from rayeval.metrics.foreign.chunks import Chunks
from rayeval.metrics.foreign.columns import Seen, columns_of
from rayeval.metrics.foreign.hits import Hits, by_score, hits_of
from rayeval.metrics.foreign.kept import KEPT, kept, names_of
from rayeval.metrics.foreign.places import Known
from rayeval.metrics.names import Measure
from rayeval.metrics.per_query import PerQuery, by_question
from rayeval.metrics.pipeline import Pipeline
from rayeval.registry.claims import misplaced_names
from rayeval.registry.located import placed
from rayeval.registry.packing import in_place, packed
from rayeval.registry.produced import Produced
from rayeval.stage import Shard, Stage
from rayeval.stated import trusted
from rayeval.tables import TEXT

PROBLEM = pa.struct([("kind", TEXT), ("message", TEXT), ("warning", pa.bool_())])
READ = ("question_id", "answerable", "labels", "evidence", "required_aspects")
"""What scoring reads of a question."""
SAID = ("reference_answer", "answers", "answers.error", "judged", "judged.error")
"""What it reads besides where the trace has answers, and a judge's verdicts on them."""
EVERY = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Scoring:
    """How a trace is scored."""

    paths: tuple[str, ...]
    """Parquet files in order of questions."""
    stages: tuple[str, ...]
    pipeline: Pipeline
    metrics: Metrics
    any_order: bool = False
    """Hits are ordered by their scores, whatever order they are listed in."""
    depth: int | None = None
    """How many hits of a list the run keeps; None: all."""
    handed: str | None = None
    """The stage whose hits answers were handed: all of them are kept."""
    refusals: Counted = "whole"
    """Which answers are refusals where the trace doesn't say."""
    chunks: tuple[str, ...] = ()
    """Parquet files of chunks that hits may name."""

    @cached_property
    def numbers(self) -> PerQuery:
        """What computes the metrics."""
        return PerQuery(self.metrics, self.pipeline)

    @property
    def measures(self) -> list[Measure]:
        """What is measured at any stage."""
        return [m for stage in self.stages for m in self.numbers.measures_of(stage)]

    @property
    def counts_tokens(self) -> bool:
        """Whether a metric needs the tokens of hits."""
        return any(m.cutoff is None or m.cutoff.tokens for m in self.measures)

    @property
    def schema(self) -> pa.Schema:
        """A row per question: rows of the run's tables as list columns."""
        own = self.numbers
        packed = {"per_query": own.schema, "failures": FAILURES}
        packed |= {"per_answer": own.answers_schema} if self.pipeline.answers else {}
        return pa.schema(
            [
                ("question_id", TEXT),
                *((n, pa.list_(pa.struct(list(rows)[1:]))) for n, rows in packed.items()),
                *KEPT,
                *((name, pa.bool_()) for name in FLAGS),
                ("file", TEXT),
                ("line", pa.int64()),
                ("problems", pa.list_(PROBLEM)),
                ("error", TEXT),
            ]
        )


def stated(config: Metrics, shard: Shard) -> Stage:
    """Evidence as it is stated, without documents."""
    return Stated(relevant=config.relevant, full=config.full)


def nothing(schema: pa.Schema, shard: Shard) -> Produced:
    """An empty table: of a corpus that is not there."""
    yield schema.empty_table(), ()


def scorer(config: Scoring, tokenizer: Tokenizer, corpus: bool, shard: Shard) -> Scorer:
    """Questions → what the trace has of them, scored."""
    count = build_tokenizer(tokenizer).counts if config.counts_tokens else None
    if not corpus:
        return Scorer(config, Known(_chunks(config.chunks), count=count))
    wrong = misplaced_names(shard)
    catalogue = shard.table("catalogue")
    wanted = catalogue.filter(catalogue["current"]).select(["source_id", "revision_id", "chars"])
    located = Chunks([placed(shard.table("texts"))])
    documents = pl.DataFrame(pl.from_arrow(wanted))
    chunks = _chunks(config.chunks, wrong)
    said = None if count is None else Chunks([_counts(shard.table("span_tokens"))])
    return Scorer(config, Known(chunks, located, documents, count, wrong, said))


def _counts(tokens: pa.Table) -> pa.Table:
    return pa.table({"chunk_id": tokens["question_id"], "tokens": tokens["tokens"]})


def _chunks(paths: Sequence[str], wrong: pa.Array | None = None) -> Chunks | None:
    """The chunk table; those that don't stand where they say are text alone."""
    if not paths:
        return None
    if wrong is None or not len(wrong):
        return Chunks(chunk_tables(paths))
    whole = (combined(table.to_struct_array()) for table in chunk_tables(paths))
    return Chunks(pa.Table.from_struct_array(trusted(items, wrong)) for items in whole)


class Scorer:
    """A row per question: its numbers, its first failure, the hits that the run keeps."""

    def __init__(self, config: Scoring, known: Known) -> None:
        self.config, self.known = config, known
        self.trace = Trace(config.paths)
        self.failures = FirstFailure(config.pipeline, full=config.metrics.full)
        self.deep = deep(config)
        self.counted = np.array([_counted(config, stage) for stage in config.stages])

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        config, n = self.config, batch.num_rows
        ordered = by_question(batch.select([n for n in batch.column_names if n in (*READ, *SAID)]))
        full, hits, seen, found = self.read(ordered)
        ids = ordered["question_id"]
        rows = {"per_query": config.numbers(full), "failures": self.failures(full)}
        rows |= {"per_answer": config.numbers.answers(full)} if config.pipeline.answers else {}
        table = pa.table(
            {
                "question_id": ids,
                **{name: packed(found, ids) for name, found in rows.items()},
                **self.kept(hits, seen, n),
                **seen.flags,
                "file": pa.array([TRACE] * n, TEXT),
                "line": pa.nulls(n, pa.int64()),
                "problems": _problems(found, n),
                "error": pa.nulls(n, TEXT),
            }
        )
        return table.take(in_place(ids, batch["question_id"]))

    def kept(self, hits: Hits, seen: Seen, n: int) -> dict[str, pa.Array]:
        """Columns of KEPT: what the run keeps of the hits."""
        config = self.config
        depth = EVERY if config.depth is None else config.depth
        depths = [EVERY if stage == config.handed else depth for stage in config.stages]
        names = pa.array(config.stages, TEXT)
        return kept(hits, seen.hits, seen.places, names, depths, n)

    def read(self, ordered: pa.Table) -> tuple[pa.Table, Hits, Seen, list[Fault]]:
        """The batch of metrics and failures, of questions by id; the hits, and their faults."""
        config, stages = self.config, self.config.stages
        ids = combined(ordered["question_id"])
        hits = hits_of(self.trace.rows(ids), ids, stages)
        found = list(faults(hits, stages, any_order=config.any_order))
        hits = self.known.trusted(by_score(hits) if config.any_order else hits)
        seen = columns_of(hits, ordered, stages, self.deep, self.known, self.counted)
        if self.known.chunks is not None:
            found += unknown_chunks(hits, stages, seen.unknown)
        columns = dict(zip(ordered.column_names, ordered.columns, strict=True)) | seen.columns
        if config.pipeline.answers:  # they name chunks as the kept trace does
            named = seen.places.structs(names_of(seen.hits, seen.places))
            columns["passages"] = lists(seen.hits.row, named, ordered.num_rows)
        return pa.table(columns), hits, seen, found


def deep(config: Scoring) -> list[int]:
    """Of every stage, how many first hits must be passages: all where tokens are counted."""
    least = EVERY if config.depth is None else config.depth
    result = []
    for stage in config.stages:
        whole = stage == config.handed or _counted(config, stage)
        result.append(EVERY if whole else least)
    return result


def _counted(config: Scoring, stage: str) -> bool:
    """Whether a metric needs the tokens of the stage's hits."""
    return any(m.cutoff is None or m.cutoff.tokens for m in config.numbers.measures_of(stage))


def _problems(found: Sequence[Fault], n: int) -> pa.Array:
    ordered = sorted(found, key=lambda fault: (fault.row, fault.kind, fault.message))
    items = [{"kind": f.kind, "message": f.message, "warning": False} for f in ordered]
    rows = np.array([f.row for f in ordered], np.int64)
    return lists(rows, pa.array(items, PROBLEM), n)
