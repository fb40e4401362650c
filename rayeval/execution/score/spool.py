"""A trace brought into the form in which it can be scored: Parquet in order of questions.

Parquet that is so already is read where it lies. Everything else is written once into the store, in
sorted runs of bounded size, under the hash of what it was read from.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from rayeval import files
from rayeval.errors import ConfigError, DataError, InputError, Problem
from rayeval.execution.artifacts import write_one
from rayeval.execution.score.verdicts import ToldJudge, told_judge, verdict_table
from rayeval.execution.step import digest
from rayeval.execution.store import Output, read
from rayeval.interop import own
from rayeval.interop.imported import Imported, Importer
from rayeval.interop.own.parquet import opened
from rayeval.interop.own.trace import TraceFile
from rayeval.interop.own.types import as_it_is
from rayeval.marked import named
from rayeval.tables import ANSWERS, FOREIGN, VERSION, conform

RUN_BYTES = 256 << 20
"""Hits are sorted in memory up to this size."""
GROUP_ROWS = 1024
"""Rows of a sorted run that are stored, and read, together."""
SPOOLED = 7
"""Raised when spooling changes what is stored."""


@dataclass(frozen=True)
class Spooled:
    """A trace that can be scored."""

    sha256: str
    """Of the files that it was read from."""
    paths: tuple[str, ...]
    """Parquet files in order of questions."""
    answers: str | None = None
    """The key of the output with tables.ANSWERS, where there are any."""
    contexts: bool = False
    """Whether the answers come with what the model was sent."""
    either: bool = False
    """Its sources may be ids of chunks (Imported.either)."""
    made: bool = False
    """Its questions' ids are made of their texts."""
    judge: ToldJudge | None = None
    """Whose verdicts on the answers it brings."""
    notes: Sequence[str] = field(default_factory=list)


def spool_files(paths: Sequence[str], format_: str | None, root: str) -> Spooled:
    """The trace in the user's files.

    Raises DataError with everything that is wrong with them.
    """
    for path in paths:
        files.check_file(path, "trace")
    sha256 = hashed(paths)
    if format_ in (None, own.NAME) and all(_ready(path, alone=len(paths) == 1) for path in paths):
        return Spooled(sha256, tuple(paths))
    called = [PurePosixPath(path).name for path in paths]  # which says how a file is read
    key = digest({"spool": SPOOLED, "sha256": sha256, "named": called, "format": format_,
                  "tables": VERSION})  # fmt: skip
    hits = Output(root, key)
    answers, verdicts = (Output(root, digest({name: key})) for name in ("answers", "verdicts"))
    if any(output.manifest() is None for output in (hits, answers, verdicts)):
        ours = format_ in (None, own.NAME)
        imported = (own if ours else importer(str(format_))).read(paths)
        _write(imported, paths, hits, answers, verdicts)
    [told] = answers.manifest() or []
    names = {_mark(number): path for number, path in enumerate(paths)}
    notes = [named(note.message, names) for note in told.problems if note.kind == "note"]
    kinds = {note.kind for note in told.problems}
    sent = pa.concat_tables(read(path, ["context"]) for path in answers.paths())["context"]
    contexts = bool(pc.any(pc.greater(pc.list_value_length(sent), 0)).as_py())
    given, judge = (answers.key, told_judge(verdicts)) if told.rows else (None, None)
    either, made = "either" in kinds, "made" in kinds
    return Spooled(sha256, tuple(hits.paths()), given, contexts, either, made, judge, notes)


@contextmanager
def spooled_tables(tables: Iterable[pa.Table], root: str) -> Iterator[list[str]]:
    """Tables of schema FOREIGN as Parquet files of the store: sorted runs."""
    with stored(sorted_runs(tables), root) as paths:
        yield paths


@contextmanager
def stored(runs: Iterable[Iterator[pa.Table]], root: str) -> Iterator[list[str]]:
    """Each run of tables as a Parquet file of the store, named by content.

    Wrong input, in them or in what is done with them, leaves none that was not there before.
    """
    folder = f"{files.absolute(root)}/traces"
    files.make_folder(folder)
    fs, inner = files.open_fs(folder)
    names: list[str] = []
    new: list[str] = []
    try:
        for run in runs:
            temporary = f"{uuid.uuid4().hex}.parquet"
            names.append(f"{write_one(folder, temporary, run)['sha256'][:32]}.parquet")
            new += () if files.exists(f"{folder}/{names[-1]}") else names[-1:]
            fs.move(f"{inner}/{temporary}", f"{inner}/{names[-1]}")
        yield [f"{folder}/{name}" for name in names]
    except InputError:
        for name in new:
            files.discard(fs, f"{inner}/{name}")
        raise


