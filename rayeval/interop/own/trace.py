"""A trace in Parquet whose rows stand in order of questions, read where a batch needs it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property, partial
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval.columns import combined
from rayeval.interop.own.damage import intact, sound
from rayeval.interop.own.nameless import ONE_STAGE
from rayeval.interop.own.parquet import opened
from rayeval.tables import TEXT

KEPT = 6
"""Row groups in memory: neighbouring blocks of questions, which threads ask for, share one, and one
is read ahead."""
LARGEST = 1 << 22
"""Hits in a row group: one of more is too large to be read for a few of its questions."""


@dataclass(frozen=True)
class Group:
    """One row group and the questions that it is of."""

    number: int
    first: str
    last: str


class TraceFile:
    """One Parquet file with a row per (question_id, stage) and the list column `hits`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.metadata: pq.FileMetaData = opened(path).metadata
        self.columns: list[str] = self.metadata.schema.to_arrow_schema().names
        self._open: OrderedDict[int, Future[pa.Table]] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def names(self) -> pa.Table:
        """`question_id` and `stage` of every row, as text; the stage `filter` left out."""
        parts = [self._names(number) for number in range(self.metadata.num_row_groups)]
        return pa.concat_tables([_NAMES.empty_table(), *parts])

    @cached_property
    def ordered(self) -> bool:
        """Whether its rows are in order of question ids, in row groups of a fair size."""
        ids = combined(self.names["question_id"])
        ascending = len(ids) < 2 or bool(pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py())
        return ascending and all(size <= LARGEST for size in self._sizes())

    @cached_property
    def groups(self) -> list[Group]:
        """The row groups that have rows, in order."""
        found = []
        for number in range(self.metadata.num_row_groups):
            ids = self._names(number)["question_id"]
            if len(ids):
                found.append(Group(number, ids[0].as_py(), ids[-1].as_py()))
        return found

    def rows(self, first: str, last: str) -> Iterator[pa.Table]:
        """The rows of questions from `first` to `last`, of an ordered file."""
        for group in self.groups:
            if group.last >= first and group.first <= last:
                table = self._read(group.number)
                ids = combined(table["question_id"])
                inside = pc.and_(pc.greater_equal(ids, first), pc.less_equal(ids, last))
                rows = np.flatnonzero(inside.to_numpy(zero_copy_only=False))
                if len(rows):
                    yield table.slice(rows[0], rows[-1] - rows[0] + 1)

    def tables(self) -> Iterator[pa.Table]:
        """All rows, group by group."""
        return (self._read(group.number) for group in self.groups)

    def _read(self, number: int) -> pa.Table:
        """A row group; meanwhile the one after it is read ahead."""
        with self._lock:
            for wanted in (number, number + 1):
                if wanted < self.metadata.num_row_groups and wanted not in self._open:
                    self._open[wanted] = _reader().submit(self._whole, wanted)
            found = self._open[number]
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
        return found.result()

    def _whole(self, number: int) -> pa.Table:
        return plain(self._group(number, self._columns))

    def _group(self, number: int, columns: list[str]) -> pa.Table:
        """Read through a handle of its own: a spooled trace has more files than may be open."""
        file = opened(self.path, metadata=self.metadata)
        read = partial(file.read_row_group, number, columns=columns)
        return sound(self.path, intact(self.path, read))

    def _names(self, number: int) -> pa.Table:
        wanted = [name for name in _NAMES.names if name in self.columns]
        table = plain(self._group(number, wanted))
        return table.select(_NAMES.names)

    def _sizes(self) -> Iterator[int]:
        for number in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(number)
            yield max(group.column(n).num_values for n in range(group.num_columns))

    @cached_property
    def _columns(self) -> list[str]:
        """The columns, and fields of hits, in which there is anything."""
        metadata = self.metadata
        leaves = [metadata.schema.column(n).path for n in range(metadata.num_columns)]
        empty = {
            path
            for n, path in enumerate(leaves)
            if path.startswith("hits.")
            and all(
                _all_null(metadata.row_group(g).column(n)) for g in range(metadata.num_row_groups)
            )
        }
        if empty >= {path for path in leaves if path.startswith("hits.")}:
            empty = set()  # at least the lists must be seen
        return [path for path in leaves if path not in empty and not path.startswith("removed_")]


_NAMES = pa.schema([("question_id", TEXT), ("stage", TEXT)])


def _all_null(column: pq.ColumnChunkMetaData) -> bool:
    statistics = column.statistics
    if statistics is None or not statistics.has_null_count:
        return False
    return bool(statistics.null_count == column.num_values)


def plain(table: pa.Table) -> pa.Table:
    """The table with ids and stages as text; rows of the stage `filter` are left out."""
    if "stage" not in table.column_names:
        table = table.append_column("stage", pa.array([ONE_STAGE] * table.num_rows, TEXT))
    for name in _NAMES.names:
        at = table.schema.get_field_index(name)
        if table.schema.field(at).type != TEXT:
            table = table.set_column(at, name, table[name].cast(TEXT))
    kept = pc.fill_null(pc.not_equal(table["stage"], "filter"), True)
    return table if pc.all(kept).as_py() in (True, None) else table.filter(kept)


@cache
def _reader() -> ThreadPoolExecutor:
    """Threads that read while others compute."""
    return ThreadPoolExecutor(2, "trace")


class Trace:
    """Ordered files read as one."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.files = [TraceFile(path) for path in paths]

    def rows(self, question_ids: pa.Array) -> pa.Table:
        """The rows of these questions, by question and then as they stood; hits as stored."""
        if not len(question_ids):
            return pa.table({"question_id": pa.array([], TEXT), "stage": pa.array([], TEXT)})
        ends = pc.min_max(question_ids).as_py()
        parts = [t for file in self.files for t in file.rows(ends["min"], ends["max"])]
        if not parts:
            return pa.table({"question_id": pa.array([], TEXT), "stage": pa.array([], TEXT)})
        table = pa.concat_tables(parts, promote_options="permissive")
        return table
