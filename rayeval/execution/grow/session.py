"""Grading a run's unjudged hits: each grade is on disk, and in the figures, before the next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from rayeval import files
from rayeval.errors import ConfigError, InputError
from rayeval.execution.grow.judging import Figures, Judging
from rayeval.execution.grow.sharing import shares
from rayeval.execution.grow.sources import Row, Sources, later
from rayeval.execution.runs import Run
from rayeval.golden.file import GoldenFile, read_golden
from rayeval.golden.grow import labelled, next_version
from rayeval.golden.ledger import carry
from rayeval.golden.records import format_of
from rayeval.metrics import Metrics


@dataclass(frozen=True)
class Change:
    """What one grade did."""

    question_id: str
    chunk_id: str
    grade: int
    evidence: Mapping[str, Any]
    """As written to the golden set."""
    rank: int | None
    """In the run, and in the second one; null where the hit is not among the first ones there."""
    other_rank: int | None
    before: Figures
    after: Figures


@dataclass(frozen=True)
class _Done:
    """What brings back the state before a grade."""

    question_id: str
    row: Row
    evidence: list[Row]


@dataclass
class Session:
    """A run, its golden set, and the grades given.

    against: a second run; hits that only one of the two found come first.
    out: where the golden set is written; None: in its own place. One that is there is gone on with.
    """

    run: Run
    golden_path: str | None = None
    out: str | None = None
    stage: str | None = None
    k: int = 10
    against: Run | None = None
    changes: list[Change] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """How unjudged hits are known that can't become evidence, and how many; once `items` ran."""
    _done: list[_Done] = field(default_factory=list)
    _held: dict[str, Row] | None = None
    """Rows that are to be written together; None: each is written at once."""

    def __post_init__(self) -> None:
        source = self.golden_path or self.run.manifest.get("golden", {}).get("path")
        if source is None:
            raise InputError(f"run {self.run.run_id} names no golden set; say which with --golden")
        self.path = self.out or source
        if self.out is not None and format_of(self.out) != format_of(source):
            raise ConfigError(f"--out {self.out}: give it the format of {source}, by its extension")
        settings = self.run.manifest.get("config", {}).get("metrics") or {}
        self.relevant = Metrics.model_validate(settings).relevant
        there = self.path if files.exists(self.path) else source
        self.golden: GoldenFile = read_golden(there, relevant=self.relevant)
        self._unwritten = there != self.path
        versions = self.golden.questions["label_version"].to_pylist()
        self.version = next_version(versions)
        self.sources = Sources(self.run)
        self.judging = self._judging(self.run)
        self._other = None if self.against is None else self._judging(self.against)

    def _judging(self, run: Run) -> Judging:
        ids = self.golden.questions["question_id"].to_pylist()
        pairs = zip(ids, self.golden.questions["evidence"].to_pylist(), strict=True)
        new = later(run, pairs, Sources(run), relevant=self.relevant)
        return Judging(run, self.stage, self.k, new)

    def items(self) -> pl.DataFrame:
        """Every unjudged hit, those first on which the runs differ, then by question.

        A question's hits are shuffled by what they are: whoever grades is not to know how a run
        ranked them. Columns: `question_id`, `passage` (which one it is: its id may be another's in
        the second run), `rank` in the run, `other_rank` in the second (null where that one did not
        find it), `differs`, and those of the run's passages. Questions that
        the golden set lacks are left out, and hits that can't become evidence (`left_out`).
        """
        here = self.judging.unjudged()
        if self._other is None:
            found = here.with_columns(other_rank=pl.lit(None, pl.Int64), differs=pl.lit(False))
        else:
            there = self._other.unjudged().rename({"rank": "other_rank"})
            keys = ["question_id", "passage"]
            ranks = here.select(*keys, "rank").join(
                there.select(*keys, "other_rank"), on=keys, how="full", coalesce=True
            )
            differs = pl.col("rank").is_null() | pl.col("other_rank").is_null()
            places = pl.concat([here.drop("rank"), there.drop("other_rank")], how="diagonal")
            places = places.unique(keys, keep="first", maintain_order=True)
            found = ranks.join(places, on=keys, how="left").with_columns(differs=differs)
        both = [name for name in self.golden.rows if name in self.judging]
        found = found.filter(pl.col("question_id").is_in(both))
        found = self.sources.read(_shuffled(found))
        why = self.sources.unfit(found)
        self.left_out = dict(why.drop_nulls().value_counts(sort=True).rows())
        return found.filter(why.is_null())

    def called(self, question_id: str, chunk_id: str) -> list[Row]:
        """The hits of the question, at any stage, that a run calls so: in each run it may be
        another passage."""
        sides = [side for side in (self.judging, self._other) if side is not None]
        found = [self.sources.read(side.hit(question_id, chunk_id)).to_dicts() for side in sides]
        return list({row["passage"]: row for rows in found for row in rows}.values())

    def open(self, item: Mapping[str, Any]) -> bool:
        """Whether the hit still shares no character with what is labelled."""
        labelled = self.judging.evidence(item["question_id"])
        return not any(shares(item, known) for known in labelled)

    def unfit(self, item: Mapping[str, Any]) -> str | None:
        """Why a hit can't become evidence; None if it can."""
        names = ("source_id", "spans", "text")
        schema = {name: self.run.passages.schema[name] for name in names}
        row = [{name: item[name] for name in names}]
        [why] = self.sources.unfit(pl.DataFrame(row, schema))
        return None if why is None else str(why)

    def groups(self, question_id: str) -> dict[str, list[Row]]:
        """The groups that have gold, each with it: a passage may be an alternative to one."""
        row = self._row(question_id)
        found: dict[str, list[Row]] = {}
        for entry in self.golden.evidence(question_id, row):
            if entry["relevance"] >= self.relevant:
                found.setdefault(entry["group_id"], []).append(entry)
        return found

    def grade(self, item: Mapping[str, Any], grade: int, group: str | None = None) -> Change:
        """Writes the grade of one hit, and takes it into the figures.

        group: the group that a relevant hit is an alternative to, or the name of a new one; None:
        a fact of its own.
        Raises DataError if the row could not be so, InfrastructureError if it can't be written.
        """
        name = item["question_id"]
        row = self._row(name)
        known = self.golden.evidence(name, row)
        new_row, new = labelled(
            row,
            known,
            self.sources.evidence(item),
            relevance=grade,
            relevant=self.relevant,
            group=group if grade >= self.relevant else None,
            version=self.version,
        )
        entry = self.golden.evidence(name, new_row)[-1]
        located = self.sources.located(entry, relevant=self.relevant)
        if located is None:
            raise InputError(f"{name}: the hit {item['chunk_id']} is known {self.unfit(item)}")
        before = self.judging.figures(name)
        had = self.judging.evidence(name)
        self._write(name, new_row)
        self._done.append(_Done(name, row, had))
        located["revision_id"] = item["revision_id"]
        self.judging.relabel(name, [*had, located])
        ranks = self._ranks(name, item["passage"])
        after = self.judging.figures(name)
        change = Change(name, item["chunk_id"], grade, new, *ranks, before, after)
        self.changes.append(change)
        return change

    def _ranks(self, question_id: str, passage: int) -> tuple[int | None, int | None]:
        """In the run and in the second one."""
        there = None if self._other is None else self._other.rank(question_id, passage)
        return self.judging.rank(question_id, passage), there

    def undo(self) -> Change | None:
        """Takes the last grade back; None if there is none."""
        if not self._done:
            return None
        last = self._done.pop()
        self._write(last.question_id, last.row)
        self.judging.relabel(last.question_id, last.evidence)
        return self.changes.pop()

    def _write(self, question_id: str, row: Row) -> None:
        if self._unwritten:
            files.write_bytes(self.path, files.read_bytes(self.golden.path))
            carry(self.golden.path, self.path)
            self.golden = read_golden(self.path, relevant=self.relevant)
            self._unwritten = False
        if self._held is None:
            self.golden = self.golden.replace({question_id: row})
        else:
            self._held[question_id] = row

    def _row(self, question_id: str) -> Row:
        """The question as it stands, or will when what is held is written."""
        held = (self._held or {}).get(question_id)
        return self.golden.rows[question_id][1] if held is None else held

    @contextmanager
    def together(self) -> Iterator[None]:
        """Grades given meanwhile are written at its end, all at once or none."""
        self._held = {}
        try:
            yield
            if self._held:
                self.golden = self.golden.replace(self._held)
        finally:
            self._held = None


def _shuffled(hits: pl.DataFrame) -> pl.DataFrame:
    """Those first on which the runs differ, by question; then in an order that says nothing."""
    pairs = hits.select("question_id", "passage").iter_rows()
    drawn = [hashlib.sha256(f"{name}\0{one}".encode()).hexdigest() for name, one in pairs]
    order = [pl.col("differs").not_(), pl.col("question_id"), pl.col("drawn")]
    return hits.with_columns(drawn=pl.Series(drawn, dtype=pl.String)).sort(order).drop("drawn")
