"""rayeval's own trace (DESIGN §3): JSON Lines with a question per line, or Parquet.

JSON Lines: `{"question_id", "stages": {name: {"hits": [...], "latency_ms"?, "error"?}}, "context"?,
"answer"?, "abstained"?, "citations"?, "repeat"?, "error"?}`. A hit is an object of FOREIGN_HIT's
fields, or plain text, which is a passage. `context` is the hits of a stage `context`. Ids that are
whole numbers are read as their decimal text.

Parquet, told apart by its columns: a row per (question_id, stage) with a list column `hits`
(FOREIGN, or a run's own `trace.parquet`), or a row per hit with the columns of FLAT. Either may
have the columns `repeat`, `answer`, `abstained` and `citations`, in any of a question's rows; as in
lines, hits are those of the first time, repeat 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rayeval.errors import ConfigError, Problem
from rayeval.interop.imported import Imported
from rayeval.interop.own import jsonl, parquet
from rayeval.interop.own.nameless import Nameless
from rayeval.interop.own.parquet import check_schema
from rayeval.interop.own.replies import COLUMNS as OF_ANSWER
from rayeval.interop.own.replies import Replies
from rayeval.packed import extension

NAME = "rayeval"
FILES = "a trace of rayeval's own: one or more .jsonl or .parquet files"

WITH_HITS = (
    "trec", "csv", "ragas", "deepeval", "ragchecker", "autorag", "nomiracl", "openinference",
    "langfuse",
)  # fmt: skip
"""The formats that hold hits."""
EXTENSIONS = (".jsonl", ".ndjson", ".parquet")


def read(paths: Sequence[str]) -> Imported:
    """The trace in the files, one after another.

    Raises ConfigError for a file of another kind, DataError for one that isn't whole.
    """
    problems: list[Problem] = []
    lines = jsonl.Lines(problems)
    replies = {path: Replies(path, problems) for path in paths if not is_lines(path)}
    for path in paths:
        if extension(path) not in EXTENSIONS:
            raise ConfigError(
                f"trace {path}: expected a file that ends in {', '.join(EXTENSIONS)}; "
                f"of other tools' files say which with --format: {_formats(extension(path))}"
            )
    nameless = Nameless()
    tables = (
        table
        for path in paths
        for table in (
            lines.read(path) if is_lines(path) else parquet.tables(path, replies[path], nameless)
        )
    )
    answers = chain(lines.answers(), *(one.answers() for one in replies.values()))
    return Imported(trace=tables, answers=answers, notes=lines.notes, problems=problems)


def _formats(ending: str) -> str:
    """The names of the formats that hold hits, those first that take files of this kind."""
    from rayeval.interop.formats import formats

    known = formats()
    fit = [name for name in WITH_HITS if ending and ending in known[name].FILES]
    return ", ".join(fit or WITH_HITS)


def is_lines(path: str) -> bool:
    """Whether the file is JSON Lines, compressed or not."""
    return extension(path) in (".jsonl", ".ndjson")


__all__ = ["FILES", "NAME", "OF_ANSWER", "check_schema", "is_lines", "read"]
