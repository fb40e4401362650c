"""What a run keeps of somebody else's hits, so that a question can be shown: the first of each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, lists
from rayeval.metrics.foreign.hits import Hits
from rayeval.metrics.foreign.places import Places
from rayeval.stated import shown
from rayeval.tables import CHUNKS, HIT, HITS, STANDS, TEXT

PASSAGE = pa.struct(
    [
        *(CHUNKS.field(n)
          for n in ("chunk_id", "source_id", "revision_id", "spans", "text", "tokens")),
        ("stands", STANDS),
    ]
)  # fmt: skip
STAGE = pa.struct([("stage", TEXT), ("hits", HITS), ("latency_ms", pa.float64()), ("error", TEXT)])
KEPT = pa.schema([("trace", pa.list_(STAGE)), ("passages", pa.list_(PASSAGE))])


def kept(
    every: Hits, passages: Hits, places: Places, stages: pa.Array, depths: Sequence[int], n: int
) -> dict[str, pa.Array]:
    """Columns of KEPT: of every list the first hits, and where they lie.

    every: all hits, of which `passages` at `places` are those that were looked at.
    depths: (n_stages,), how many of each stage.
    """
    rank = passages.rank(np.arange(len(passages.list)))
    which = np.flatnonzero(rank <= np.asarray(depths, np.int64)[passages.in_stage])
    hits, where = passages.take(which), places.take(which)
    ids = names_of(hits, where)
    rows = pa.StructArray.from_arrays([ids, hits.field("score")], fields=list(HIT))
    listed = lists(hits.list, rows, len(every.question), null=~_listed(every))
    stage = _stages(every, len(stages))
    named = stage >= 0
    at = pa.array(np.flatnonzero(named))
    items = [stages.take(pa.array(stage[named])), listed.take(at).cast(HITS)]
    items += [
        _column(every, name, kind).take(at)
        for name, kind in (("latency_ms", pa.float64()), ("error", TEXT))
    ]
    return {
        "trace": lists(
            every.question[named], pa.StructArray.from_arrays(items, fields=list(STAGE)), n
        ),
        "passages": lists(hits.row, _passages(ids, hits, where), n),
    }


def _stages(hits: Hits, count: int) -> Ints:
    """(n_lists,): which of the stages; the error of a whole question is that of the first stage
    which the question lacks, else -1."""
    stage = hits.stage.copy()
    errors = np.asarray(_column(hits, "error", TEXT).is_valid())
    failed = np.flatnonzero((stage < 0) & errors)
    rows, place = np.unique(hits.question[failed], return_inverse=True)
    mine = (hits.stage >= 0) & np.isin(hits.question, rows)
    there = np.zeros((len(rows), count), bool)
    there[np.searchsorted(rows, hits.question[mine]), hits.stage[mine]] = True
    first = np.where(there.all(axis=1), -1, there.argmin(axis=1))
    stage[failed] = first[place]
    return stage


def _passages(ids: pa.Array, hits: Hits, where: Places) -> pa.StructArray:
    spans = where.spans
    texts = hits.field("text")
    columns = [ids, where.source, where.revision, spans, texts, where.tokens, where.stands]
    return pa.StructArray.from_arrays(columns, fields=list(PASSAGE))


def names_of(hits: Hits, where: Places) -> pa.Array:
    """Their own, else the place, `source@revision[start,end)`, else a hash of the text."""
    own = hits.field("chunk_id")
    if not own.null_count:
        return own
    revision = pc.fill_null(_joined(pa.scalar("@", TEXT), where.revision), "")
    place = _joined(where.source, revision, shown(where.spans))
    place = pc.if_else(where.spans.is_valid(), place, None)
    texts = hits.field("text").dictionary_encode()
    named = [
        f"text-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        for text in texts.dictionary.to_pylist()
    ]
    return pc.coalesce(own, place, pa.array(named, TEXT).take(texts.indices))


def _joined(*parts: pa.Array | pa.Scalar) -> pa.Array:
    """The parts put together row by row; null where one of them is."""
    return pc.binary_join_element_wise(*parts, pa.scalar("", TEXT))


def _listed(hits: Hits) -> np.ndarray:
    if "hits" not in hits.table.column_names:
        return np.zeros(len(hits.question), bool)
    return np.asarray(hits.table["hits"].is_valid())


def _column(hits: Hits, name: str, kind: pa.DataType) -> pa.Array:
    if name not in hits.table.column_names:
        return pa.nulls(len(hits.question), kind)
    return hits.table[name].combine_chunks().cast(kind)
