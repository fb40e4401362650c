"""A batch of questions beside its rows of a trace, as metrics and first failures read it.

Of a list of a thousand hits a handful lies in a source that the question has evidence in, and the
first few decide metrics of characters and tokens. Only those become passages; of the rest it
matters how many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, lists
from rayeval.metrics.evidence import Evidence, evidence_of
from rayeval.metrics.foreign.hits import Bools, Hits
from rayeval.metrics.foreign.places import Known, Places, agreeing, places, sources
from rayeval.metrics.foreign.quotes import held
from rayeval.metrics.ranking import RANKED, RETURNED
from rayeval.metrics.relevance import HOLDS
from rayeval.tables import TEXT


@dataclass(frozen=True)
class Seen:
    """The hits that became passages, and what a batch has of all."""

    hits: Hits
    """The passages, question by question."""
    places: Places
    columns: dict[str, pa.Array]


def columns_of(
    hits: Hits, batch: pa.Table, stages: Sequence[str], deep: Sequence[int], known: Known
) -> Seen:
    """What PerQuery and FirstFailure read of the trace.

    deep: of every stage, how many of its first hits must be passages whatever they hold.
    """
    evidence = evidence_of(batch["evidence"])
    found = None if known.chunks is None else known.chunks.find(hits.field("chunk_id"))
    source = sources(hits, found, known)
    holder, quoted = held(hits, source, evidence)
    kept = hits.rank <= np.asarray(deep, np.int64)[hits.stage[hits.list]]
    kept |= touching(hits.row, source, evidence)
    kept[holder] = True
    which = np.flatnonzero(kept & (hits.stage[hits.list] >= 0))
    passages = hits.take(which)
    at = source.take(pa.array(which))
    where = places(passages, at, None if found is None else found[which], known)
    if known.documents is None:
        where = agreeing(where, passages.row, evidence)
    n = batch.num_rows
    columns = {"passages": lists(passages.row, where.structs(), n)}
    columns |= _ranked(hits, passages, stages, n)
    if len(holder):
        columns["holds"] = _holds(np.searchsorted(which, holder), quoted, passages, evidence, n)
    return Seen(passages, where, columns)


def touching(row: Ints, source: pa.Array, evidence: Evidence) -> Bools:
    """(n_hits,): its source is one that its question has evidence in."""
    of_gold = evidence.items.field("source_id")
    named = pc.drop_null(of_gold.unique())
    size = len(named)
    gold = np.asarray(pc.fill_null(pc.index_in(of_gold, value_set=named), -1), np.int64)
    keys = (evidence.row * size + gold)[gold >= 0]
    code = np.asarray(pc.fill_null(pc.index_in(source, value_set=named), -1))
    maybe = np.flatnonzero(code >= 0)
    touches = np.zeros(len(row), bool)
    touches[maybe[np.isin(row[maybe] * size + code[maybe], keys)]] = True
    return touches


def _ranked(hits: Hits, passages: Hits, stages: Sequence[str], n: int) -> dict[str, pa.Array]:
    """Of every stage the ranks of its passages, how many hits it returned, and its error."""
    columns: dict[str, pa.Array] = {}
    starts = np.searchsorted(passages.row, np.arange(n))
    number = np.arange(len(passages.list)) - starts[passages.row]
    listed = np.bincount(hits.list, minlength=len(hits.question))
    errors = _errors(hits)
    general = _by_question(hits.question, errors, hits.stage < 0, n)
    for code, stage in enumerate(stages):
        own = hits.stage == code
        there = np.zeros(n, bool)
        there[hits.question[own & _listed(hits)]] = True
        mine = np.flatnonzero(passages.stage[passages.list] == code)
        items = [pa.array(number[mine].astype(np.int32)), pa.array(passages.rank[mine].astype(np.int32))]
        ranks = pa.StructArray.from_arrays(items, fields=list(RANKED.value_type))
        columns[stage] = lists(passages.row[mine], ranks, n, null=~there)
        columns[f"{stage}{RETURNED}"] = pa.array(
            np.bincount(hits.question[own], weights=listed[own], minlength=n).astype(np.int64)
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


