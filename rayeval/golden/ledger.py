"""Which comparisons on the test split people have seen, beside the golden set (append-only).

A test split answers honestly only so often: whoever tunes on what it says, tunes on it. Every
comparison that is shown is therefore entered here before it is shown, once however often it is
shown again. CI runs use the `regression` split, which nobody counts.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rayeval import files
from rayeval.errors import DataError, InfrastructureError, Problem

GUARDED = "test"
"""The split whose comparisons are counted."""


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

    @property
    def pair(self) -> frozenset[str]:
        """What was compared; the other way round it says the same."""
        return frozenset((self.baseline, self.run))


def ledger_path(golden_path: str) -> str:
    """`golden.jsonl` has the ledger `golden.ledger.jsonl`."""
    folder, slash, name = golden_path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else name}.ledger.jsonl"


def entries(golden_path: str) -> list[Entry]:
    """Every entry, the oldest first; none where there is no ledger.

    What a killed writer left of a last line is no entry: nothing was shown.
    Raises DataError if a line is no entry.
    """
    path = ledger_path(golden_path)
    return _parsed(files.read_bytes(path), path) if files.exists(path) else []


def reveal(golden_path: str, entry: Entry) -> int:
    """Enters a comparison, unless its two runs were compared before, and waits for the disk.

    An entry without `at` or `who` gets the time and the user. Call it before anything is shown.
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
    path = ledger_path(golden_path)
    if files.is_uri(path):
        return _entered_whole(path, entry)
    try:
        with _locked(path) as handle:
            return _entered(handle, path, entry)
    except OSError as error:
        raise InfrastructureError(
            f"can't write the ledger {path}: {error}. A comparison on the test split is shown only "
            "once it is entered there"
        ) from error


def _entered(handle: int, path: str, entry: Entry) -> int:
    data = os.pread(handle, os.fstat(handle).st_size, 0)
    known = _parsed(data, path)
    if any(entry.pair == other.pair for other in known):
        return len(known)
    os.ftruncate(handle, data.rfind(b"\n") + 1)  # what a killed writer left of a line
    line = _line(entry)
    if os.write(handle, line) != len(line):
        raise InfrastructureError(f"can't write the ledger {path}: the disk is full")
    os.fsync(handle)
    return len(known) + 1


def _entered_whole(path: str, entry: Entry) -> int:
    """Object stores can't append: the file is written anew."""
    data = files.read_bytes(path) if files.exists(path) else b""
    known = _parsed(data, path)
    if any(entry.pair == other.pair for other in known):
        return len(known)
    files.write_bytes(path, data[: data.rfind(b"\n") + 1] + _line(entry))
    return len(known) + 1


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


def guarded(splits: Sequence[str | None]) -> bool:
    """Whether questions of these splits are the ledger's matter."""
    return GUARDED in splits
