"""Which comparisons on the test split people have seen, beside the golden set (append-only).

A test split answers honestly only so often: whoever tunes on what it says, tunes on it. Every
comparison that is shown is therefore entered here before it is shown, once however often it is
shown again. CI runs use the `regression` split, which nobody counts.

What counts is which questions were seen, not what their file is called: an entry says which test
questions it was about (`asked`), and counts for every golden set in the folder that has some of
them. Tools that write a golden set to another file take its ledger along (`carry`).
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from rayeval import files
from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.golden.load import load_questions
from rayeval.ids import made_question_id

ENDING = ".ledger.jsonl"
GUARDED = "test"
"""The split whose comparisons are counted."""
MARKS = 32
"""How many of its test questions stand for a golden set: the first ones in order of their texts,
so that a copy with a few questions more or less still has most of them."""


@dataclass(frozen=True)
class Entry:
    """One comparison on the test split that somebody has seen."""

    baseline: str
    """Run ids."""
    run: str
    config_diff: Mapping[str, Any] = field(default_factory=dict)
    """Dotted key → [baseline's value, the run's]."""
    purpose: str | None = None
    """Why it was looked at, in the user's words."""
    who: str = ""
    at: str = ""
    """UTC, to the second."""
    asked: Sequence[str] = ()
    """`marks` of the test questions that it was about."""

    @property
    def pair(self) -> frozenset[str]:
        """What was compared; the other way round it says the same."""
        return frozenset((self.baseline, self.run))


def ledger_path(golden_path: str) -> str:
    """`golden.jsonl` has the ledger `golden.ledger.jsonl`."""
    folder, slash, name = golden_path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}{ENDING}"


def marks(questions: pl.DataFrame) -> list[str]:
    """What tells golden sets with the same test questions from others.

    questions: with `question` and `split`.
    """
    asked = questions.filter(pl.col("split") == GUARDED)["question"]
    texts = asked.str.normalize("NFC").str.strip_chars().unique().sort().head(MARKS)
    return [made_question_id(text) for text in texts]


def asked_of(golden_path: str) -> list[str]:
    """`marks` of a golden set's file; none where there is no sound one."""
    if not files.exists(golden_path):
        return []
    questions, _ = load_questions(golden_path)
    return marks(pl.DataFrame(questions.select(["question", "split"])))


def entries(golden_path: str, asked: Collection[str] = ()) -> list[Entry]:
    """Every entry, the oldest first; none where there is no ledger.

    asked: the golden set's marks, by which entries beside other golden sets of the folder are
    known to be about it too.
    What a killed writer left of a last line is no entry: nothing was shown.
    Raises DataError if a line is no entry.
    """
    path = ledger_path(golden_path)
    own = _parsed(files.read_bytes(path), path) if files.exists(path) else []
    if not asked:
        return own
    others = [
        entry
        for other in _beside(path)
        for entry in _parsed(files.read_bytes(other), other)
        if not set(asked).isdisjoint(entry.asked)
    ]
    every: dict[frozenset[str], Entry] = {}
    for entry in [*others, *own]:  # of the same second what is entered here came last
        every.setdefault(entry.pair, entry)
    return sorted(every.values(), key=lambda entry: entry.at) if others else own


def carry(golden_path: str, out: str) -> None:
    """Takes the ledger of a golden set along to another file that its questions are written to.

    Raises DataError if a ledger is damaged, InfrastructureError if it can't be written.
    """
    if ledger_path(out) != ledger_path(golden_path):
        for entry in entries(golden_path):
            reveal(out, entry)


def _beside(path: str) -> list[str]:
    """The other ledgers in the folder of `path`."""
    folder = path.rpartition("/")[0] if "/" in path else "."
    names = [f"{folder}/{name}" for name in files.names_in(folder) if name.endswith(ENDING)]
    here = files.absolute(path)
    return [name for name in names if files.absolute(name) != here]


def reveal(golden_path: str, entry: Entry) -> int:
    """Enters a comparison, unless its two runs were compared before, and waits for the disk.

    Before: on this golden set, or on one beside it with the same questions. An entry without `at`
    or `who` gets the time and the user. Call it before anything is shown.
    Returns how many comparisons there are now.
    Raises DataError if the ledger is damaged, InfrastructureError if it can't be written.
    """
    entry = Entry(
        **{
            **asdict(entry),
            "at": entry.at or datetime.now(UTC).isoformat(timespec="seconds"),
            "who": entry.who or _user(golden_path),
        }
    )
    path, before = ledger_path(golden_path), entries(golden_path, entry.asked)
    if any(entry.pair == other.pair for other in before):
        return len(before)
    try:
        if files.is_uri(path):
            _enter_whole(path, entry)
        else:
            with _locked(path) as handle:
                _enter(handle, path, entry)
    except OSError as error:
        raise InfrastructureError(
            f"can't write the ledger {path}: {error}. A comparison on the test split is shown only "
            "once it is entered there"
        ) from error
    return len(entries(golden_path, entry.asked))


def _enter(handle: int, path: str, entry: Entry) -> None:
    data = os.pread(handle, os.fstat(handle).st_size, 0)
    if any(entry.pair == other.pair for other in _parsed(data, path)):
        return
    os.ftruncate(handle, data.rfind(b"\n") + 1)  # what a killed writer left of a line
    line = _line(entry)
    if os.write(handle, line) != len(line):
        raise InfrastructureError(f"can't write the ledger {path}: the disk is full")
    os.fsync(handle)


def _enter_whole(path: str, entry: Entry) -> None:
    """Object stores can't append: the file is written anew."""
    data = files.read_bytes(path) if files.exists(path) else b""
    files.write_bytes(path, data[: data.rfind(b"\n") + 1] + _line(entry))


def _line(entry: Entry) -> bytes:
    return (json.dumps(asdict(entry), ensure_ascii=False, default=str) + "\n").encode()


@contextmanager
def _locked(path: str) -> Iterator[int]:
    """The ledger, open for appending, by nobody else at the same time."""
    new = not Path(path).exists()
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)
    if new:
        _sync_folder(str(Path(path).absolute().parent))


def _sync_folder(folder: str) -> None:
    """A new file's name reaches the disk with its folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _parsed(data: bytes, path: str) -> list[Entry]:
    """The entries of whole lines."""
    found: list[Entry] = []
    problems = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            found.append(Entry(**json.loads(line)))
        except (ValueError, TypeError) as error:
            message = f"not an entry: {error}; restore the ledger, for it counts what was seen"
            problems.append(Problem(path, number, None, "damaged_ledger", message))
    if problems:
        raise DataError(problems)
    return found


def _user(golden_path: str) -> str:
    """Who git says it is, else the system."""
    folder = Path(golden_path).absolute().parent
    try:
        done = subprocess.run(
            ["git", "config", "user.name"],  # noqa: S607 - the user's own git
            cwd=folder if folder.is_dir() else None,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        return done.stdout.strip() or getpass.getuser()
    except (OSError, KeyError, subprocess.TimeoutExpired):
        return os.environ.get("USER") or "unknown"
