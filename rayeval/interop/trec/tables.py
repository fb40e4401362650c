"""TREC runs and judgements, from text or Parquet, checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import polars as pl

from rayeval.errors import DataError, Problem
from rayeval.files import exists, is_folder, reading
from rayeval.interop.cells import ROW, cells, located
from rayeval.interop.trec.rows import QRELS_COLUMNS, RUN_COLUMNS, is_parquet, read_rows
from rayeval.interop.trec.text import MOST, Fault, Layout, numbered, read, refused

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
GRADE = r"[+-]?\d{1,3}(\.0*)?"
BEIR = {"query-id": "query", "corpus-id": "document", "score": "grade"}
LARGEST = 127
"""Of a grade, as trec_eval documents it; the least is -127."""
_SPACES = "TREC's format can't hold an id with a space; Parquet can"


def read_run(path: str) -> pl.DataFrame:
    """`query, document` (text) and `score` (float64, no NaN) of every hit, in the file's order.

    Raises DataError with every line or row that is malformed.
    """
    if is_parquet(path):
        return read_rows(path, RUN_COLUMNS)
    frame = read(path, RUN)
    if frame["score"].is_nan().any():
        raise refused(path, RUN)
    return frame


def read_judgements(path: str) -> pl.DataFrame:
    """`query, document` (text) and `grade` (int64) of every judgement, in the file's order.

    BEIR's, which have three columns below a header, are read too.
    Raises DataError with every line or row that is malformed or judges a document again.
    """
    if is_parquet(path):
        frame = read_rows(path, QRELS_COLUMNS)
    elif is_beir(path):
        frame = _read_beir(path)
    else:
        frame = read(path, QRELS)
        if not all(is_grade(text) for text in frame["grade"].unique()):
            raise refused(path, QRELS)
        frame = frame.with_columns(pl.col("grade").cast(pl.Float64).cast(pl.Int64))
    twice = frame.filter(pl.struct("query", "document").is_duplicated())
    if not twice.is_empty():
        raise repeated(path, frame, twice, "is judged more than once for this query; keep one")
    return frame


def is_beir(path: str) -> bool:
    """Whether the file begins as BEIR's judgements do; False where there is none."""
    if is_folder(path) or not exists(path):
        return False
    with reading(path) as stream:
        return bool(stream.read(64).lstrip(b"\xef\xbb\xbf").startswith(b"query-id\tcorpus-id"))


def _read_beir(path: str) -> pl.DataFrame:
    frame = cells(path, list(BEIR)).rename(BEIR)
    frame = frame.with_columns(pl.col("grade").str.strip_chars())
    known = [text for text in frame["grade"].unique().drop_nulls() if is_grade(text)]
    whole = frame.drop_nulls(list(BEIR.values()))
    lacking = frame.join(whole, on=ROW, how="anti")
    wrong = whole.filter(~pl.col("grade").is_in(known))
    if len(lacking) or len(wrong):
        empty = lambda row: "a cell is empty, expected two ids and a score"  # noqa: E731
        found = located(path, lacking, "missing_field", empty)
        found += located(path, wrong, "bad_grade", lambda row: bad_grade(row["grade"]))
        raise DataError(found)
    return whole.select("query", "document", pl.col("grade").cast(pl.Float64).cast(pl.Int64))


def repeated(path: str, frame: pl.DataFrame, pairs: pl.DataFrame, what: str) -> DataError:
    """The error that says where documents occur again.

    frame: `query, document` of every row of the file. pairs: those that occur more than once.
    """
    rows = frame.with_row_index("row")
    rows = rows.join(pairs.unique(), on=["query", "document"], how="semi", maintain_order="left")
    wrong = {row["row"]: row for row in rows.head(MOST).iter_rows(named=True)}
    lines = (
        {row: row + 1 for row in wrong}
        if is_parquet(path)
        else {row: line for row, (line, _) in enumerate(_numbered(path)) if row in wrong}
    )
    return DataError(
        [
            Problem(path, lines[row], at["query"], "repeated_id", f"{at['document']!r} {what}")
            for row, at in wrong.items()
        ]
    )


def _numbered(path: str) -> Iterator[tuple[int, list[bytes]]]:
    """The lines that are rows, each with its number."""
    return islice(numbered(path), int(is_beir(path)), None)


def _run_fault(fields: list[bytes]) -> Fault | None:
    shown = b" ".join(fields).decode()[:80]
    if len(fields) < 6:
        said = f"expected 6 fields (query Q0 document rank score tag), found {len(fields)}: {shown}"
        return "malformed_line", said
    if len(fields) > 6 and not NUMBER.fullmatch(fields[3]):
        said = f"more than 6 fields, and the rank is no number: {shown}. Is there a space in an id?"
        return "malformed_line", f"{said} {_SPACES}"
    if NUMBER.fullmatch(fields[4]):
        return None
    score = fields[4].decode()[:40]
    if score.lower().lstrip("+-") == "nan":
        said = "which has no place in an order: drop the hit, or give it a score"
        return "nan_score", f"the score of {fields[2].decode()!r} is NaN, {said}"
    return "bad_score", f"the score of {fields[2].decode()!r} is {score!r}, expected a number"


def _shifted(frame: pl.DataFrame) -> pl.Series:
    """Lines that have more fields, and a rank that is none."""
    rank = frame["rank"].cast(pl.Float64, strict=False)
    return frame["more"].is_not_null() & rank.is_null()


def _grade_fault(fields: list[bytes]) -> Fault | None:
    shown = b" ".join(fields).decode()[:80]
    if len(fields) != 4:
        said = f"expected 4 fields (query 0 document grade), found {len(fields)}: {shown}"
        hint = f"{_SPACES}"
        if len(fields) < 4:
            hint = "BEIR's have 3, below a header by which they are known: query-id corpus-id score"
        return "malformed_line", f"{said}. {hint}"
    grade = fields[3].decode()
    return None if is_grade(grade) else ("bad_grade", bad_grade(grade))


def _longer(frame: pl.DataFrame) -> pl.Series:
    return frame["more"].is_not_null()


def is_grade(text: str) -> bool:
    """Whether it is a whole number that trec_eval takes for a grade."""
    return re.fullmatch(GRADE, text, re.ASCII) is not None and abs(float(text)) <= LARGEST


def bad_grade(grade: object) -> str:
    """What is wrong with a grade that is none."""
    return f"the grade is {str(grade)[:40]!r}, expected a whole number from -127 to 127"


_IDS: dict[str, type[pl.DataType]] = {"query": pl.String, "document": pl.String}
RUN = Layout(
    ("query", "iteration", "document", "rank", "score", "tag"),
    {**_IDS, "score": pl.Float64},
    _run_fault,
    _shifted,
)
QRELS = Layout(
    ("query", "iteration", "document", "grade"),
    {**_IDS, "grade": pl.String},
    _grade_fault,
    _longer,
)
