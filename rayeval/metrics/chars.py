"""Metrics of characters: what is retrieved together, each character once (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics.ranking import tally
from rayeval.metrics.relevance import Relevance
from rayeval.metrics.spans import Bools, Intervals, Union


@dataclass(frozen=True)
class Characters:
    """Characters of every question; arrays (n_questions,)."""

    gold: Ints
    """In any gold, all alternatives included."""
    retrieved: Ints
    """In any hit within the limit."""
    shared: Ints
    """In both."""
    undefined: Bools
    """There is no gold, or a document of unknown length is among gold or hits."""


@dataclass(frozen=True)
class Gold:
    """The union of a batch's gold."""

    segments: Intervals
    """Owner: the question."""
    undefined: Bools
    """(n_questions,): no gold, or gold of unknown length."""


def gold_of(relevance: Relevance) -> Gold:
    """All gold of every question, each character once."""
    evidence, n_rows = relevance.evidence, relevance.n_rows
    pieces = relevance.evidence_pieces
    pieces = pieces.take(evidence.gold[pieces.owner])
    pieces = pieces.take(np.argsort(pieces.start, kind="stable"))
    union = Union.of(pieces)
    row = evidence.row[union.owner]
    segments = Intervals(row, row, union.start, union.end)
    unknown = tally(evidence.row, evidence.gold & relevance.unmeasured, n_rows) > 0
    none = tally(evidence.row, evidence.gold, n_rows) == 0
    return Gold(segments, none | unknown)


def retrieved(relevance: Relevance, pieces: Intervals, rank: Ints, limit: Ints) -> Union:
    """What the pieces of hits within the limit cover together.

    rank: (n_passages,). limit: (n_questions,).
    """
    inside = rank <= limit[relevance.passages.row]
    return Union.of(pieces.take(inside[pieces.owner]))


def characters(
    relevance: Relevance, gold: Gold, union: Union, rank: Ints, limit: Ints
) -> Characters:
    """The characters of `union`, what is retrieved within the limit, against those of gold."""
    row, n_rows = relevance.passages.row, relevance.n_rows
    whole = tally(row, relevance.passages.whole & (rank <= limit[row]), n_rows) > 0
    segments = gold.segments
    return Characters(
        gold=_sums(segments.owner, segments.end - segments.start, n_rows),
        retrieved=_sums(row[union.owner], union.end - union.start, n_rows),
        shared=_sums(segments.owner, union.within(segments), n_rows),
        undefined=gold.undefined | whole,
    )


def char_recall(chars: Characters) -> Floats:
    """Retrieved gold characters / gold characters, (n_questions,) in [0, 1]."""
    return _ratio(chars.shared, chars.gold, chars.undefined)


def char_precision(chars: Characters) -> Floats:
    """Retrieved gold characters / retrieved characters, in [0, 1]; 0 if nothing was returned."""
    return _ratio(chars.shared, chars.retrieved, chars.undefined)


def char_iou(chars: Characters) -> Floats:
    """Retrieved gold characters / characters retrieved or gold, (n_questions,) in [0, 1]."""
    return _ratio(chars.shared, chars.gold + chars.retrieved - chars.shared, chars.undefined)


def _ratio(part: Ints, whole: Ints, undefined: Bools) -> Floats:
    """`part` / `whole`; where that is nothing, no gold text is in the corpus and none was found."""
    return np.where(undefined, np.nan, part / np.maximum(whole, 1))


def _sums(row: Ints, values: Ints, n_rows: int) -> Ints:
    return np.bincount(row, weights=values, minlength=n_rows).astype(np.int64)
