"""A stage's hits of one question, a line or two each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from rayeval.report.lines import WIDTH
from rayeval.report.plain import shortened
from rayeval.words import percent

TOP = 5
"""Hits that are shown whatever they hold, and of those below them that find gold."""
BEFORE = " " * 17
"""Rank and score, or what stands in their place on a second line."""
LEAST = 30
"""Columns that a hit's name has beside what it covers; with fewer, that has a line of its own."""
TEXT = 80


def hit_lines(hits: Sequence[Mapping[str, Any]], finding: Collection[int]) -> Iterator[str]:
    """The first hits, gold that is found further down, and how many others there are.

    finding: ranks of hits that find gold.
    """
    below = [hit for hit in hits[TOP:] if hit["rank"] in finding]
    shown = [*hits[:TOP], *below[:TOP]]
    for hit in shown:
        yield from _lines(hit)
    if rest := len(hits) - len(shown):
        yield f"{BEFORE}… {rest:,} more (--json lists all)"


def _lines(hit: Mapping[str, Any]) -> Iterator[str]:
    score = " " * 9 if hit["score"] is None else f"{hit['score']:>9.4f}"
    begin = f"  {hit['rank']:>3} {score}  "
    page = f" page {', '.join(map(str, hit['pages']))}" if hit["pages"] else ""
    covers = " ".join(f"{name} {percent(share)}" for name, share in hit["covers"].items())
    room = WIDTH - len(begin) - cell_len(page)
    mark = f"  ◀ {covers}" if covers else ""
    beside = room - cell_len(mark) >= min(LEAST, cell_len(name_of(hit)))
    yield begin + _cut(name_of(hit), room - cell_len(mark) * beside) + page + mark * beside
    if not beside:
        yield BEFORE + shortened(mark.strip(), WIDTH - len(BEFORE))
    if hit["text"]:
        yield BEFORE + shortened(hit["text"], TEXT)


def name_of(hit: Mapping[str, Any]) -> str:
    """A hit's source and its own id, since whoever asks by chunk ids looks for these; the id alone
    where that is made of the source and the place in it."""
    source, chunk = hit["source_id"], str(hit["chunk_id"])
    made = source is None or (chunk.startswith(source) and not chunk[len(source) :][:1].isalnum())
    return chunk if made else f"{source}  {chunk}"


def _cut(name: str, most: int) -> str:
    """At most `most` columns of it: of a place, the offsets at its end are kept whole."""
    if cell_len(name) <= most:
        return name
    begin, bracket, offsets = name.rpartition("[")
    kept = bracket + offsets
    if not bracket or not name.endswith(")") or cell_len(kept) > most // 2:
        return shortened(name, most)
    return shortened(begin, most - cell_len(kept)) + kept
