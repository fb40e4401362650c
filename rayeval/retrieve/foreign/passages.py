"""Hits of another system → passages of this run, with ids of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from rayeval.columns import Ints
from rayeval.ids import chunk_id
from rayeval.tables import CHUNK, HITS, TEXT, conform

PLACED_HITS = pa.schema(
    [
        ("question_id", TEXT),
        ("hits", HITS),
        ("foreign", pa.list_(CHUNK)),
        ("ambiguous", pa.int64()),
        ("lost", pa.int64()),
        ("unplaced", TEXT),
        ("error", TEXT),
    ]
)
"""FOUND, its hits in the system's own order, with the passages that are none of the run's chunks.

`ambiguous`, `lost`: hits whose text stands at several places of the corpus, or at none (they stay
hits, of text that lies nowhere). `unplaced`: what is known of the first of them."""

Hit = Mapping[str, Any]
Count = Callable[[pa.Array], Ints]


@dataclass
class _Row:
    """One question's hits as they are told apart."""

    hits: list[dict[str, Any]]
    foreign: list[dict[str, Any]]
    ambiguous: int = 0
    lost: int = 0
    unplaced: str | None = None


class Passages:
    """A stage: `found` (FOREIGN_HIT), `spots` (as `golden.placing` gives them), `own` (the run's
    chunks among the hits' ids) and `failed` (why there are no hits) → PLACED_HITS.

    A hit is a chunk of the run if it has the id of one; else it is a passage, and its id a hash of
    its place and text, the same that a chunk there would have. Where one list has the same passage
    twice, the later one is another. Without scores, a hit's is minus its rank.
    count: texts → their tokens.
    """

    def __init__(self, count: Count) -> None:
        self.count = count

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        rows = [_row(*values) for values in zip(*map(_lists, _COLUMNS, [batch] * 3), strict=True)]
        texts = pa.array([p["text"] for row in rows for p in row.foreign], TEXT)
        counts = iter(self.count(texts).tolist())
        for row in rows:
            for passage in row.foreign:
                passage["tokens"] = next(counts)
        columns = {
            name: [getattr(row, name) for row in rows]
            for name in ("hits", "foreign", "ambiguous", "lost", "unplaced")
        }
        found = {name: pa.array(v, PLACED_HITS.field(name).type) for name, v in columns.items()}
        same = {"question_id": batch["question_id"], "error": batch["failed"]}
        return conform(pa.table({**found, **same}), PLACED_HITS)


_COLUMNS = ("found", "spots", "own")


def _lists(name: str, batch: pa.Table) -> list[Any]:
    return [value or [] for value in batch[name].to_pylist()]


def _row(hits: Sequence[Hit], spots: Sequence[Hit], own: Sequence[Hit]) -> _Row:
    known = {place["chunk_id"] for place in own}
    places = {number: list(group) for number, group in groupby(spots, lambda s: s["number"])}
    taken: set[str] = set()
    row = _Row([], [])
    for number, hit in enumerate(hits):
        name = hit["chunk_id"]
        if name not in known:
            place, why = _place(places.get(number, []))
            if place is None:
                row.ambiguous += why == AMBIGUOUS
                row.lost += why != AMBIGUOUS
                row.unplaced = row.unplaced or f"hit {number + 1}: {why}"
            passage = _passage(hit, place)
            names = _names(hit, passage, located=place is not None)
            name = next(one for one in names if one not in taken)
            row.foreign.append({**passage, "chunk_id": name})
        taken.add(name)
        score = hit["score"]
        row.hits.append({"chunk_id": name, "score": -float(number + 1) if score is None else score})
    return row


AMBIGUOUS = "its text stands at several places"
NOWHERE = "neither its source nor its text is in the corpus"


def _place(spots: Sequence[Hit]) -> tuple[Hit | None, str]:
    """The one place where a hit lies, or why there is none; exact ones go first."""
    exact = [spot for spot in spots if spot["exact"]] or spots
    if len(exact) == 1 and exact[0]["spans"]:
        return exact[0], ""
    if not exact:
        return None, NOWHERE
    return None, AMBIGUOUS if len(exact) > 1 else exact[0]["message"]


def _passage(hit: Hit, place: Hit | None) -> dict[str, Any]:
    """As a row of CHUNKS; `spans` null: text that nobody located."""
    known = place or {**hit, "spans": None, "text": ""}
    return {
        **{name: known[name] for name in ("source_id", "revision_id", "spans")},
        "text": known["text"] if hit["text"] is None else hit["text"],
        "element_ids": [],
        "pages": [],
        "access": [],
    }


def _names(hit: Hit, passage: Mapping[str, Any], *, located: bool) -> Iterator[str]:
    """Ids for a passage, the best first."""
    spans = [(span["start_char"], span["end_char"]) for span in passage["spans"] or []]
    place = passage["source_id"], passage["revision_id"], spans, passage["text"]
    own = () if located else (hit["chunk_id"],)
    yield chunk_id(*place, *own)
    number = 2
    while True:
        yield chunk_id(*place, *own, number)
        number += 1
