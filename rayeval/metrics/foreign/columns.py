"""A batch of questions beside its rows of a trace, as metrics and first failures read it.

Of a list of a thousand hits a handful lies in a source that the question has evidence in, and the
first few decide metrics of characters and tokens. Only those become passages; of the rest it
matters how many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, lists
from rayeval.metrics.evidence import Evidence, bools, evidence_of
from rayeval.metrics.foreign.blind import blind, marked, quotes
from rayeval.metrics.foreign.hits import Hits, apart, hashed, text, whole
from rayeval.metrics.foreign.places import Known, Places, agreeing, places, sources
from rayeval.metrics.foreign.quotes import held
from rayeval.metrics.foreign.repeats import repeated
from rayeval.metrics.ranking import RANKED, RETURNED
from rayeval.metrics.relevance import HOLDS
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT


@dataclass(frozen=True)
class Seen:
    """The hits that became passages, and what a batch has of all."""

    hits: Hits
    """The passages, question by question."""
    places: Places
    columns: dict[str, pa.Array]
    unknown: Ints
    """Hits whose id no chunk table and nothing else explains."""
    flags: dict[str, pa.Array]
    """(n_questions,) each of FLAGS."""


def columns_of(
    hits: Hits,
    batch: pa.Table,
    stages: Sequence[str],
    deep: Sequence[int],
    known: Known,
    counted: Bools,
) -> Seen:
    """What PerQuery and FirstFailure read of the trace.

    deep: of every stage, how many of its first hits must be passages whatever they hold. counted:
    (n_stages,), whether the tokens of its hits are asked for.
    """
    evidence = evidence_of(batch["evidence"])
    hits = known.read(hits, marked(evidence.row[quotes(evidence)], batch.num_rows))
    found = known.of(hits)
    source = sources(hits, found, known)
    holder, quoted = held(hits, source, found, evidence)
    touches = touching(hits, source, evidence)
    which = _worth(hits, touches, holder, deep)
    passages = known.read(hits.take(which), np.ones(batch.num_rows, bool))
    at = text(source.take(pa.array(which)))
    where = places(passages, at, [(table, rows[which]) for table, rows in found], known)
    if known.documents is None:
        where = agreeing(where, passages.row, evidence)
    n = batch.num_rows
    columns = {"passages": lists(passages.row, where.structs(), n)}
    columns |= _ranked(hits, passages, stages, n)
    if len(holder):
        columns["holds"] = _holds(np.searchsorted(which, holder), quoted, passages, evidence, n)
    unnamed = _unnamed(hits)
    flags = {
        **blind(passages, where, evidence, n, known),
        "by_id": marked(hits.rows(unnamed if known.chunks is None else unnamed[:0]), n),
        "touched": marked(hits.rows(np.flatnonzero(touches)), n),
        "repeated": repeated(hits, n),
        "uncounted": _uncounted(passages, where, counted, n),
    }
    unknown = unnamed[bools(source.is_null().take(pa.array(unnamed)), False)]
    arrays = {name: pa.array(flag) for name, flag in flags.items()}
    return Seen(passages, where, columns, unknown, arrays)


def _worth(hits: Hits, touches: Bools, holder: Ints, deep: Sequence[int]) -> Ints:
    """Hits that become passages: those that may hold gold, and the first ones of every stage."""
    known = hits.stage >= 0
    kept = touches | _first(hits, np.where(known, np.asarray(deep, np.int64)[hits.stage], 0))
    kept[holder] = True
    if not known.all():
        kept &= known[hits.list]
    return np.flatnonzero(kept)


def _uncounted(passages: Hits, where: Places, counted: Bools, n: int) -> Bools:
    """(n_questions,): nobody knows the tokens of a hit of a stage where they are counted."""
    unknown = counted[passages.in_stage] & bools(where.tokens.is_null(), False)
    return marked(passages.row[unknown], n)


def _first(hits: Hits, limit: Ints) -> Bools:
    """(n_hits,): it is one of the first hits of its list. limit: (n_lists,), how many those are."""
    count = np.minimum(limit, hits.length)
    start = np.cumsum(hits.length) - hits.length
    flags = np.zeros(len(hits.list), bool)
    flags[np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())] = True
    return flags


def _unnamed(hits: Hits) -> Ints:
    """Hits that say nothing but an id."""
    source = hits.field("source_id")
    if not source.null_count:
        return np.zeros(0, np.int64)
    return np.flatnonzero(bools(source.is_null(), False) & whole(hits))


def touching(hits: Hits, source: pa.Array, evidence: Evidence) -> Bools:
    """(n_hits,): its source is one that its question has evidence in.

    A table of bits, by hashes of question and source, leaves few for the exact comparison.
    """
    of_gold = evidence.items.field("source_id")
    own = hits.field("source_id").null_count == 0
    wanted = apart(hashed(of_gold), evidence.row)
    hashes = hits.hashes("source_id") if own else hashed(source)
    keys = apart(hashes, hits.question, hits.list)
    bits = np.uint64(64 - max(10, min(22, len(wanted).bit_length() + 7)))
    table = np.zeros(1 << (64 - int(bits)), bool)
    table[(wanted >> bits).view(np.int64)] = True
    keys >>= bits
    maybe = np.flatnonzero(table[keys.view(np.int64)])
    gold = pl.DataFrame({"row": evidence.row, "source": pl.Series(of_gold, dtype=pl.String)})
    some = pl.DataFrame(
        {
            "row": hits.rows(maybe),
            "source": pl.Series(text(source.take(pa.array(maybe))), dtype=pl.String),
            "hit": maybe,
        }
    )
    touches = np.zeros(len(hits.list), bool)
    touches[some.join(gold, on=["row", "source"], how="semi")["hit"].to_numpy()] = True
    return touches


def _ranked(hits: Hits, passages: Hits, stages: Sequence[str], n: int) -> dict[str, pa.Array]:
    """Of every stage the ranks of its passages, how many hits it returned, and its error."""
    columns: dict[str, pa.Array] = {}
    starts = np.searchsorted(passages.row, np.arange(n))
    number = np.arange(len(passages.list)) - starts[passages.row]
    errors = _errors(hits)
    general = _by_question(hits.question, errors, hits.stage < 0, n)
    for code, stage in enumerate(stages):
        own = hits.stage == code
        there = np.zeros(n, bool)
        there[hits.question[own & _listed(hits)]] = True
        mine = np.flatnonzero(passages.in_stage == code)
        items = [
            pa.array(number[mine].astype(np.int32)),
            pa.array(passages.rank(mine)),
        ]
        ranks = pa.StructArray.from_arrays(items, fields=list(RANKED.value_type))
        columns[stage] = lists(passages.row[mine], ranks, n, null=~there)
        columns[f"{stage}{RETURNED}"] = pa.array(
            np.bincount(hits.question[own], weights=hits.length[own], minlength=n).astype(np.int64)
        )
        error = _by_question(hits.question, errors, own, n)
        columns[f"{stage}.error"] = pc.if_else(pa.array(there), error, pc.coalesce(error, general))
    return columns


def _listed(hits: Hits) -> Bools:
    """(n_lists,): there is a list, if an empty one."""
    if "hits" not in hits.table.column_names:
        return np.zeros(len(hits.question), bool)
    return np.asarray(hits.table["hits"].is_valid())


def _errors(hits: Hits) -> pa.Array:
    if "error" not in hits.table.column_names:
        return pa.nulls(len(hits.question), TEXT)
    return hits.table["error"].combine_chunks().cast(TEXT)


def _by_question(question: Ints, values: pa.Array, some: Bools, n: int) -> pa.Array:
    """(n,): the value in each question's row, among `some` rows; null where it has none."""
    at = np.full(n, -1, np.int64)
    at[question[some]] = np.flatnonzero(some)
    return values.take(pa.array(at, mask=at < 0))


def _holds(passage: Ints, evidence: Ints, passages: Hits, every: Evidence, n: int) -> pa.Array:
    """Per question, which of its passages is known to hold which of its evidence."""
    row = passages.row[passage]
    first = np.searchsorted(passages.row, np.arange(n))
    first_evidence = np.searchsorted(every.row, np.arange(n))
    pair = [passage - first[row], evidence - first_evidence[row]]
    items = [pa.array(part.astype(np.int32)) for part in pair]
    return lists(row, pa.StructArray.from_arrays(items, fields=list(HOLDS.value_type)), n)
