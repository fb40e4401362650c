"""Rows with hits that name no stage: all of a trace are its one stage, some of it are refused.

A row of a question that failed before any stage has an error and no hits, and needs no name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined
from rayeval.errors import DataError, Problem
from rayeval.tables import TEXT

ONE_STAGE = "trace"
SHOWN = 100
"""Rows that are named."""
MESSAGE = "`stage` is empty, though other rows of the trace name theirs; say which stage found this"
EMPTY = "the row has no stage, hits or error; say what was found, be it `hits` as an empty list"


Bools = npt.NDArray[np.bool_]


@dataclass
class Nameless:
    """What is known of a trace's stages, as its tables pass by."""

    named: bool = False
    """Whether a row names its stage."""
    first: Problem | None = None
    """The first row that was taken for the one stage's."""

    def filled(self, table: pa.Table, found: Bools, path: str, row: int) -> pa.Table:
        """The table with the one stage's name in the rows that have hits and name none.

        found: (n_rows,), rows that tell what was found. row: the number of the first, from 1.
        Raises DataError where other rows do name theirs.
        """
        stage = combined(table["stage"]).cast(TEXT)
        null = stage.is_null().to_numpy(zero_copy_only=False)
        lost = null & found
        self.named |= not null.all()
        if lost.any() and self.named:
            at = np.flatnonzero(lost)[:SHOWN]
            raise DataError([problem_of(table, int(n), path, row, MESSAGE) for n in at])
        if self.named and self.first is not None:
            raise DataError([self.first])
        if not lost.any():
            return table
        if self.first is None:
            at_first = int(np.flatnonzero(lost)[0])
            self.first = problem_of(table, at_first, path, row, MESSAGE)
        name = pc.if_else(pa.array(lost), pa.scalar(ONE_STAGE, TEXT), stage)
        return table.set_column(table.schema.get_field_index("stage"), "stage", name)


def problem_of(
    table: pa.Table, at: int, path: str, row: int, message: str, kind: str = "missing_field"
) -> Problem:
    """A problem of row `at` (from 0) of a table whose first row is number `row` of its file."""
    name = table["question_id"][at].as_py()
    return Problem(path, row + at, None if name is None else str(name), kind, message)
