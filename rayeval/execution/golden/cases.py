"""Every piece of evidence of a golden set, and what became of it in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.execution.golden.case import Case, places_of
from rayeval.execution.reading import Reading
from rayeval.golden.anchors import EVIDENCE, KEY, sha256, stated
from rayeval.golden.document import Document
from rayeval.golden.outcomes import nearest_source
from rayeval.golden.shelf import COLUMNS


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
    current = set(known(reading).filter("current").select(KEY).iter_rows()) if gone else set()
    for source, revision, text in texts(reading.documents()) if gone else ():
        if (source, revision) in current and (digest := sha256(text)) in gone:
            gone[digest].append((source, revision))
    for document in _documents(reading, waiting.keys()):
        for case in waiting[document.source_id, document.revision_id]:
            case.settle(document)
    for case in found:
        if case.renamable:
            case.rename(sorted(gone[case.notes[0]["source_sha256"]]))
    return found


def _documents(reading: Reading, wanted: Collection[tuple[str, str | None]]) -> Iterator[Document]:
    """Those of these sources and revisions that have a text, one held at a time."""
    if not wanted:
        return
    for documents, parsed in zip(reading.documents(), reading.elements(), strict=True):
        keys = zip(*(documents[name].to_pylist() for name in KEY), strict=True)
        for place in [place for place, key in enumerate(keys) if key in wanted]:
            row = {name: documents[name][place].as_py() for name in COLUMNS}
            if row["text"] is not None:
                yield Document(row, parsed["elements"][place].values)


def _cases(questions: pa.Table, reading: Reading, notes: pl.DataFrame) -> Iterator[Case]:
    names = ["question_id", "file", "line", "reference_answer"]
    lines = pl.DataFrame(pl.from_arrow(questions.select(names)))
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
            spans=places_of(row["now_spans"]),
            located=row["found"] == "located",
            revision_id=row["about"],
            notes=noted.get((row["question_id"], row["evidence_id"]), []),
            answer=row["reference_answer"],
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
