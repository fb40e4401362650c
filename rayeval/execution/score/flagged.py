"""What a score says of questions whose numbers mean something else than they seem to."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from rayeval.execution.score.said import listed
from rayeval.words import plural, verb


def repeating(flags: pa.Table) -> Iterator[str]:
    """A warning of lists that have the same passage twice, without an id by which to refuse it.

    flags: `question_id` and FLAGS of every question.
    """
    found = _flagged(flags, "repeated")
    if len(found):
        lists = verb(len(found), "lists", "list")
        yield (
            f"{plural(len(found), 'question')} ({listed(found)}) {lists} the same passage more "
            "than once: gold in it is paid once (recall, mrr, ndcg, map), and each copy counts in "
            "precision, judged and duplicate_ratio. Let the search give every passage once"
        )


def uncounted(flags: pa.Table, *, documents: bool) -> Iterator[str]:
    """A warning of hits whose tokens nobody can count, where a metric needs them.

    documents: there is a corpus.
    """
    found = _flagged(flags, "uncounted")
    if len(found):
        have = verb(len(found), "has", "have")
        give = "give hits their text" if documents else "give hits their text, or say --corpus"
        yield (
            f"{plural(len(found), 'question')} ({listed(found)}) {have} hits without a text to "
            "count: context_tokens, tokens_per_gold_char and cutoffs in tokens are undefined. "
            f"For them, {give}"
        )


def _flagged(flags: pa.Table, name: str) -> pl.Series:
    frame = pl.DataFrame(pl.from_arrow(flags.select(["question_id", name])))
    return frame.filter(name)["question_id"].sort()
