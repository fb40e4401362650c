"""TREC runs (`query Q0 document rank score tag`) and judgements (`query 0 document grade`).

Mapping. A judged query is a question; each judged document is whole-document evidence and a group
of its own. Negative grades mean not judged and are left out. Grades that are all 0 or 1 become 0
and 3; else they must be 0 to 3 and are kept (trec_eval calls 1 and more relevant, so they are
scored with `--relevant 1`). Others are refused: where 1 is best, as it is in Cranfield's, a guess
would turn gold upside down. A query of which no document is graded above 0 is not labelled. Topics
(`<top>` or `<DOC>` blocks, or an id, a tab and the text a line) give questions their text; without
them a question is called by its query's id. A run becomes a trace of one stage, `trace`, ordered as
trec_eval orders it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
import pyarrow as pa

from rayeval.errors import DataError, Problem
from rayeval.interop.grades import Graded, graded, judged_questions
from rayeval.interop.imported import Imported
from rayeval.interop.trec.rows import QRELS_COLUMNS, is_parquet, names_in
from rayeval.interop.trec.tables import is_beir, read_judgements, read_run, repeated
from rayeval.interop.trec.text import numbered
from rayeval.interop.trec.topics import read_topics, topics_in
from rayeval.tables import FOREIGN, conform
from rayeval.words import plural, verb

__all__ = [
    "FILES", "NAME", "is_beir", "names_in", "read", "read_judgements", "read_run", "repeated",
]  # fmt: skip

NAME = "trec"
FILES = "judgements (qrels), a run, topics: any of them, told apart by their fields; or Parquet"
BLOCK = 1024
"""Queries to a table of the trace."""


def read(paths: Sequence[str]) -> Imported:
    """Judgements as questions, a run as their trace."""
    kinds: dict[str, list[str]] = {"judgements": [], "run": [], "topics": []}
    for path in paths:
        kinds[_kind(path)].append(path)
    for kind, found in kinds.items():
        if len(found) > 1:
            message = f"{' and '.join(found)} are both {kind}; name one of each kind"
            raise DataError([Problem(found[1], None, None, "wrong_files", message)])
    if not kinds["judgements"] and not kinds["run"]:
        message = "neither judgements nor a run among the files; name one too"
        raise DataError([Problem(paths[0], None, None, "missing_file", message)])
    questions, notes, relevant = None, list[str](), None
    if kinds["judgements"]:
        [path] = kinds["judgements"]
        judged, left = _graded(path, read_judgements(path))
        names = judged.judged["question_id"].unique(maintain_order=True)
        texts, more = _texts(kinds["topics"], names)
        questions, relevant = judged_questions(judged.judged, texts), judged.relevant
        notes = [*judged.notes, *left, *more]
    trace = _trace(kinds["run"][0], read_run(kinds["run"][0])) if kinds["run"] else None
    return Imported(
        questions=questions,
        trace=trace,
        of_gold=notes,
        relevant=relevant,
        either=trace is not None,
    )


def _kind(path: str) -> str:
    """What a file is, by the number of its fields or the names of its columns."""
    if is_parquet(path):
        graded = set(QRELS_COLUMNS["grade"]) - {"score"}
        return "judgements" if graded & set(names_in(path)) else "run"
    if is_beir(path):
        return "judgements"
    if topics_in(path):
        return "topics"
    _, fields = next(numbered(path), (0, []))
    return "judgements" if len(fields) < 5 else "run"


def _graded(path: str, judged: pl.DataFrame) -> tuple[Graded, list[str]]:
    """`question_id, source_id, relevance, split` of what is judged, and what was left out."""
    kept = judged.filter(pl.col("grade") >= 0)
    outside = sorted(set(kept["grade"]) - {0, 1, 2, 3})
    if outside or kept.is_empty():
        message = (
            f"grades {', '.join(map(str, outside)) or 'below 0 only'}: expected 0 to 3, where "
        )
        message += "3 answers completely and 0 is irrelevant. rayeval does not guess what others "
        message += "mean (in some collections 1 is best): write them as 0 to 3"
        raise DataError([Problem(path, None, None, "unknown_grades", message)])
    left = judged.height - kept.height
    notes = []
    if left:
        told = verb(left, "means not judged and is", "mean not judged and are")
        notes.append(f"{plural(left, 'negative grade')} {told} left out")
    frame = kept.select("grade", question_id="query", source_id="document")
    return graded(frame.with_columns(split=pl.lit(None, pl.String))), notes


def _texts(topics: Sequence[str], queries: pl.Series) -> tuple[dict[str, str], list[str]]:
    """The question of every query, and a note on those that have none."""
    known = read_topics(topics[0]) if topics else {}
    lacking = [name for name in queries if name not in known]
    notes = []
    if lacking:
        shown = ", ".join(lacking[:3]) + (", …" if len(lacking) > 3 else "")
        told = verb(len(lacking), "is called by its id", "are called by their ids")
        notes.append(f"{plural(len(lacking), 'question')} without a topic {told}: {shown}")
    return {name: known.get(name, name) for name in queries}, notes


def _trace(path: str, run: pl.DataFrame) -> Iterator[pa.Table]:
    """FOREIGN: a row per query."""
    twice = run.filter(pl.struct("query", "document").is_duplicated())
    if not twice.is_empty():
        raise repeated(path, run, twice, "is listed more than once for this query")
    order = ["query", "score", "document"]
    run = run.sort(order, descending=[False, True, True])
    rows = run.group_by("query", maintain_order=True).agg(
        hits=pl.struct(source_id="document", score="score")
    )
    for block in rows.select(question_id="query", stage=pl.lit("trace"), hits="hits").iter_slices(
        BLOCK
    ):
        yield conform(_hits(block), FOREIGN)


def _hits(block: pl.DataFrame) -> pa.Table:
    """With every field of a foreign hit."""
    known = ("source_id", "score")
    fields = [
        pl.element().struct.field(field.name)
        if field.name in known
        else pl.lit(None).alias(field.name)
        for field in FOREIGN.field("hits").type.value_type
    ]
    return block.with_columns(pl.col("hits").list.eval(pl.struct(fields))).to_arrow()
