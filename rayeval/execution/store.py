"""The content-addressed store of step outputs.

`ROOT/ab/abcdef…/` holds one step's output: data files under names that are never reused, a commit
record per finished partition, and a manifest once all are there. Readers open only what a record
lists: object stores have no atomic rename of folders, and a partition written twice leaves two
files of which one is listed.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval import files
from rayeval.errors import InfrastructureError, Problem

T = TypeVar("T")


@dataclass(frozen=True)
class File:
    """One committed Parquet file of a partition."""

    name: str
    rows: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Commit:
    """One finished partition."""

    part: int
    files: tuple[File, ...]
    elapsed_s: float
    errors: tuple[tuple[str, str], ...] = ()
    """Rows that failed: (id, error)."""
    problems: tuple[Problem, ...] = ()

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(file.rows for file in self.files)

    def dumps(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def loads(cls, text: str | bytes) -> Commit:
        """The inverse of `dumps`."""
        return cls.of(json.loads(text))

    @classmethod
    def of(cls, value: dict[str, Any]) -> Commit:
        """From parsed JSON."""
        return cls(
            part=value["part"],
            files=tuple(File(**file) for file in value["files"]),
            elapsed_s=value["elapsed_s"],
            errors=tuple((row, error) for row, error in value["errors"]),
            problems=tuple(Problem(**problem) for problem in value["problems"]),
        )


class Output:
    """Where one step's output lies."""

    def __init__(self, root: str, key: str) -> None:
        self.key = key
        self.folder = f"{root}/{key[:2]}/{key}"
        self.manifest_path = f"{self.folder}/manifest.json"

    def commit(
        self,
        part: int,
        tables: Iterable[pa.Table],
        *,
        started: float,
        errors: Sequence[tuple[str, str]] = (),
        problems: Sequence[Problem] = (),
    ) -> Commit:
        """Writes a partition's tables and, once they are all there, the record that lists them.

        started: `time.time()` when work on the partition began.
        """
        written = tuple(self._write(part, table) for table in tables)
        elapsed_s = time.time() - started
        done = Commit(part, written, elapsed_s, tuple(errors), tuple(problems))
        files.write_bytes(f"{self.folder}/commits/{part:06d}.json", done.dumps().encode())
        return done

    def _write(self, part: int, table: pa.Table) -> File:
        data = parquet_bytes(table)
        name = f"{part:06d}-{uuid.uuid4().hex[:12]}.parquet"
        files.write_bytes(f"{self.folder}/{name}", data)
        return File(name, table.num_rows, len(data), hashlib.sha256(data).hexdigest())

    def commits(self) -> dict[int, Commit]:
        """The finished partitions, also of an unfinished output."""
        finished = self.manifest()
        if finished is not None:
            return {commit.part: commit for commit in finished}
        folder = f"{self.folder}/commits"
        names = [n for n in files.list_files(folder) if n.endswith(".json") and n[0] != "."]
        found = [_recorded(f"{folder}/{name}", Commit.of) for name in names]
        return {commit.part: commit for commit in found}

    def finish(self, commits: Iterable[Commit]) -> None:
        """Declares the output whole."""
        ordered = sorted(commits, key=lambda commit: commit.part)
        value = {"commits": [asdict(commit) for commit in ordered]}
        files.write_json(self.manifest_path, value)

    def manifest(self) -> list[Commit] | None:
        """Every partition in order, None while the output is not whole."""
        if not files.exists(self.manifest_path):
            return None
        return _recorded(
            self.manifest_path, lambda value: [Commit.of(one) for one in value["commits"]]
        )

    def paths(self) -> list[str]:
        """The files of a whole output, partition by partition."""
        commits = self.manifest()
        if commits is None:
            raise InfrastructureError(f"the store has no whole output at {self.folder}")
        return [f"{self.folder}/{file.name}" for commit in commits for file in commit.files]


LAYOUT = {"use_compliant_nested_type": False}
"""Lists keep the names that Arrow gives their items, so that schemas compare."""


def parquet_bytes(table: pa.Table) -> bytes:
    """`table` as Parquet; vectors are laid down plain, since they don't compress."""
    plain = "vector" in table.column_names
    sink = pa.BufferOutputStream()
    compression = "none" if plain else "zstd"
    pq.write_table(table, sink, compression=compression, use_dictionary=not plain, **LAYOUT)
    return bytes(sink.getvalue())


def read(path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A committed file; damage is an error that names it."""
    try:
        return files.read_table(path, None if columns is None else list(columns))
    except (OSError, pa.ArrowInvalid) as error:
        raise _damage(path, error) from error


def _recorded(path: str, of: Callable[[Any], T]) -> T:
    """What a JSON file of the store says; damage is an error that names it."""
    try:
        return of(files.read_json(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damage(path, error) from error


def _damage(path: str, error: Exception) -> InfrastructureError:
    folder = path.rpartition("/")[0].removesuffix("/commits")
    return InfrastructureError(
        f"can't read {path}: {error}. The store is damaged there; delete the folder {folder} "
        "and run again."
    )
