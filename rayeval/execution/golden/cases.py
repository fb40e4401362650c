"""Every piece of evidence of a golden set, and what became of it in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.execution.reading import Reading
from rayeval.golden.anchor import Place
from rayeval.golden.anchors import EVIDENCE, KEY, sha256, stated
from rayeval.golden.follow import Outcome, follow
from rayeval.golden.moved import Move
from rayeval.golden.nearest import Near
from rayeval.golden.outcomes import nearest_source


@dataclass
class Case:
    """One piece of evidence; `settle` says what became of it.

    evidence: as in anchors.STATED. notes: of anchors.SCHEMA, by span.
    spans: where it is located as it is written; none where it isn't.
    """

    file: str
    line: int
    question_id: str
    evidence_id: str
    evidence: Mapping[str, Any]
    spans: list[Place]
    located: bool
    revision_id: str | None
    """The revision that it is about: the one it names, else the valid one; None: there is none."""
    notes: Sequence[Mapping[str, Any]]
    hint: str = ""
    """What its source may be called now, where there is none of its name."""
    outcome: Outcome = field(default_factory=lambda: Outcome("kept", []))
    new: str | None = None
    suggested: Sequence[Near] = ()
    """Where lost text may stand, the nearest first."""
    move: Move | None = None
    """What to write, where something is to be."""

    @property
    def renamable(self) -> bool:
        """Whether its source is gone, and the text that it had is known."""
        return (
            self.revision_id is None and self.evidence["source_id"] is not None and bool(self.notes)
        )

    @property
    def of_element(self) -> bool:
        """Whether an element locates it."""
        return self.evidence["element_id"] is not None

    @property
    def followed(self) -> bool:
        """Whether the text of its source decides: it names a source, and a place in it."""
        where = ("spans", "quote", "element_id")
        named = any(self.evidence[name] is not None for name in where)
        return named and self.evidence["source_id"] is not None and self.revision_id is not None

    def settle(self, text: str | None, elements: Mapping[str, Place] | None = None) -> None:
        """text: of its source, None where that doesn't decide. elements: in it, by id."""
        if text is None:
            self.outcome = Outcome("kept", self.spans) if self.located else self._gone()
            return
        same = bool(self.notes) and self.notes[0]["source_sha256"] == sha256(text)
        self.outcome = (
            Outcome("kept", self.spans)
            if same and self.spans
            else follow(text, self.evidence, self.notes, self.spans, elements)
        )
        status, places = self.outcome.status, self.outcome.places
        if status in ("ambiguous", "lost"):
            return
        self.new = "\n".join(text[start:end] for start, end in places)
        renamed = self.evidence["revision_id"] not in (None, self.revision_id)
        if self.outcome.element is not None:
            spans = None if self.evidence["spans"] is None else places
            self.move = Move(spans, self.new, str(self.revision_id), element=self.outcome.element)
        elif status in ("moved", "normalised"):
            self.move = Move(places, self.new, str(self.revision_id))
        elif renamed:
            self.outcome = Outcome("moved", places, "the revision that it names is gone")
            self.move = Move(None, self.new, str(self.revision_id))

    def rename(self, twins: Sequence[tuple[str, str]]) -> None:
        """Its source is gone; twins: (source, revision) that have that source's very text now."""
        was = self.evidence["source_id"]
        if len(twins) > 1:
            names = ", ".join(source for source, _ in twins)
            said = f"source {was!r} is gone, and its text is that of {names}; name one"
            self.outcome = Outcome("ambiguous", [], said)
        elif twins:
            [(source, revision)] = twins
            said = f"source {was!r} is called {source!r} now: the same text"
            self.outcome = Outcome("moved", _places(self.notes), said)
            self.new, self.revision_id = self.old, revision
            self.move = Move(None, self.new, revision, source_id=source)

    @property
    def was(self) -> list[Place]:
        """Where it stood: as written, else as noted."""
        return _places(self.evidence["spans"]) or _places(self.notes)

    @property
    def old(self) -> str | None:
        """What stood there, if that is known."""
        quotes = [str(row["quote"]) for row in self.notes if row["quote"] is not None]
        return "\n".join(quotes) if quotes else self.evidence["quote"]

    def _gone(self) -> Outcome:
        source = self.evidence["source_id"]
        if source is None:
            return Outcome("lost", [], "the quote stands in no current document")
        if self.revision_id is None:
            message = f"there is no source {source!r} any more, or it is deleted{self.hint}"
            return Outcome("lost", [], message)
        return Outcome("lost", [], "the source has no text")


