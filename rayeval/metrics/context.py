"""Metrics of the selected context alone: what it repeats and what it costs (DESIGN §5)."""

from __future__ import annotations

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics.chars import Gold, characters, retrieved
from rayeval.metrics.evidence import ints
from rayeval.metrics.ranking import NEVER, Ranking, share, tally
from rayeval.metrics.relevance import Passages, Relevance
from rayeval.metrics.spans import Union


def context_tokens(passages: Passages, hits: Ranking) -> Floats:
    """Tokens of the context, (n_questions,); NaN where it is empty or they are not known."""
    n_rows = len(hits.returned)
    counts = ints(passages.items.field("tokens"), -1)[hits.passage]
    unknown = tally(hits.row, counts < 0, n_rows) > 0
    total = np.bincount(hits.row, weights=counts, minlength=n_rows)
    return np.where(unknown | (hits.returned == 0), np.nan, total)


def duplicate_ratio(relevance: Relevance, hits: Ranking) -> Floats:
    """Source characters that the context repeats / its characters.

    Returns (n_questions,) in [0, 1]; NaN where the context is empty or holds a document of unknown
    length.
    """
    row, n_rows = relevance.passages.row, relevance.n_rows
    chosen = hits.rank < NEVER
    pieces = relevance.own.take(chosen[relevance.own.owner])
    union = Union.of(pieces)
    every = np.bincount(row[pieces.owner], pieces.end - pieces.start, n_rows)
    distinct = np.bincount(row[union.owner], union.end - union.start, n_rows)
    whole = tally(row, relevance.passages.whole & chosen, n_rows) > 0
    return share(every - distinct, np.where(whole, 0, every))


def gold_chars(relevance: Relevance, gold: Gold, hits: Ranking) -> Ints:
    """Gold characters in the context, (n_questions,); 0 where they can't be told."""
    union = retrieved(relevance, relevance.own, hits.rank, hits.returned)
    counts = characters(relevance, gold, union, hits.rank, hits.returned)
    return np.where(counts.undefined, 0, counts.shared)
