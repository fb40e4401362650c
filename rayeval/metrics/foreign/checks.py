"""What a list of somebody else's hits must be: every hit somewhere, once, in its scores' order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, flatten
from rayeval.metrics.evidence import bools
from rayeval.metrics.foreign.hits import Hashes, Hits, apart, hashed, whole
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT

SHOWN = 3
"""Faults of one kind that are named for one list."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a question's hits."""

    row: int
    """Of the batch."""
    kind: str
    message: str


def faults(hits: Hits, stages: Sequence[str], *, any_order: bool) -> Iterator[Fault]:
    """All that is wrong with the hits, list by list.

    any_order: scores may contradict the order of their list.
    """
    yield from _twice_listed(hits, stages)
    yield from _bad_latency(hits, stages)
    if not len(hits.list):
        return
    for kind, at, said in (
        ("empty_hit", np.flatnonzero(_nowhere(hits)),
         "has neither an id nor a source nor text; say what was found"),
        ("bad_score", np.flatnonzero(_not_finite(hits)), "has a score that is no finite number"),
        ("bad_span", np.flatnonzero(_bad_spans(hits)),
         "has spans that hold no character or begin before the text"),
        ("missing_source", np.flatnonzero(_unsourced(hits)),
         "has spans and no `source_id`; say in which source they are"),
        ("repeated_hit", _repeated(hits), "is the same as one before it; list every hit once"),
    ):  # fmt: skip
        yield from _by_list(hits, stages, kind, at, said)
    if not any_order:
        said = "has a higher score than the hit before it; order the hits by score, best first, "
        said += "or say --sort score (where lower is better: leave the scores out)"
        yield from _by_list(hits, stages, "score_order", _rising(hits), said)


def unknown_chunks(hits: Hits, stages: Sequence[str], at: Ints) -> Iterator[Fault]:
    """Hits that name a chunk which the chunk table lacks."""
    of_list = hits.list[at]
    for number in np.unique(of_list):
        mine = at[of_list == number]
        some = hits.field("chunk_id").take(pa.array(mine[:SHOWN])).to_pylist()
        named = ", ".join(
            f"{name!r} (rank {rank})" for name, rank in zip(some, hits.rank(mine), strict=False)
        )
        more = f" and {len(mine) - SHOWN} more" if len(mine) > SHOWN else ""
        message = f"stage {stages[hits.stage[number]]!r}: the chunk table lacks {named}{more}"
        yield Fault(int(hits.question[number]), "unknown_chunk", message)


def _by_list(hits: Hits, stages: Sequence[str], kind: str, at: Ints, said: str) -> Iterator[Fault]:
    """One fault for every list in which there are some, which names their ranks."""
    of_list = hits.list[at]
    for number in np.unique(of_list):
        ranks = hits.rank(at[of_list == number])
        named = ", ".join(map(str, ranks[:SHOWN])) + (", …" if len(ranks) > SHOWN else "")
        stage = stages[hits.stage[number]]
        message = f"stage {stage!r}: the hit at rank {named} {said}"
        yield Fault(int(hits.question[number]), kind, message)


def _twice_listed(hits: Hits, stages: Sequence[str]) -> Iterator[Fault]:
    keys = hits.question * (len(stages) + 1) + hits.stage
    values, counts = np.unique(keys[hits.stage >= 0], return_counts=True)
    for key in values[counts > 1]:
        row, stage = divmod(int(key), len(stages) + 1)
        message = f"stage {stages[stage]!r} has several rows for this question; keep one"
        yield Fault(row, "repeated_stage", message)


def _bad_latency(hits: Hits, stages: Sequence[str]) -> Iterator[Fault]:
    if "latency_ms" not in hits.table.column_names:
        return
    times = combined(hits.table["latency_ms"])
    sound = np.isfinite(np.asarray(times, np.float64)) & (np.asarray(times, np.float64) >= 0)
    for at in np.flatnonzero(~sound & bools(times.is_valid(), False) & (hits.stage >= 0)):
        said = f"stage {stages[hits.stage[at]]!r}: `latency_ms` is {times[int(at)]}; expected "
        yield Fault(int(hits.question[at]), "bad_latency", said + "milliseconds, 0 or more")


