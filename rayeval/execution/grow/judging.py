"""A run's hits at one stage against labels that grow: what is unjudged, and what it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.errors import RunError
from rayeval.execution.runs import Run
from rayeval.metrics import Later, Metrics, PerQuery, Pipeline, Totals
from rayeval.report.gold import places, unjudged_in
from rayeval.report.holding import holds
from rayeval.report.identity import identities
from rayeval.tables import HITS, RESOLVED, TEXT, conform

Row = dict[str, Any]
MEASURED = ("recall", "ndcg", "judged")
"""What a grade changes, at the cutoff that is labelled."""


@dataclass(frozen=True)
class Figures:
    """What the run scores at the stage; NaN where undefined, null where nothing counts."""

    question: Mapping[str, float]
    mean: Mapping[str, float | None]


class Judging:
    """The top `k` of one stage of a run.

    evidence: question_id → evidence (tables.LOCATED) that its golden set has got since the run.
    """

    def __init__(
        self, run: Run, stage: str | None, k: int, evidence: Mapping[str, Sequence[Row]]
    ) -> None:
        self.run, self.k = run, k
        self.stage = _stage(run, stage)
        batch = _with_evidence(_batch(run, self.stage, k), evidence)
        self._batch = batch.append_column("holds", holds(batch, run))
        settings = run.manifest.get("config", {}).get("metrics") or {}
        names = [f"{name}@{k}" for name in MEASURED]
        self.config = Metrics.model_validate({**settings, "names": names})
        self._numbers = PerQuery(self.config, Pipeline((), (Later(self.stage, "unknown"),)))

    @cached_property
    def _per_query(self) -> pa.Table:
        return self._numbers(self._batch)

    def evidence(self, question_id: str) -> list[Row]:
        """All that is labelled of a question, as tables.LOCATED."""
        found: list[Row] = self._batch["evidence"][self._row(question_id)].as_py()
        return found

    def relabel(self, question_id: str, evidence: Sequence[Row]) -> None:
        """Takes `evidence` (tables.LOCATED) as all that is labelled of the question."""
        row = self._row(question_id)
        batch = _set(self._batch.slice(row, 1), "evidence", [list(evidence)])
        batch = _set(batch, "holds", holds(batch, self.run).to_pylist())
        self._batch = _put(self._batch, row, batch)
        self.__dict__["_per_query"] = _put(self._per_query, row, self._numbers(batch))

    def figures(self, question_id: str) -> Figures:
        """The question's numbers and the means over all questions, with the labels as they are."""
        names = self._numbers.names
        own = self._per_query.slice(self._row(question_id), 1).to_pylist()[0]
        totals = Totals(self._numbers.measured)
        totals.add(self._per_query, self._batch)
        means = {row["metric"]: row["mean"] for row in totals.aggregate().to_pylist()}
        return Figures({name: own[name] for name in names}, {name: means[name] for name in names})

    def unjudged(self) -> pl.DataFrame:
        """Hits in the top k, of answerable questions with partial labels, that share no character
        with evidence of any grade, each passage once: `question_id, rank, passage` (which one it
        is, as `identities` has it) and the columns of the run's passages."""
        stages = [self.stage]
        found = unjudged_in(self._batch, stages, self.run, self.config.full, self.k).drop("stage")
        keys = ["question_id", "passage"]
        found = found.sort("rank").unique(keys, keep="first", maintain_order=True)
        return found.join(self.run.passages, on="chunk_id", how="left", maintain_order="left")

    def hit(self, question_id: str, chunk_id: str) -> pl.DataFrame:
        """What the run found for the question at any stage and calls so: none, or one row as
        `unjudged` has it, but for its rank."""
        rows = self.run.trace.filter(pl.col("question_id") == question_id)
        ids = rows["hits"].explode().struct.field("chunk_id")
        found = self.run.passages.filter(pl.col("chunk_id") == chunk_id).head(chunk_id in ids)
        return found.with_columns(identities(found, self.run), question_id=pl.lit(question_id))

    def rank(self, question_id: str, passage: int) -> int | None:
        """Where among the first hits of the stage it stands, from 1; None if it is none of them.

        passage: which one it is, as `identities` has it.
        """
        if question_id not in self:
            return None
        hits = self._batch[self.stage][self._row(question_id)].as_py() or ()
        ids = [hit["chunk_id"] for hit in hits]
        known = self.run.passages.filter(pl.col("chunk_id").is_in(ids))
        same = known.filter(identities(known, self.run) == passage)["chunk_id"].to_list()
        return next((rank for rank, name in enumerate(ids, 1) if name in same), None)

    def __contains__(self, question_id: object) -> bool:
        return question_id in self._rows

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._batch["question_id"].to_pylist())}

    def _row(self, question_id: str) -> int:
        return self._rows[question_id]


def _stage(run: Run, wanted: str | None) -> str:
    stages = run.manifest["stages"]
    if wanted is not None and wanted not in stages:
        raise RunError(f"run {run.run_id} has no stage {wanted!r}; it has {', '.join(stages)}")
    return str(wanted or stages[-1])


def _batch(run: Run, stage: str, k: int) -> pa.Table:
    """Every question that the stage was run for, by id, with its first `k` hits and places."""
    status = run.per_query.filter(pl.col("stage") == stage).select("question_id", "status")
    hits = run.trace.filter(pl.col("stage") == stage)
    hits = hits.select("question_id", pl.col("hits").list.head(k).alias(stage))
    questions = run.questions.join(status, on="question_id", how="left")
    questions = questions.filter(pl.col("status").ne_missing("not_run")).sort("question_id")
    rows = questions.join(hits, on="question_id", how="left", maintain_order="left")
    failed = pl.when(pl.col("status") == "error").then(pl.lit("error"))
    rows = rows.with_columns(failed.alias(f"{stage}.error"))
    kept = [field for field in RESOLVED if field.name not in ("file", "line")]
    schema = pa.schema([*kept, (stage, HITS), (f"{stage}.error", TEXT)])
    table = conform(rows.to_arrow(), schema).combine_chunks()
    return table.append_column("passages", places(table, [stage], run))


def _with_evidence(batch: pa.Table, evidence: Mapping[str, Sequence[Row]]) -> pa.Table:
    """The batch with evidence that came later."""
    ids = batch["question_id"].to_pylist()
    if not any(name in evidence for name in ids):
        return batch
    known = batch["evidence"].to_pylist()
    every = [[*old, *evidence.get(name, ())] for name, old in zip(ids, known, strict=True)]
    return _set(batch, "evidence", every)


def _set(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    """The table with other values in a column."""
    number = table.schema.get_field_index(name)
    field = table.schema.field(number)
    return table.set_column(number, field, pa.array(values, field.type))


def _put(table: pa.Table, row: int, new: pa.Table) -> pa.Table:
    """The table with another row in the place of `row`."""
    parts = [table.slice(0, row), new.cast(table.schema), table.slice(row + 1)]
    return pa.concat_tables(parts).combine_chunks()
