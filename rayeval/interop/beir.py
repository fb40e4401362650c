"""BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`.

Mapping. A query of the qrels is a question; its `split` is the qrels file's name, where that is a
split's. Each judged document is whole-document evidence and a group of its own. Grades that are all
0 or 1 become 0 and 3; else they must be 0 to 3 and are kept (BEIR calls 1 and more relevant, so
they are scored with `--relevant 1`). `_id` is the id, `title` stays apart from `text`. Queries
without judgements belong to other splits and are left out; a query of which no document is graded
above 0 is not labelled (`labels: none`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl

from rayeval.errors import DataError, Problem
from rayeval.files import is_folder, list_files
from rayeval.interop.cells import ROW, cells, located
from rayeval.interop.grades import graded, judged_questions
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Problems, distinct_documents
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.whole import broken
from rayeval.packed import extension
from rayeval.words import plural, verb

NAME = "beir"
FILES = "a BEIR folder, or its corpus.jsonl, queries.jsonl and qrels/*.tsv"
COLUMNS = {"query-id": "question_id", "corpus-id": "source_id", "score": "grade"}
SPLITS = ("train", "dev", "test", "regression")


def read(paths: Sequence[str]) -> Imported:
    """The queries with their judgements, and the documents where a corpus is among the files."""
    corpus, queries, qrels = _files(paths)
    problems = Problems()
    places: dict[str, Record] = {}
    texts = _queries(queries, places, problems)
    judged = pl.concat([_qrels(path, texts, problems) for path in qrels])
    _check_once(judged, problems)
    if problems:
        raise DataError(problems, foreign=True)
    found = graded(judged)
    return Imported(
        questions=judged_questions(found.judged, texts),
        documents=_documents(corpus, problems) if corpus else None,
        notes=[*found.notes, *_notes(judged, len(texts))],
        relevant=found.relevant,
        places=places,
        problems=problems,
    )


def _files(paths: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Corpus, queries and qrels among the files, a folder standing for what is in it."""
    every: list[str] = []
    for path in paths:
        below = [f"{path.rstrip('/')}/{name}" for name in list_files(path)]
        every += below if is_folder(path) else [path]
    named = [(path, PurePosixPath(path).name) for path in every]
    corpus = [path for path, name in named if name == "corpus.jsonl"]
    queries = [path for path, name in named if name == "queries.jsonl"]
    qrels = [path for path in every if extension(path) == ".tsv"]
    for found, what in ((queries, "queries.jsonl"), (qrels, "qrels, a .tsv file")):
        if not found:
            raise broken(paths[0], "missing_file", f"no {what} among the files; name it too")
    if len(corpus) > 1 or len(queries) > 1:
        message = f"{len(corpus)} corpus.jsonl and {len(queries)} queries.jsonl; name one of each"
        raise broken(paths[0], "wrong_files", message)
    return corpus, queries, qrels


def _queries(
    paths: Sequence[str], places: dict[str, Record], problems: list[Problem]
) -> dict[str, str]:
    """Id → text; `places` gets where each stands."""
    texts: dict[str, str] = {}
    for record in records(paths, problems, kinds=[".jsonl"]):
        try:
            name = record.id("_id")
            if name in texts:
                raise RefusedError("duplicate_question_id", f"`_id` {name!r} is there before")
            texts[name], places[name] = record.words("text"), record.place
        except RefusedError as error:
            problems.append(record.problem(error))
    return texts


def _qrels(path: str, texts: dict[str, str], problems: list[Problem]) -> pl.DataFrame:
    """`question_id, source_id, grade, split, file` and ROW; what is wrong is a problem."""
    stem = PurePosixPath(path).stem
    split = pl.lit(stem if stem in SPLITS else None, pl.String)
    frame = cells(path, list(COLUMNS)).rename(COLUMNS)
    whole = pl.col("grade").str.strip_chars().cast(pl.Int64, strict=False)
    known = pl.col("question_id").is_in(pl.Series(list(texts), dtype=pl.String).implode())
    lacking = frame.filter(pl.any_horizontal(pl.col(*COLUMNS.values()).is_null()))
    graded = frame.drop_nulls(list(COLUMNS.values()))
    faults = (
        (lacking, "missing_field", lambda row: "a cell is empty, expected two ids and a score"),
        (graded.filter(~known), "unknown_question",
         lambda row: f"`query-id` {row['question_id']!r} is not in queries.jsonl"),
        (graded.filter(~whole.is_between(0, 3).fill_null(False)), "bad_grade",
         lambda row: f"`score` is {row['grade']!r}, expected 0, 1, 2 or 3; map the grades first"),
    )  # fmt: skip
    for found, kind, say in faults:
        if len(found):
            problems.extend(located(path, found, kind, say))
    return graded.select(
        "question_id", "source_id", whole.alias("grade"), split.alias("split"),
        pl.lit(path).alias("file"), ROW,
    )  # fmt: skip


def _check_once(judged: pl.DataFrame, problems: list[Problem]) -> None:
    """A document is judged once for a query, and a query's judgements are in one file."""
    twice = judged.filter(~pl.struct("question_id", "source_id").is_first_distinct())
    apart = judged.filter(
        (pl.col("file") != pl.col("file").first().over("question_id"))
        & pl.struct("question_id", "file").is_first_distinct()
    )
    for path in judged["file"].unique(maintain_order=True):
        here = pl.col("file") == path
        if len(found := twice.filter(here)):
            say = lambda row: f"`corpus-id` {row['source_id']!r} is judged before; keep one"  # noqa: E731
            problems.extend(located(path, found, "duplicate_judgement", say))
        if len(found := apart.filter(here)):
            say = lambda row: "`query-id` is in another qrels file too; import one split at a time"  # noqa: E731
            problems.extend(located(path, found, "question_in_two_splits", say))


def _documents(paths: Sequence[str], problems: list[Problem]) -> Iterator[dict[str, object]]:
    def pairs() -> Iterator[tuple[Record, Parts]]:
        for record in records(paths, problems, kinds=[".jsonl"]):
            try:
                row = {
                    "source_id": record.id("_id"),
                    "title": record.text("title") or None,
                    "text": record.given("text"),
                }
                yield record, Parts(documents=[row])
            except RefusedError as error:
                problems.append(record.problem(error))

    return distinct_documents(pairs(), problems)


def _notes(judged: pl.DataFrame, n_queries: int) -> Iterator[str]:
    yield "a judged document is evidence as a whole, and a group of its own"
    if n := n_queries - judged["question_id"].n_unique():
        told = verb(n, "has no judgement and is", "have no judgement and are")
        yield f"{plural(n, 'query', 'queries')} {told} left out"
