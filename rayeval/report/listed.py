"""The hits of a run's stages as numbers, and where they lie.

A stage lists the same chunks for many questions: texts and places are looked up once for each, and
of the hits only those matter to gold that lie in a source which their question has evidence in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, flatten, lists
from rayeval.metrics.evidence import evidence_of, ints
from rayeval.metrics.ranking import RANKED, RETURNED
from rayeval.metrics.spans import Bools
from rayeval.report.holding import as_column, held, open_pairs
from rayeval.report.tables import Tables
from rayeval.tables import PASSAGES, PLACE, TEXT, conform


@dataclass(frozen=True)
class Listed:
    """Every hit of a batch, stage after stage; arrays (n_hits,)."""

    row: Ints
    stage: Ints
    rank: Ints
    """From 1."""
    chunk: Ints
    """Its place among the chunks."""
    chunks: pa.StructArray
    """(n_chunks,), PLACE, by chunk_id."""

    def where(self, chosen: Bools) -> Listed:
        """Some of the hits."""
        parts = {name: getattr(self, name)[chosen] for name in ("row", "stage", "rank", "chunk")}
        return replace(self, **parts)

    @property
    def pairs(self) -> Ints:
        """(row, chunk) of every hit, as one number."""
        return self.row * max(1, len(self.chunks)) + self.chunk

    def passages(self, n_rows: int) -> pa.Array:
        """Every chunk once for a row, by chunk_id, of type PASSAGES."""
        row, chunk = np.divmod(np.unique(self.pairs), max(1, len(self.chunks)))
        return lists(row, self.chunks.take(pa.array(chunk)), n_rows).cast(PASSAGES)


def listed(table: pa.Table, stages: Sequence[str], run: Tables) -> Listed:
    """The hits in the columns `stages` of a batch of the run's questions."""
    parts = [flatten(table[stage]) for stage in stages]
    ids = pa.concat_arrays([pa.array([], TEXT), *(hits.field("chunk_id") for _, hits in parts)])
    coded = ids.dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    none = np.zeros(0, np.int64)
    return Listed(
        row=np.concatenate([none, *(row for row, _ in parts)]),
        stage=np.repeat(np.arange(len(parts)), [len(row) for row, _ in parts]),
        rank=np.concatenate([none, *(_ranks(row) for row, _ in parts)]),
        chunk=place[coded.indices.to_numpy()],
        chunks=_placed(coded.dictionary.take(pa.array(order)), run),
    )


def _ranks(row: Ints) -> Ints:
    return np.arange(len(row)) - np.searchsorted(row, row) + 1


def _placed(ids: pa.Array, run: Tables) -> pa.StructArray:
    """Where the run's passages with these ids lie."""
    names = [field.name for field in PLACE]
    found = run.rows("passages", "chunk_id", ids.to_pylist(), names)
    places = conform(found.select(names).to_arrow(), pa.schema(list(PLACE)))
    at = pc.index_in(ids, value_set=combined(places["chunk_id"]))
    columns = [ids, *(combined(places[name]).take(at) for name in names[1:])]
    return pa.StructArray.from_arrays(columns, fields=list(PLACE))


def near_gold(table: pa.Table, stages: Sequence[str], hits: Listed, run: Tables) -> pa.Table:
    """The batch with `passages`, `holds` and each stage's ranks, of the hits in the sources of
    evidence, and of those that hold its quote."""
    row, evidence = flatten(table["evidence"])
    n, n_chunks = table.num_rows, len(hits.chunks)
    every = pa.concat_arrays([hits.chunks.field("source_id"), evidence.field("source_id")])
    source = ints(every.dictionary_encode().indices, -1) + 1
    size = int(source.max(initial=0)) + 1
    touching = _among(hits.row * size + source[hits.chunk], row * size + source[n_chunks:])
    items = evidence_of(table["evidence"])
    maybe = hits.where(open_pairs(hits.row, hits.chunk, hits.chunks, items))
    several = np.unique(maybe.pairs)
    of, chunk = np.divmod(several, max(1, n_chunks))
    pair, item = held(of, chunk, hits.chunks, items, run)
    near = hits.where(touching | _among(hits.pairs, several[pair]))
    pairs = np.unique(near.pairs)
    first = np.searchsorted(pairs, np.arange(n) * max(1, n_chunks))
    for number, stage in enumerate(stages):
        mine = near.where(near.stage == number)
        passage = np.searchsorted(pairs, mine.pairs) - first[mine.row]
        fields = [pa.array(values.astype(np.int32)) for values in (passage, mine.rank)]
        ranks = pa.StructArray.from_arrays(fields, fields=list(RANKED.value_type))
        null = np.asarray(combined(table[stage]).is_null())
        returned = np.bincount(hits.row[hits.stage == number], minlength=n)
        at = table.schema.get_field_index(stage)
        table = table.set_column(at, stage, lists(mine.row, ranks, n, null=null))
        table = table.append_column(f"{stage}{RETURNED}", pa.array(returned))
    passage = np.searchsorted(pairs, several[pair])
    holding = as_column(pairs // max(1, n_chunks), passage, row, item, n)
    return table.append_column("passages", near.passages(n)).append_column("holds", holding)


def _among(values: Ints, wanted: Ints) -> Bools:
    """(n,): which are among some, of which there are few."""
    known = np.unique(wanted)
    if not len(known):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found: Bools = known[at] == values
    return found
