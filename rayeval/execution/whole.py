"""Passages that are whole documents, with their text: a run keeps only where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from rayeval import files
from rayeval.corpus.read import read_documents, units
from rayeval.execution.runs import Run
from rayeval.interop.out.exported import Exported


def with_documents(run: Run, tables: Exported, corpus: str | None) -> Exported:
    """Whole documents under their own ids, with their texts.

    corpus: where they are; null: where they were when the run was made, if they still are.
    What isn't found there in the same revision, or isn't whole, stays as it is.
    """
    spans = pl.col("spans").list
    wanted = run.passages.filter(pl.col("text").is_null(), spans.len() == 1).select(
        "chunk_id", "source_id", "revision_id", span=spans.first()
    )
    place = corpus or (run.manifest.get("corpus") or {}).get("path")
    if wanted.is_empty() or place is None or not (corpus or files.exists(place)):
        return tables
    config = run.manifest["config"].get("corpus") or {}
    texts = _texts(place, None if corpus else config.get("include"), wanted["source_id"])
    found = wanted.unnest("span").join(texts, on=["source_id", "revision_id"])
    found = found.filter(
        pl.col("start_char") == 0, pl.col("end_char") == pl.col("text").str.len_chars()
    )
    others = run.passages.join(found, on="chunk_id", how="anti")["chunk_id"]
    free = found.filter(
        ~pl.col("source_id").is_duplicated(), ~pl.col("source_id").is_in(others.implode())
    )
    return _renamed(tables, found, dict(zip(free["chunk_id"], free["source_id"], strict=True)))


def _texts(place: str, include: list[str] | None, sources: pl.Series) -> pl.DataFrame:
    """`source_id, revision_id, text` of the documents at `place` that are among `sources`."""

    def parts() -> Iterator[pl.DataFrame]:
        for unit in units(place, include):
            for table, _ in read_documents(unit):
                frame = pl.DataFrame(
                    pl.from_arrow(table.select(["source_id", "revision_id", "text"]))
                )
                yield frame.filter(pl.col("source_id").is_in(sources.implode()))

    return pl.concat(parts())


def _renamed(tables: Exported, texts: pl.DataFrame, names: dict[str, str]) -> Exported:
    """With the texts, and passages called by new names."""
    known = texts.select("chunk_id", whole="text")
    passages = tables.passages.join(known, on="chunk_id", how="left", maintain_order="left")
    passages = passages.select("chunk_id", pl.coalesce("text", "whole").alias("text"))
    called = pl.col("chunk_id").replace(names)
    return replace(
        tables,
        passages=passages.with_columns(called),
        judgements=tables.judgements.with_columns(called),
        hits=tables.hits.with_columns(called),
    )
