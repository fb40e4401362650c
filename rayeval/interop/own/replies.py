"""What was answered, in a trace of rows: and which rows are of the first time that it was asked."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from rayeval.errors import Problem
from rayeval.tables import ANSWERS

COLUMNS = ("repeat", "answer", "abstained", "citations")
"""Of a question's rows, any number of them says what was answered; all that do say the same."""
KINDS: dict[str, pl.DataType] = {
    "repeat": pl.Int64(), "answer": pl.String(), "abstained": pl.Boolean(),
    "citations": pl.List(pl.String),
}  # fmt: skip
KEY = ["question_id", "repeat"]


class Replies:
    """Gathers what tables of rows say of answers; what is wrong with it gathers in `problems`."""

    def __init__(self, path: str, problems: list[Problem]) -> None:
        self._path, self._problems = path, problems
        self._parts: list[pl.DataFrame] = []

    def first(self, table: pa.Table) -> pa.Table:
        """The rows of the first time (`repeat` 0 or null), without the columns of answers.

        table: `question_id, stage, hits` and some of COLUMNS; hits as tables.FOREIGN_HIT.
        """
        given = [name for name in COLUMNS if name in table.column_names]
        if not given:
            return table
        frame = pl.DataFrame(pl.from_arrow(table.select(["question_id", "stage", "hits", *given])))
        absent = [pl.lit(None, kind).alias(n) for n, kind in KINDS.items() if n not in given]
        typed = [pl.col(name).cast(KINDS[name], strict=False) for name in given]
        frame = frame.with_columns(absent).with_columns(typed)
        frame = frame.with_columns(pl.col("repeat").fill_null(0))
        hit = pl.element().struct
        sent = pl.col("hits").list.eval(pl.coalesce(hit.field("chunk_id"), hit.field("text")))
        context = pl.when(pl.col("stage") == "context").then(sent)
        self._parts.append(frame.select("question_id", *COLUMNS, context=context))
        rows = table.drop_columns(given)
        return rows.filter((frame["repeat"] == 0).to_arrow())

    def answers(self) -> Iterator[pa.Table]:
        """Tables of schema ANSWERS, once all rows are read."""
        if not self._parts:
            return
        rows = pl.concat(self._parts)
        self._check(rows)
        said = [pl.col(name).drop_nulls().first() for name in (*COLUMNS[1:], "context")]
        found = rows.group_by(KEY, maintain_order=True).agg(said)
        found = found.filter(pl.any_horizontal(pl.col(COLUMNS[1:]).is_not_null()))
        yield found.select(ANSWERS.names).to_arrow().cast(ANSWERS)

    def _check(self, rows: pl.DataFrame) -> None:
        empty = pl.col("citations").list.eval(pl.element().is_null()).list.any()
        for (name,) in rows.filter(empty).select("question_id").unique().iter_rows():
            said = "`citations` hold an empty one; leave out what names nothing"
            self._problems.append(Problem(self._path, None, str(name), "bad_citation", said))
        for field in COLUMNS[1:]:
            several = rows.drop_nulls(field).group_by(KEY).agg(pl.col(field).n_unique())
            several = several.filter(pl.col(field) > 1).sort(KEY)
            for name, repeat, count in several.iter_rows():
                said = f"{count} rows of repeat {repeat} say each another `{field}`; say one, or "
                said += "number them `repeat`"
                self._problems.append(Problem(self._path, None, str(name), "answer_twice", said))