def _nowhere(hits: Hits) -> Bools:
    fields = [hits.field(n) for n in ("chunk_id", "source_id", "text") if hits.has(n)]
    if any(not field.null_count for field in fields):
        return np.zeros(len(hits.list), bool)
    nowhere = ~_spanned(hits)
    for field in fields:
        nowhere &= bools(field.is_null(), True)
    return nowhere


def _spanned(hits: Hits) -> Bools:
    if not hits.has("spans"):
        return np.zeros(len(hits.list), bool)
    return bools(hits.field("spans").is_valid(), False)


def _unsourced(hits: Hits) -> Bools:
    if not hits.has("spans"):
        return np.zeros(len(hits.list), bool)
    return _spanned(hits) & bools(hits.field("source_id").is_null(), False)


def _bad_spans(hits: Hits) -> Bools:
    bad = np.zeros(len(hits.list), bool)
    if hits.has("spans"):
        spans = hits.field("spans")
        owner, pairs = flatten(spans)
        start, end = (pc.fill_null(f, -1).to_numpy() for f in pairs.flatten())
        bad[owner[(start < 0) | (end <= start)]] = True
    return bad


def _not_finite(hits: Hits) -> Bools:
    if not hits.has("score"):
        return np.zeros(len(hits.list), bool)
    infinite = ~np.isfinite(hits.score)
    return infinite & bools(hits.field("score").is_valid(), False) if infinite.any() else infinite


def _rising(hits: Hits) -> Ints:
    if not hits.has("score"):
        return np.zeros(0, np.int64)
    score, of, at = hits.score, hits.list, None
    if np.isnan(score).any():  # a hit without a score says nothing of its neighbours
        at = np.flatnonzero(hits.field("score").is_valid())
        score, of = score[at], of[at]
    later = np.flatnonzero(score[1:] > score[:-1]) + 1
    rising: Ints = later[of[later] == of[later - 1]]
    return rising if at is None else at[rising]


def _repeated(hits: Hits) -> Ints:
    """Hits whose id (of a whole document without one: whose source) their list had before.

    Hashes find the lists with a suspect, ids decide.
    """
    ids, hashes = identity(hits)
    suspect = _suspects(hits, hashes)
    if not suspect.any():
        return np.zeros(0, np.int64)
    at = np.flatnonzero(suspect[hits.list] & bools(ids.is_valid(), False))
    some = pl.DataFrame({"list": hits.list[at], "id": pl.Series(ids.take(pa.array(at)))})
    first = some.select(pl.struct("list", "id").is_first_distinct()).to_series()
    repeated: Ints = at[~first.to_numpy()]
    return repeated


def _suspects(hits: Hits, hashes: Hashes) -> Bools:
    """(n_lists,): two hits have the same hash."""
    n, suspect = len(hits.length), np.zeros(len(hits.length), bool)
    if n and (hits.length == hits.length[0]).all():  # as large traces are; small sorts are cheaper
        folded = np.sort(hashes.view(np.uint32)[1::2].reshape(n, -1), axis=1)  # half of every hash
        return np.asarray((folded[:, 1:] == folded[:, :-1]).any(axis=1))
    keys = apart(hashes, np.arange(n), hits.list)
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    suspect[hits.list[np.isin(keys, again)]] = len(again) > 0
    return suspect


def identity(hits: Hits) -> tuple[pa.Array, Hashes]:
    """The id of every hit: its own, else that of the whole document; null of other text."""
    if not any(hits.has(name) for name in ("chunk_id", "revision_id", "spans", "text")):
        return hits.field("source_id"), hits.hashes("source_id")
    ids, source = hits.field("chunk_id"), hits.field("source_id")
    if ids.null_count == 0:
        return ids, hits.hashes("chunk_id")
    if hits.has("revision_id"):
        revision = pc.fill_null(hits.field("revision_id"), "")
        source = pc.binary_join_element_wise(source, revision, pa.scalar("\0", TEXT))
    if hits.has("spans") or hits.has("text"):
        source = pc.if_else(pa.array(whole(hits)), source, None)
    ids = pc.coalesce(ids, source)
    return ids, hashed(ids)
