"""Where a run's stages put gold, and which of their hits nobody has judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined
from rayeval.metrics.ranking import NEVER, first_ranks, ranking
from rayeval.metrics.relevance import Relevance, relevance
from rayeval.report.holding import holds
from rayeval.report.identity import STANDS, identities
from rayeval.report.listed import Listed, listed, near_gold
from rayeval.report.tables import Tables
from rayeval.tables import HITS, RESOLVED, conform

BLOCK = 2_000
"""Questions looked at together: what bounds the memory."""
RANKS = {
    "question_id": pl.String, "group_id": pl.String, "stage": pl.String, "rank": pl.Int64,
}  # fmt: skip
UNJUDGED = {
    "question_id": pl.String, "stage": pl.String, "chunk_id": pl.String, "passage": pl.UInt64,
    "rank": pl.Int64,
}  # fmt: skip
"""passage: which one it is, as `identities` has it."""


def gold_ranks(run: Tables, ids: Sequence[str], stages: Sequence[str]) -> pl.DataFrame:
    """RANKS, sorted: of every gold group at every stage that ran, the rank of the first hit that
    finds it; null where none does."""
    return _sorted([_ranks_in(*block, run, stages) for block in blocks(run, ids, stages)])


def unjudged(run: Tables, ids: Sequence[str], stages: Sequence[str], k: int) -> pl.DataFrame:
    """UNJUDGED: hits of the top `k`, of answerable questions with partial labels, that share no
    character with evidence of any grade."""
    found = [_unjudged_in(*block, run, stages, k) for block in blocks(run, ids, stages)]
    return pl.concat([pl.DataFrame(schema=UNJUDGED), *found])


def gold_and_unjudged(
    run: Tables, ids: Sequence[str], stages: Sequence[str], k: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`gold_ranks` and `unjudged`, reading the run once."""
    ranks, open_ = [], [pl.DataFrame(schema=UNJUDGED)]
    for block in blocks(run, ids, stages):
        ranks.append(_ranks_in(*block, run, stages))
        open_.append(_unjudged_in(*block, run, stages, k))
    return _sorted(ranks), pl.concat(open_)


def _ranks_in(table: pa.Table, hits: Listed, run: Tables, stages: Sequence[str]) -> pl.DataFrame:
    batch = near_gold(table, stages, hits, run)
    return _ranks(batch, relevance(batch, "passages", full=full(run)), stages)


def _unjudged_in(
    table: pa.Table, hits: Listed, run: Tables, stages: Sequence[str], k: int
) -> pl.DataFrame:
    for stage in stages:
        at = table.schema.get_field_index(stage)
        table = table.set_column(at, stage, pc.list_slice(table[stage], 0, k).cast(HITS))
    top = hits.where(hits.rank <= k)
    batch = table.append_column("passages", top.passages(table.num_rows))
    batch = batch.append_column("holds", holds(batch, run))
    return unjudged_in(batch, stages, run, full(run), k)


def full(run: Tables) -> float:
    """The share of an evidence's characters that finds it."""
    return float(run.manifest["config"]["metrics"]["full"])


def _sorted(ranks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    table = pl.concat([pl.DataFrame(schema=RANKS), *ranks])
    return table.sort("question_id", "group_id", maintain_order=True)


def _ranks(batch: pa.Table, found: Relevance, stages: Sequence[str]) -> pl.DataFrame:
    groups = found.evidence.groups
    passage, group = found.finds_group
    rows, names = combined(batch["question_id"]).take(pa.array(groups.row)), groups.group_id
    parts = []
    for stage in stages:
        rank = first_ranks(
            ranking(batch, stage, found.passages).rank, passage, group, len(groups.row)
        )
        ran = np.asarray(combined(batch[stage]).is_valid())[groups.row] & groups.gold
        part = pl.DataFrame(
            {"question_id": rows, "group_id": names, "stage": [stage] * len(rank), "rank": rank},
            schema=RANKS,
        )
        kept = part.filter(pl.Series(ran))
        parts.append(kept.with_columns(rank=pl.when(pl.col("rank") < NEVER).then("rank")))
    return pl.concat([pl.DataFrame(schema=RANKS), *parts])


def unjudged_in(
    batch: pa.Table, stages: Sequence[str], run: Tables, full: float, k: int
) -> pl.DataFrame:
    """UNJUDGED of a batch of the run: RESOLVED, hits under their stage's name, `passages` and
    `holds`."""
    found = relevance(batch, "passages", full=full)
    labels, answerable = combined(batch["labels"]), combined(batch["answerable"])
    asked = pc.fill_null(answerable, True)
    open_ = pc.and_(pc.not_equal(labels, "complete"), asked).to_numpy(False)
    chosen = open_[found.passages.row] & ~_labelled(found)
    columns = {name: found.passages.items.field(name) for name in ("chunk_id", *STANDS)}
    columns["question_id"] = combined(batch["question_id"]).take(pa.array(found.passages.row))
    hits = pl.DataFrame(pl.from_arrow(pa.table(columns)))
    parts = [hits.head(0).with_columns(stage=pl.lit(""), rank=pl.lit(0, pl.Int64))]
    for stage in stages:
        rank = ranking(batch, stage, found.passages).rank
        part = hits.with_columns(stage=pl.lit(stage), rank=pl.Series(rank, dtype=pl.Int64))
        parts.append(part.filter(pl.Series(chosen & (rank <= k))))
    every = pl.concat(parts)
    every = every.with_columns(identities(every, run))
    return every.select(pl.col(name).cast(kind) for name, kind in UNJUDGED.items())


def _labelled(found: Relevance) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(n_passages,): it shares text with evidence of any grade."""
    flags = np.zeros(len(found.passages.row), bool)
    flags[found.pairs.left] = True
    return flags


def blocks(
    run: Tables, ids: Sequence[str], stages: Sequence[str]
) -> Iterator[tuple[pa.Table, Listed]]:
    """The questions with their gold, and a column of hits per stage; the hits."""
    ids = sorted(ids)
    for start in range(0, len(ids), BLOCK):
        some = ids[start : start + BLOCK]
        trace = run.rows("trace", "question_id", some, ["question_id", "stage", "hits"])
        if trace.is_empty():  # a scored run need not keep its hits
            continue
        rows = run.rows("questions", "question_id", some).sort("question_id")
        for stage in stages:
            mine = trace.filter(pl.col("stage") == stage).drop("stage")
            mine = mine.rename({"hits": _column(stage)})
            rows = rows.join(mine, on="question_id", how="left", maintain_order="left")
        kept = [field for field in RESOLVED if field.name not in ("file", "line")]
        schema = pa.schema([*kept, *((_column(stage), HITS) for stage in stages)])
        table = conform(rows.to_arrow(), schema).combine_chunks()
        table = table.rename_columns([*(f.name for f in kept), *stages])
        yield table, listed(table, stages, run)


def _column(stage: str) -> str:
    """A stage may be called as a column of questions is."""
    return f"hits of {stage}"


def places(table: pa.Table, stages: Sequence[str], run: Tables) -> pa.Array:
    """Where the hits of all stages lie, of type PASSAGES; table: has a column of hits for each."""
    return listed(table, stages, run).passages(table.num_rows)
