"""What a run still knows of its documents, and how a passage of it becomes evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import polars as pl
import pyarrow.dataset as pads

from rayeval import files
from rayeval.execution import inputs
from rayeval.execution.runs import PLAN, Run
from rayeval.execution.store import Output, read
from rayeval.tables import LOCATED

Row = dict[str, Any]
KEY = ["source_id", "revision_id"]
OWN = ("markdown", "text")
"""Formats in which a passage's text is its source's."""
UNREAD = "only by an id, without text or source: score the run with --chunks or --corpus"
NOWHERE = "by a text that doesn't stand at one place in the run's documents"
"""How a hit is known that can't become evidence."""


class Sources:
    """A run's catalogue, as far as its store still has it; an empty one knows nothing."""

    def __init__(self, run: Run) -> None:
        self._formats: dict[tuple[str, str], str] = {}
        self._current: dict[str, str] = {}
        self._read: dict[tuple[str, str], str | None] = {}
        self._searched = (run.manifest.get("corpus") or {}).get("path") is not None
        self._documents = _stored(run, "documents")
        catalogue = _stored(run, "catalogue")
        if not catalogue:
            return
        frame = pl.DataFrame(pl.from_arrow(read(catalogue[0])))
        for source, revision, kind, current in frame.select(
            "source_id", "revision_id", "format", "current"
        ).iter_rows():
            self._formats[source, revision] = kind
            if current:
                self._current[source] = revision

    def read(self, passages: pl.DataFrame) -> pl.DataFrame:
        """With `stands`, the source's own text at the spans, where the passage's may be another
        (a rendering of it, or none at all), and with a text of those that have none."""
        kinds = pl.DataFrame(
            [(*key, kind) for key, kind in self._formats.items()],
            schema=dict.fromkeys([*KEY, "format"], pl.String),
            orient="row",
        )
        mute, other = pl.col("text").is_null(), ~pl.col("format").is_in(OWN)
        there = passages.join(kinds, on=KEY, how="left", maintain_order="left")
        wanted = there.filter(pl.col("spans").list.len() > 0, mute | other).select(KEY).unique()
        found = passages.join(self._texts(wanted), on=KEY, how="left", maintain_order="left")
        cut, stands = (
            pl.struct("whole", "spans").map_elements(partial(_cut, apart), return_dtype=pl.String)
            for apart in (" … ", "\n")
        )
        return found.with_columns(text=pl.coalesce("text", cut), stands=stands).drop("whole")

    def _texts(self, wanted: pl.DataFrame) -> pl.DataFrame:
        """KEY and `whole` of these documents, as far as the store has them; each is read once."""
        new = [key for key in wanted.select(KEY).iter_rows() if key not in self._read]
        if new and self._documents:
            fs, _ = files.open_fs(self._documents[0])
            inner = [files.open_fs(path)[1] for path in self._documents]
            named = pads.field("source_id").isin([source for source, _ in new])
            table = pads.dataset(inner, filesystem=fs).to_table([*KEY, "text"], named)
            rows = zip(*(table[name].to_pylist() for name in (*KEY, "text")), strict=True)
            self._read |= {(source, revision): text for source, revision, text in rows}
        known = [(*key, self._read[key]) for key in wanted.iter_rows() if key in self._read]
        return pl.DataFrame(known, schema=dict.fromkeys([*KEY, "whole"], pl.String), orient="row")

    def unfit(self, passages: pl.DataFrame) -> pl.Series:
        """Why each of them can't become evidence (UNREAD, NOWHERE); null for those that can.

        A text that nobody located is evidence by its quote alone, where there was no corpus to
        find it in.
        """
        said = pl.col("text").str.strip_chars().fill_null("") != ""
        mute = pl.col("source_id").is_null() & ~said
        adrift = pl.col("spans").is_null() & said & pl.lit(self._searched)
        why = pl.when(mute).then(pl.lit(UNREAD)).when(adrift).then(pl.lit(NOWHERE))
        return passages.select(why.alias("why"))["why"]

    def evidence(self, passage: Mapping[str, Any]) -> Row:
        """Where a passage stands, in the contract's fields.

        With what the source has there as the quote, so that it is found again when the source
        changes; where that isn't known, the revision says of which text the offsets are.
        """
        source, revision = passage["source_id"], passage["revision_id"]
        spans, text = passage["spans"] or [], passage["text"]
        if source is None:
            return {"quote": text}
        if passage["spans"] is None and text:
            return {"source_id": source, "quote": text}
        if not spans:
            return {"source_id": source} | ({"revision_id": revision} if revision else {})
        own = self._formats.get((source, revision)) in OWN
        chars = sum(span["end_char"] - span["start_char"] for span in spans)
        same = text is not None and len(spans) == 1 and len(text) == chars
        said = text if own and same else passage.get("stands")
        quote = {"quote": said} if said else {}
        free = bool(quote) and self._current.get(source) == revision
        pinned = {} if free or revision is None else {"revision_id": revision}
        offsets = dict(spans[0]) if len(spans) == 1 else {"spans": [dict(s) for s in spans]}
        return {"source_id": source, **pinned, **offsets, **quote}

    def located(self, evidence: Mapping[str, Any], *, relevant: int) -> Row | None:
        """Evidence of the golden set (tables.EVIDENCE) as located; None where it would have to be
        looked for in the documents."""
        if evidence["element_id"] is not None:
            return None
        by_quote = evidence["spans"] is None and evidence["quote"] is not None
        if by_quote and not self._searched:
            return _row(evidence, relevant, None, found=None, parsed=None)
        if by_quote or evidence["source_id"] is None:
            return None
        revision = evidence["revision_id"] or self._current.get(evidence["source_id"])
        return _row(evidence, relevant, revision, found="located", parsed=True)


