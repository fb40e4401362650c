"""A run in other tools' files, so that anyone can check it with another tool."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow as pa

from rayeval.errors import ConfigError
from rayeval.execution.runs import Run
from rayeval.execution.whole import with_documents
from rayeval.files import is_folder, list_files
from rayeval.interop.out.beir import write_beir
from rayeval.interop.out.exported import Exported
from rayeval.interop.out.ragas import write_ragas
from rayeval.interop.out.trec import write_trec
from rayeval.metrics.relevance import relevance
from rayeval.report.gold import full
from rayeval.report.holding import holds
from rayeval.tables import LOCATED, PASSAGES
from rayeval.words import plural, verb

WRITERS: dict[str, Callable[[Exported, str], list[str]]] = {
    "trec": write_trec, "beir": write_beir, "ragas": write_ragas,
}  # fmt: skip


NAMED = 5
"""Questions that a note names."""


def export_run(
    run: Run, kind: str, folder: str, corpus: str | None = None
) -> tuple[list[str], list[str]]:
    """Writes the run as `kind` into an empty folder; returns the names of the files, and notes.

    corpus: the documents of passages whose text the run doesn't hold; null: where they were.
    Raises ConfigError if the kind is unknown, the folder not empty, or a text not to be found.
    """
    if kind not in WRITERS:
        raise ConfigError(f"unknown format {kind!r}; there are {', '.join(WRITERS)}")
    if is_folder(folder) and list_files(folder):
        raise ConfigError(f"{folder} is not empty; name another folder")
    tables = with_documents(run, exported(run), corpus)
    names = WRITERS[kind](tables, folder)
    return names, [] if kind == "ragas" else _unjudged(run, tables.judgements)


def _unjudged(run: Run, judgements: pl.DataFrame) -> list[str]:
    """A note of answerable questions of which no passage is judged."""
    asked = run.questions.filter("answerable").select("question_id")
    lost = asked.join(judgements, on="question_id", how="anti")["question_id"].sort().to_list()
    if not lost:
        return []
    have = verb(len(lost), "has", "have")
    shown = ", ".join(lost[:NAMED]) + (", …" if len(lost) > NAMED else "")
    return [
        f"{len(lost)} of {plural(asked.height, 'answerable question')} ({shown}) {have} no "
        f"judgement, since no "
        "passage is known to hold their gold alone: other tools leave them out, rayeval doesn't"
    ]


def exported(run: Run) -> Exported:
    """The run's tables as every export needs them, by question_id."""
    gold = pl.element().struct.field("gold")
    quote = pl.element().struct.field("quote")
    questions = run.questions.select(
        "question_id",
        "question",
        "reference_answer",
        quotes=pl.col("evidence").list.eval(quote.filter(gold).drop_nulls()),
    )
    passages = run.passages.select("chunk_id", "text").sort("chunk_id")
    return Exported(questions, passages, _judgements(run), _hits(run))


def _hits(run: Run) -> pl.DataFrame:
    """In the order of the run's stages."""
    stages = pl.DataFrame({"stage": run.manifest["stages"]}, schema={"stage": pl.String})
    rows = run.trace.select("question_id", "stage", "hits").drop_nulls("hits")
    depth = pl.col("hits").list.len()
    rows = stages.with_row_index("order").join(rows, on="stage").sort("order", "question_id")
    rows = rows.with_columns(rank=pl.int_ranges(1, depth + 1), score=pl.int_ranges(depth, 0, -1))
    rows = rows.filter(depth > 0).explode("hits", "rank", "score")
    chunk = pl.col("hits").struct.field("chunk_id")
    return rows.select("question_id", "stage", chunk, "rank", "score")


def _judgements(run: Run) -> pl.DataFrame:
    """The relevance of every passage that alone finds evidence of a question, as it was scored."""
    near = _near(run)
    batch = run.questions.select("question_id", "evidence").join(near, on="question_id")
    table = pa.table(
        {
            "evidence": batch["evidence"].to_arrow().cast(pa.list_(LOCATED)),
            "passages": batch["passages"].to_arrow().cast(PASSAGES),
        }
    )
    table = table.append_column("holds", holds(table, run))
    found = relevance(table, "passages", full=full(run))
    passage, evidence = found.finds
    items = batch.select("question_id", "passages").explode("passages")[passage]
    grades = pl.Series(found.evidence.grade[evidence])
    placed = items.select(
        "question_id", pl.col("passages").struct.field("chunk_id"), relevance=grades
    )
    return (
        placed.group_by("question_id", "chunk_id")
        .agg(pl.col("relevance").max())
        .sort("question_id", "chunk_id")
    )


def _near(run: Run) -> pl.DataFrame:
    """`question_id, passages`: of every question its hits, and what lies in its evidence's sources;
    of type PASSAGES."""
    place = ["chunk_id", "source_id", "revision_id", "spans", "tokens"]
    passages = run.passages.select(place)
    source = pl.element().struct.field("source_id")
    sources = run.questions.select("question_id", pl.col("evidence").list.eval(source))
    sources = sources.explode("evidence").rename({"evidence": "source_id"}).unique()
    hits = run.trace.select("question_id", "hits").drop_nulls("hits").explode("hits")
    hits = hits.drop_nulls("hits").select("question_id", pl.col("hits").struct.field("chunk_id"))
    columns = ["question_id", *place]
    near = pl.concat(
        [sources.join(passages, on="source_id").select(columns),
         hits.unique().join(passages, on="chunk_id").select(columns)]
    )  # fmt: skip
    near = near.unique(["question_id", "chunk_id"]).sort("question_id", "chunk_id")
    return near.group_by("question_id", maintain_order=True).agg(passages=pl.struct(place))
