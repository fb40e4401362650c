"""A run's stages as TREC runs, and its judgements as qrels."""

from __future__ import annotations

import io

import polars as pl

from rayeval.errors import ConfigError
from rayeval.files import put
from rayeval.interop.out.exported import Exported


def write_trec(run: Exported, folder: str) -> list[str]:
    """Writes qrels.txt and a STAGE.run for every stage; returns their names.

    Raises ConfigError for an id with white space, which the format can't hold.
    """
    for name in ("question_id", "chunk_id"):
        ids = pl.concat([run.hits[name], run.judgements[name]])
        if len(spaced := ids.filter(ids.str.contains(r"\s"))):
            message = f"{name} {spaced[0]!r} has white space, which a TREC file can't hold"
            raise ConfigError(f"{message}; export to beir instead")
    parts = run.hits.partition_by("stage", maintain_order=True, as_dict=True)
    tables = {
        "qrels.txt": run.judgements.select("question_id", pl.lit("0"), "chunk_id", "relevance")
    }
    for (stage,), part in parts.items():
        tables[f"{str(stage).replace('/', '_')}.run"] = part.select(
            "question_id", pl.lit("Q0"), "chunk_id", "rank", "score", tag=pl.lit("rayeval")
        )
    for name, table in tables.items():
        sink = io.BytesIO()
        table.write_csv(sink, separator=" ", include_header=False, quote_style="never")
        put(folder, name, sink.getvalue())
    return list(tables)