def _row(evidence: Mapping[str, Any], relevant: int, revision: str | None, **flags: Any) -> Row:
    """A row of tables.LOCATED."""
    flags |= {"visible": True, "gold": evidence["relevance"] >= relevant, "whole": False}
    row = {**evidence, "revision_id": revision, "spans": evidence["spans"] or [], **flags}
    return {field.name: row.get(field.name, []) for field in LOCATED}


def _stored(run: Run, step: str) -> tuple[str, ...]:
    """The files of a step's output, if the run has such a step and its store still has those."""
    key = run.manifest.get("steps", {}).get(step, {}).get("key")
    plan = f"{run.path}/{PLAN}"
    root = files.read_json(plan).get("options", {}).get("store") if files.exists(plan) else None
    if key is None or root is None or Output(root, key).manifest() is None:
        return ()
    return inputs.paths(root, key)


def _cut(apart: str, passage: Mapping[str, Any]) -> str | None:
    """A passage's spans of its document, with `apart` between them."""
    whole, spans = passage["whole"], passage["spans"]
    if whole is None or not spans:
        return None
    return apart.join(whole[span["start_char"] : span["end_char"]] for span in spans)


def later(
    run: Run, evidence: Iterable[tuple[str, list[Row]]], sources: Sources, *, relevant: int
) -> dict[str, list[Row]]:
    """question_id → evidence that the golden set has got since the run, located.

    evidence: (question_id, its rows of tables.EVIDENCE).
    """
    frame = run.questions.select(
        "question_id", pl.col("evidence").list.eval(pl.element().struct.field("evidence_id"))
    )
    known = {name: set(ids or ()) for name, ids in frame.iter_rows()}
    found: dict[str, list[Row]] = {}
    for name, rows in evidence:
        new = [row for row in rows if row["evidence_id"] not in known.get(name, ())]
        located = [sources.located(row, relevant=relevant) for row in new]
        if name in known and (kept := [row for row in located if row is not None]):
            found[name] = kept
    return found