def cases(questions: pa.Table, reading: Reading, notes: pl.DataFrame) -> list[Case]:
    """Every piece of evidence, in the order of the file.

    questions: tables.QUESTIONS. reading: the same golden set on the documents of today.
    notes: of anchors.SCHEMA.
    """
    found = list(_cases(questions, reading, notes))
    waiting: dict[tuple[str, str | None], list[Case]] = {}
    for case in found:
        if case.followed:
            waiting.setdefault((case.evidence["source_id"], case.revision_id), []).append(case)
        else:
            case.settle(None)
    gone: dict[str, list[tuple[str, str]]] = {
        case.notes[0]["source_sha256"]: [] for case in found if case.renamable
    }
    elements = _elements(
        reading, {key for key, cases_ in waiting.items() if any(c.of_element for c in cases_)}
    )
    current = set(known(reading).filter("current").select(KEY).iter_rows())
    for source, revision, text in texts(reading.documents()):
        for case in waiting.get((source, revision), ()):
            case.settle(text, elements.get((source, revision)))
        if gone and (source, revision) in current and (digest := sha256(text)) in gone:
            gone[digest].append((source, revision))
    for case in found:
        if case.renamable:
            case.rename(sorted(gone[case.notes[0]["source_sha256"]]))
    return found


def _elements(
    reading: Reading, wanted: Collection[tuple[str, str | None]]
) -> dict[tuple[str, str], dict[str, Place]]:
    """Where the elements of some documents stand, by id."""
    found = {}
    for table in reading.elements() if wanted else ():
        for row in table.select([*KEY, "elements"]).to_pylist():
            if (key := (row["source_id"], row["revision_id"])) in wanted:
                places = row["elements"] or ()
                found[key] = {e["element_id"]: (e["start_char"], e["end_char"]) for e in places}
    return found


def _cases(questions: pa.Table, reading: Reading, notes: pl.DataFrame) -> Iterator[Case]:
    lines = pl.DataFrame(pl.from_arrow(questions.select(["question_id", "file", "line"])))
    frame = stated(questions).join(lines, on="question_id", maintain_order="left")
    frame = frame.join(_located(reading), on=EVIDENCE, how="left", maintain_order="left")
    there = known(reading)
    frame = _about(frame, there)
    noted = {key: group.sort("span").to_dicts() for key, group in notes.group_by(EVIDENCE)}
    gone = frame.filter(pl.col("about").is_null())["source_id"].drop_nulls().unique()
    sources = there["source_id"].unique().sort().to_list()
    hints = {name: nearest_source(name, sources) for name in gone}
    for row in frame.sort("line", maintain_order=True).iter_rows(named=True):
        yield Case(
            file=row["file"],
            line=row["line"],
            question_id=row["question_id"],
            evidence_id=row["evidence_id"],
            evidence=row,
            spans=_places(row["now_spans"]),
            located=row["found"] == "located",
            revision_id=row["about"],
            notes=noted.get((row["question_id"], row["evidence_id"]), []),
            hint=hints.get(row["source_id"], ""),
        )


def _located(reading: Reading) -> pl.DataFrame:
    """EVIDENCE, now_spans, found: as evaluated; of a quote's many places the first."""
    questions = reading.questions
    rows, evidence = flatten(questions["evidence"])
    names = ["evidence_id", "spans", "found"]
    frame = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
    ids = pl.Series(questions["question_id"].take(pa.array(rows)), dtype=pl.String)
    return frame.rename({"spans": "now_spans"}).with_columns(question_id=ids)


def known(reading: Reading) -> pl.DataFrame:
    """Every document but the tombstones: KEY, current."""
    catalogue = reading.catalogue
    if catalogue is None:
        return pl.DataFrame(schema={**dict.fromkeys(KEY, pl.String), "current": pl.Boolean})
    rows = pl.DataFrame(pl.from_arrow(catalogue.select([*KEY, "current", "tombstone"])))
    return rows.filter(~pl.col("tombstone")).drop("tombstone")


def _about(frame: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """With `about`: the revision named if it is there, else the valid one, else null."""
    there = known.select(*KEY, named="revision_id")
    valid = known.filter("current").select("source_id", valid="revision_id")
    frame = frame.join(there, on=KEY, how="left", maintain_order="left")
    frame = frame.join(valid, on="source_id", how="left", maintain_order="left")
    return frame.with_columns(about=pl.coalesce("named", "valid"))


def texts(documents: Iterable[pa.Table]) -> Iterator[tuple[str, str, str]]:
    """(source, revision, text) of DOCUMENTS that have a text."""
    for table in documents:
        frame = pl.DataFrame(pl.from_arrow(table.select([*KEY, "text"]))).drop_nulls("text")
        yield from frame.iter_rows()


def _places(spans: Sequence[Mapping[str, Any]] | None) -> list[Place]:
    return [
        (span["start_char"], span["end_char"])
        for span in spans or ()
        if span["start_char"] is not None
    ]
