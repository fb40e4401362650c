"""Calling a stage so that every row comes back, as a result or as an error.

The only place where an unexpected exception of a stage becomes a row's error: a call that fails is
halved until the row at fault is alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import InfrastructureError, InputError, RowError, text_of
from rayeval.execution.sound import unsound
from rayeval.stage import Scatter, Stage
from rayeval.tables import TEXT, conform

FATAL = (InputError, InfrastructureError, MemoryError, OSError)
"""Not a row's fault: these end the run."""

ERROR = ".error"
"""The suffix of the batch column that holds an earlier step's errors."""

UPSTREAM = "upstream "
"""How the error of a row begins that an earlier step left."""

UNEXPECTED = "unexpected "
"""How the error of a row begins that no stage raised on purpose."""

SAMPLED = "sampled"
"""The batch column that says on which rows the stage runs at all, where it is not all."""

Rows = npt.NDArray[np.int64]
Errors = list[tuple[str, str]]
"""(id, error) of every failed row."""


def aligned(
    stage: Stage, batch: pa.Table, batch_rows: int, schema: pa.Schema, *, tolerant: bool = False
) -> pa.Table:
    """The stage's answer with a row per row of `batch`, null where the column `error` says why.

    The batch's first column is its id and comes back first.
    """
    errors = upstream(batch, tolerant=tolerant)
    found = list(_answers(stage, batch, batch_rows, errors))
    table = pa.concat_tables([t for _, t in found]) if found else schema.empty_table()
    place = np.full(batch.num_rows, -1)
    rows = [row for good, _ in found for row in good]
    place[rows] = np.arange(len(rows))
    return _framed(table.take(pa.array(place, mask=place < 0)), batch, pa.array(errors, TEXT))


def flat(
    stage: Stage, batch: pa.Table, batch_rows: int, schema: pa.Schema, *, tolerant: bool = False
) -> tuple[pa.Table, Errors]:
    """The stage's rows for the whole batch; rows that failed give none and are listed."""
    errors = upstream(batch, tolerant=tolerant)
    answers = _answers(stage, batch, batch_rows, errors, flat=True)
    found = [conform(table, schema) for _, table in answers]
    ids = batch[0].to_pylist()
    failed = [(ids[row], error) for row, error in enumerate(errors) if error is not None]
    return pa.concat_tables([schema.empty_table(), *found]), failed


def gathered(
    scatter: Scatter, batch: pa.Table, answers: Sequence[pa.Table], schema: pa.Schema
) -> pa.Table:
    """The shards' answers to `batch` as one; a row that failed on any shard is an error."""
    errors = pc.coalesce(*(answer["error"].combine_chunks() for answer in answers))
    failed = pc.is_valid(errors).to_numpy(zero_copy_only=False)
    if failed.all():
        return conform(pa.table({batch.column_names[0]: batch[0], "error": errors}), schema)
    table = scatter.gather(answers)
    if failed.any():
        table = table.take(pa.array(np.arange(len(table)), mask=failed))
    return conform(_framed(table, batch, errors), schema)


def errors_of(table: pa.Table) -> Errors:
    """(id, error) of every row with an error."""
    failed = table.filter(pc.is_valid(table["error"]))
    return list(zip(failed[0].to_pylist(), failed["error"].to_pylist(), strict=True))


def upstream(batch: pa.Table, *, tolerant: bool = False) -> list[str | None]:
    """Per row, the error that an earlier step left; None where the stage may go on."""
    errors: list[str | None] = [None] * batch.num_rows
    if tolerant:
        return errors
    for name in batch.column_names:
        if name.endswith(ERROR) and batch[name].null_count < batch.num_rows:
            stage = name.removesuffix(ERROR)
            for row, error in enumerate(batch[name].to_pylist()):
                if error is not None and errors[row] is None:
                    passed_on = error.startswith(UPSTREAM)
                    errors[row] = error if passed_on else f"{UPSTREAM}{stage}: {error}"
    return errors


def _framed(table: pa.Table, batch: pa.Table, errors: pa.Array) -> pa.Table:
    """What a stage found between the batch's id and the errors."""
    first = batch.column_names[0]
    table = table.select([name for name in table.column_names if name not in (first, "error")])
    return table.add_column(0, first, batch[first]).append_column("error", errors)


def _answers(
    stage: Stage, batch: pa.Table, batch_rows: int, errors: list[str | None], *, flat: bool = False
) -> Iterator[tuple[Rows, pa.Table]]:
    """The stage called on the rows without error, `batch_rows` at a time.

    flat: its rows are not the batch's, and an `error` among them is a thing that they tell.
    """
    run = np.array([error is None for error in errors], dtype=bool)
    if SAMPLED in batch.column_names:
        run &= batch[SAMPLED].to_numpy(zero_copy_only=False)
    healthy = np.flatnonzero(run)
    for start in range(0, len(healthy), batch_rows):
        yield from _halving(stage, batch, healthy[start : start + batch_rows], errors, flat)


def _stated(table: pa.Table) -> dict[int, str]:
    """Row → why a stage that deals with every row by itself has nothing for it."""
    if "error" not in table.column_names or table["error"].null_count == table.num_rows:
        return {}
    errors = enumerate(table["error"].to_pylist())
    return {row: error for row, error in errors if error is not None}


def _halving(
    stage: Stage, batch: pa.Table, rows: Rows, errors: list[str | None], flat: bool
) -> Iterator[tuple[Rows, pa.Table]]:
    try:
        table = stage(batch.take(pa.array(rows)))
    except FATAL:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a row did to a stage is that row's error
        if len(rows) == 1:
            meant = isinstance(error, RowError)
            errors[rows[0]] = ("" if meant else UNEXPECTED) + text_of(error, named=not meant)
            return
        middle = len(rows) // 2
        yield from _halving(stage, batch, rows[:middle], errors, flat)
        yield from _halving(stage, batch, rows[middle:], errors, flat)
        return
    wrong = unsound(table) | ({} if flat else _stated(table))
    for row, said in wrong.items():
        errors[rows[row]] = said
    good = np.array([row for row in range(len(rows)) if row not in wrong], dtype=np.int64)
    yield rows[good], table.take(pa.array(good)) if wrong else table
