"""A passage with its source, as somebody reads it who adds a question or grades a hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import polars as pl
from rich.padding import Padding
from rich.text import Text

from rayeval.report.terminal import rendered
from rayeval.words import percent


def stated_text(passages: pl.DataFrame, evidence: Mapping[str, Any]) -> str | None:
    """The text of evidence that says only where it stands, as far as a run's passages hold it."""
    if evidence["quote"] is not None or not evidence["spans"]:
        return None if evidence["quote"] is None else str(evidence["quote"])
    here = (
        passages.filter(
            pl.col("source_id") == evidence["source_id"],
            pl.col("revision_id").eq_missing(pl.lit(evidence["revision_id"], pl.String)),
            pl.col("spans").list.len() == 1,
        )
        .with_columns(pl.col("spans").list.first().alias("span"))
        .unnest("span")
    )
    length = pl.col("end_char") - pl.col("start_char")
    here = here.filter(pl.col("text").str.len_chars() == length)
    parts = []
    for span in evidence["spans"]:
        start, end = span["start_char"], span["end_char"]
        holding = here.filter(pl.col("start_char") <= start, pl.col("end_char") >= end)
        if holding.is_empty():
            return None
        at, text = holding.select("start_char", "text").row(0)
        parts.append(text[start - at : end - at])
    return " … ".join(parts)


class Placed(Protocol):
    """Evidence where it stands."""

    @property
    def source_id(self) -> str:
        """The document."""
        ...

    @property
    def revision_id(self) -> str:
        """Its revision."""
        ...

    @property
    def start_char(self) -> int:
        """In code points."""
        ...

    @property
    def end_char(self) -> int:
        """Exclusive."""
        ...

    @property
    def page(self) -> int | None:
        """Where the document has pages."""
        ...

    @property
    def before(self) -> str:
        """What stands before it."""
        ...

    @property
    def text(self) -> str:
        """The evidence."""
        ...

    @property
    def after(self) -> str:
        """What stands after it."""
        ...


def place_text(place: Placed) -> str:
    """Where a quote was found, between what stands on either side."""
    head = where(place.source_id, place.revision_id, [(place.start_char, place.end_char)])
    head += "" if place.page is None else f" page {place.page}"
    before, after = (" ".join(side.split()) for side in (place.before, place.after))
    body = f"…{before} ▶{' '.join(place.text.split())}◀ {after}…"
    return rendered([Text(head), Padding(Text(body), (0, 0, 0, 4))])


def near_text(found: Sequence[Mapping[str, Any]]) -> str:
    """Questions that ask nearly the same."""
    lines = [
        f"  {percent(row['similarity'])} like {row['question_id']}: {row['question']}"
        for row in found
    ]
    return rendered([Text("Nearly the same question is there already:"), Text("\n".join(lines))])


def where(
    source_id: str | None,
    revision_id: str | None,
    spans: Sequence[tuple[int, int]],
    *,
    whole: bool = True,
) -> str:
    """A place in a source, on one line. whole: without spans it is all of the source."""
    if source_id is None:
        return "text of no known source"
    revision = f" @ {revision_id}" if revision_id else ""
    places = ", ".join(f"{start}–{end}" for start, end in spans)
    rest = f" [{places}]" if places else " (the whole document)" if whole else ""
    return f"{source_id}{revision}{rest}"
