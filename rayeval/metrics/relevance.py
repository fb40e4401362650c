"""What every passage of a batch holds of its question's evidence (DESIGN §5).

All of it is a fact of texts, not of rankings: it is computed once per batch, and what a stage found
is then only a rank for every passage (`ranking.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten
from rayeval.metrics.evidence import Evidence, bools, evidence_of, ints
from rayeval.metrics.spans import (
    Bools,
    Intervals,
    Located,
    Overlaps,
    Union,
    least,
    line_up,
    overlaps,
)

HOLDS = pa.list_(pa.struct([("passage", pa.int32()), ("evidence", pa.int32())]))
"""The batch column `holds`: passages known to hold evidence, by their numbers in the row's lists,
though one or the other is not located: its text contains the quote."""


@dataclass(frozen=True)
class Passages:
    """Every passage of a batch, row after row; arrays (n_passages,)."""

    row: Ints
    items: pa.Array
    """The PLACE structs."""
    whole: Bools
    """It has no spans: a whole document, of unknown length, or text that nobody located."""
    source: Ints
    """Code of its source; -1 where none is named."""

    @cached_property
    def _codes(self) -> tuple[pa.Array, Ints, Ints]:
        """(distinct ids, keys of (row, id) in order, the passage of each key)."""
        ids = self.items.field("chunk_id").dictionary_encode()
        keys = self.row * len(ids.dictionary) + ints(ids.indices, 0)
        order = np.argsort(keys, kind="stable")
        return ids.dictionary, keys[order], order

    def index(self, row: Ints, chunk_id: pa.Array) -> Ints:
        """The passage with that id in that row, (n,); -1 where there is none."""
        distinct, keys, order = self._codes
        code = ints(pc.index_in(chunk_id, value_set=distinct), -1)
        if not len(keys):
            return np.full(len(row), -1, np.int64)
        wanted = row * len(distinct) + code
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[at] == wanted) & (code >= 0), order[at], -1)


@dataclass(frozen=True)
class Relevance:
    """Evidence and passages of a batch of `n_rows` questions, and what they share."""

    n_rows: int
    full: float
    evidence: Evidence
    evidence_source: Ints
    """(n_evidence,): codes of sources, as in `passages`."""
    unmeasured: Bools
    """(n_evidence,): a whole document of unknown length, or text that nobody located."""
    passages: Passages
    pieces: Intervals
    """Of passages, sorted by start; with those of evidence that they are known to hold."""
    own: Intervals
    """Of passages alone: the text that they are."""
    evidence_pieces: Intervals
    needs_pieces: Intervals

    @cached_property
    def pairs(self) -> Overlaps:
        """(passage, evidence) pairs with the characters that they share."""
        return overlaps(self.pieces, self.evidence_pieces)

    @cached_property
    def length(self) -> Ints:
        """(n_evidence,), in characters; 1 for a whole document of unknown length."""
        return _length(self.evidence_pieces, len(self.evidence.row))

    @cached_property
    def needed(self) -> Ints:
        """(n_evidence,): how many of its characters find it."""
        whole = np.maximum(self.length, 1)
        return np.where(self.evidence.whole, whole, least(self.length, self.full))

    @cached_property
    def needed_besides(self) -> Ints:
        """(n_evidence,): how many characters of its `needs`; 0 where it has none."""
        length = _length(self.needs_pieces, len(self.evidence.row))
        return np.where(length > 0, least(length, self.full), 0)

    @cached_property
    def finds(self) -> tuple[Ints, Ints]:
        """(passage, evidence) of every pair where the passage alone finds the evidence."""
        pairs = self.pairs
        found = pairs.chars >= self.needed[pairs.right]
        passage, evidence = pairs.left[found], pairs.right[found]
        if not self.needed_besides.any():
            return passage, evidence
        needs = overlaps(self.pieces, self.needs_pieces)
        holds = needs.chars >= self.needed_besides[needs.right]
        n = len(self.evidence.row)
        able = np.isin(passage * n + evidence, needs.left[holds] * n + needs.right[holds])
        able |= self.needed_besides[evidence] == 0
        return passage[able], evidence[able]

    @cached_property
    def finds_group(self) -> tuple[Ints, Ints]:
        """(passage, group) of every pair where the passage finds the group."""
        passage, evidence = self.finds
        counts = self.evidence.counts[evidence]
        return passage[counts], self.evidence.group[evidence[counts]]

    def covered(self, union: Union) -> Bools:
        """(n_evidence,): whether a union covers enough of the evidence's characters.

        That an element must be held whole is asked of one passage alone: what lies between the
        rows of a table is in no chunk of rows.
        """
        n = len(self.evidence.row)
        chars = _sum(self.evidence_pieces, union.within(self.evidence_pieces), n)
        besides = _sum(self.needs_pieces, union.within(self.needs_pieces), n)
        enough = least(np.maximum(self.length, 1), self.full)
        return (chars >= enough) & (besides >= self.needed_besides)

    def groups_covered(self, union: Union) -> Bools:
        """(n_groups,): whether what a union covers finds the group."""
        group = self.evidence.group[self.covered(union) & self.evidence.counts]
        return np.bincount(group, minlength=len(self.evidence.groups.row)) > 0


def relevance(batch: pa.Table, places: str, *, full: float) -> Relevance:
    """What the passages in the column `places` (lists of PLACE) hold of the batch's `evidence`.

    full: share of an evidence's characters that a passage must cover to find it.
    """
    evidence = evidence_of(batch["evidence"])
    row, items = flatten(batch[places])
    source, of_evidence = _codes([items.field("source_id"), evidence.items.field("source_id")])
    of_passage, home = _places(row, items, evidence)
    passages = Passages(row, items, _without_spans(items), source)
    unmeasured = _without_spans(evidence.items) & ~evidence.missing
    quoted = unmeasured & bools(evidence.items.field("quote").is_valid(), False)
    place = _apart(home, quoted, of_passage)
    needs = evidence.items.field("needs")
    whole = passages.whole & bools(items.field("spans").is_valid(), False)
    pieces, of_evidence_pieces, of_needs = line_up(
        Located(of_passage, items.field("spans"), whole),
        Located(place, evidence.items.field("spans"), unmeasured & (quoted | (of_evidence >= 0))),
        Located(place, needs, np.zeros(len(needs), bool)),
    )
    known = _joined(_held(batch, places, row, evidence), _matching(of_passage, whole, home, quoted))
    return Relevance(
        batch.num_rows, full, evidence, of_evidence, unmeasured, passages,
        pieces.holding(*known, of_evidence_pieces), pieces, of_evidence_pieces, of_needs,
    )  # fmt: skip


Pairs = tuple[Ints, Ints]
"""(passage, evidence)"""


def _apart(home: Ints, quoted: Bools, of_passage: Ints) -> Ints:
    """The places of evidence; what is known by a quote alone has one of its own."""
    place = home.copy()
    free = 1 + max(home.max(initial=-1), of_passage.max(initial=-1))
    place[quoted] = free + np.arange(quoted.sum())
    return place


def _held(batch: pa.Table, places: str, row: Ints, evidence: Evidence) -> Pairs:
    """What the batch says of passages that hold evidence."""
    if places != "passages" or "holds" not in batch.column_names:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at, pairs = flatten(batch["holds"])
    first, number = (np.searchsorted(rows, at) for rows in (row, evidence.row)), pairs.flatten()
    passage, item = (f + ints(n, 0) for f, n in zip(first, number, strict=True))
    return passage, item


def _matching(of_passage: Ints, whole: Bools, home: Ints, quoted: Bools) -> Pairs:
    """Whole documents hold every quote of theirs."""
    if not quoted.any() or not whole.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    passage, item = np.flatnonzero(whole), np.flatnonzero(quoted)
    order = np.argsort(of_passage[passage], kind="stable")
    ordered = of_passage[passage][order]
    low, high = (np.searchsorted(ordered, home[item], side=s) for s in ("left", "right"))
    which = np.repeat(np.arange(len(item)), high - low)
    at = np.arange(len(which)) - np.repeat(np.cumsum(high - low) - high, high - low)
    return passage[order[at]], item[which]


def _joined(a: Pairs, b: Pairs) -> Pairs:
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])


def _places(row: Ints, items: pa.Array, evidence: Evidence) -> list[Ints]:
    """Codes of the (row, source, revision) of every passage and every evidence."""
    both = items, evidence.items
    source = np.concatenate(_codes([part.field("source_id") for part in both])) + 1
    revision = np.concatenate(_codes([part.field("revision_id") for part in both])) + 1
    document = _dense(source * (revision.max(initial=0) + 1) + revision)
    rows = np.concatenate([row, evidence.row])
    return np.split(_dense(rows * (document.max(initial=0) + 1) + document), [len(row)])


def _codes(texts: list[pa.Array]) -> list[Ints]:
    """One code for every distinct text of several arrays; -1 for null."""
    codes = ints(pa.concat_arrays(texts).dictionary_encode().indices, -1)
    return np.split(codes, np.cumsum([len(part) for part in texts])[:-1])


def _dense(keys: Ints) -> Ints:
    return ints(pa.array(keys).dictionary_encode().indices, 0)


def _without_spans(items: pa.Array) -> Bools:
    empty: Bools = ints(pc.list_value_length(items.field("spans")), 0) == 0
    return empty


def _sum(pieces: Intervals, values: Ints, n_items: int) -> Ints:
    """Per item, its pieces' values added up."""
    return np.bincount(pieces.owner, weights=values, minlength=n_items).astype(np.int64)


def _length(pieces: Intervals, n_items: int) -> Ints:
    return _sum(pieces, pieces.end - pieces.start, n_items)