def importer(name: str) -> Importer:
    """The importer of a format, by its name."""
    from rayeval import interop

    known = interop.formats()
    if name not in known:
        raise ConfigError(f"no format {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]


def hashed(paths: Sequence[str]) -> str:
    """SHA-256 of one file; of several, over theirs."""
    each = [_sha256(path) for path in paths]
    return each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()


def _sha256(path: str) -> str:
    fs, inner = files.open_fs(path)
    found = hashlib.sha256()
    with fs.open_input_stream(inner, compression=None) as stream:
        while block := stream.read(1 << 22):
            found.update(block)
    return found.hexdigest()


def _ready(path: str, *, alone: bool) -> bool:
    """Whether a file can be scored where it lies. alone: no other one may name stages."""
    if own.is_lines(path) or not path.lower().endswith(".parquet"):
        return False
    file = opened(path)
    names = file.schema_arrow.names
    if "hits" not in names or set(names) & set(own.OF_ANSWER):
        return False
    if "stage" not in names and not alone:
        return False
    own.check_schema(path, file.schema_arrow)
    trace = TraceFile(path)
    return as_it_is(file.schema_arrow) and trace.ordered and not trace.names["stage"].null_count


def _nothing(answered: bool) -> str:
    """What is missing from a trace without a hit."""
    if not answered:
        return "there is no row in it"
    return "it has answers and no `stages`: say what was found, be it `context: {hits: []}`"


def _mark(number: int) -> str:
    """What stands for a file of the trace in the store (rayeval.marked)."""
    return f"\0file {number}\0"


def _marked(note: str, paths: Sequence[str]) -> str:
    for number, path in enumerate(paths):
        if note.startswith(f"{path}: "):
            return _mark(number) + note.removeprefix(path)
    return note


def _write(
    imported: Imported, paths: Sequence[str], hits: Output, answers: Output, verdicts: Output
) -> None:
    if imported.trace is None:
        raise ConfigError("this format holds no hits, so there is nothing to score")
    start = time.time()
    try:
        runs = sorted_runs(imported.trace)
        commits = [hits.commit(n, tables, started=start) for n, tables in enumerate(runs)]
        given, judged = list(imported.answers or ()), verdict_table(imported.verdicts)
        wrong = [problem for problem in imported.problems if not problem.warning]
        if wrong:
            raise DataError(wrong)
        if not commits:
            nothing = _nothing(bool(given))
            raise DataError([Problem("trace", None, None, "empty_trace", nothing)])
    except InputError:
        files.delete_folder(hits.folder)
        raise
    hits.finish(commits)
    verdicts.finish([verdicts.commit(0, [judged], started=start)])
    table = pa.concat_tables([ANSWERS.empty_table(), *given])
    said = [("note", _marked(note, paths)) for note in imported.notes]
    said += [(kind, "") for kind in ("either", "made") if getattr(imported, kind)]
    notes = [Problem("trace", None, None, kind, note, warning=True) for kind, note in said]
    answers.finish([answers.commit(0, [table], started=start, problems=notes)])


def sorted_runs(tables: Iterable[pa.Table]) -> Iterator[Iterator[pa.Table]]:
    """The rows in sorted runs, each as tables of a few rows."""
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        if table.num_rows:
            waiting.append(conform(table, FOREIGN))
            size += table.nbytes
        if size > RUN_BYTES:
            yield _sliced(_sorted(pa.concat_tables(waiting)))
            waiting, size = [], 0
    if waiting:
        yield _sliced(_sorted(pa.concat_tables(waiting)))


def _sorted(table: pa.Table) -> pa.Table:
    """By question; rows of one question as they stood."""
    numbered = table.append_column("at", pa.array(range(table.num_rows), pa.int64()))
    return numbered.sort_by([("question_id", "ascending"), ("at", "ascending")]).drop_columns("at")


def _sliced(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, GROUP_ROWS):
        yield table.slice(start, GROUP_ROWS)
