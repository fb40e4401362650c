"""Runs and judgements as rows of Parquet, whose ids may hold anything."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from rayeval import files
from rayeval.errors import DataError, Problem
from rayeval.twice import refuse_twice

Names = Mapping[str, Sequence[str]]
"""Column → what files call it; the first of them that is there is taken."""
_IDS: Names = {
    "query": ("query_id", "question_id", "qid", "q_id", "query", "topic"),
    "document": ("doc_id", "docno", "docid", "document_id", "document", "source_id", "chunk_id"),
}
RUN_COLUMNS: Names = {**_IDS, "score": ("score", "sim")}
QRELS_COLUMNS: Names = {**_IDS, "grade": ("relevance", "rel", "grade", "label", "score")}


def is_parquet(path: str) -> bool:
    """Whether the file's extension says so."""
    return PurePosixPath(path).suffix.lower() == ".parquet"


def names_in(path: str) -> list[str]:
    """The columns of a Parquet file.

    Raises DataError for a file that is not there or not whole, and for a name that is twice.
    """
    fs, inner = files.open_fs(path)
    try:
        schema = pq.read_schema(inner, filesystem=fs)
    except FileNotFoundError as error:
        raise _refused(path, "missing_file", "there is no such file; name a file") from error
    except (pa.ArrowException, OSError) as error:
        raise _refused(
            path, "unreadable_file", f"cut off or damaged ({error}); write it again"
        ) from error
    refuse_twice(path, schema)
    return list(schema.names)


def read_rows(path: str, names: Names) -> pl.DataFrame:
    """The columns of `names`, ids as text, a score as float64, a grade as int64.

    Whole numbers as ids become their decimal text, as a text file would have them.
    Raises DataError for a file that is not whole, a column that is absent or of another type, and
    every row without an id or a number.
    """
    columns = _columns(path, names)
    try:
        source = io.BytesIO(files.read_bytes(path)) if files.is_uri(path) else path
        frame = pl.read_parquet(source, columns=list(columns.values()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _refused(
            path, "unreadable_file", f"cut off or damaged ({error}); write it again"
        ) from error
    frame = frame.select(**{name: pl.col(column) for name, column in columns.items()})
    if frame.is_empty():
        raise _refused(path, "empty_file", "there is no row in it; is it the right file?")
    return _typed(path, frame)


def _columns(path: str, names: Names) -> dict[str, str]:
    """What this file calls each column."""
    there = names_in(path)
    found = {}
    for name, known in names.items():
        called = [column for column in known if column in there]
        if not called:
            message = f"no column for the {name}: expected one of {', '.join(known)}"
            raise _refused(path, "missing_column", f"{message}; found {', '.join(there)}")
        found[name] = called[0]
    return found


def _typed(path: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Every column in its type, if no value is in the way."""
    for name, dtype in frame.schema.items():
        text = dtype in (pl.String, pl.Categorical) or dtype.is_integer()
        if not (text if name in _IDS else dtype.is_numeric()):
            expected = "text or whole numbers" if name in _IDS else "numbers"
            raise _refused(path, "bad_column", f"the {name} is {dtype}, expected {expected}")
    value = frame.columns[-1]
    number = frame[value].cast(pl.Float64)
    lost = number.is_nan()
    if value == "grade":
        lost |= (number != number.floor()) | (number.abs() > 127)
    lost = frame.select(pl.any_horizontal(pl.all().is_null() | lost)).to_series()
    if lost.any():
        wrong = frame.with_row_index("row").filter(lost)
        raise DataError([_problem(path, row, value) for row in wrong.iter_rows(named=True)])
    kind = pl.Int64 if value == "grade" else pl.Float64
    return frame.with_columns(pl.col("query", "document").cast(pl.String), pl.col(value).cast(kind))


def _problem(path: str, row: dict[str, object], value: str) -> Problem:
    absent = [name for name in ("query", "document", value) if row[name] is None]
    expected = "a whole number from -127 to 127" if value == "grade" else "a number, not NaN"
    message = f"the {value} is {row[value]!r}, expected {expected}"
    if absent:
        message = f"no {', no '.join(absent)} in this row; every row needs all three"
    query = None if row["query"] is None else str(row["query"])
    return Problem(path, int(str(row["row"])) + 1, query, f"bad_{value}", message)


def _refused(path: str, kind: str, message: str) -> DataError:
    return DataError([Problem(path, None, None, kind, message)])
