"""Everything that rayeval raises on purpose.

RayevalError
├── InputError               the user's configuration or data is wrong       exit 2
│   ├── ConfigError              an unknown key, a wrong value, stages that don't fit together
│   ├── DataError                a golden set or corpus with problems; carries them all
│   ├── MissingExtraError        an optional package is not installed
│   ├── ModelError               a model that is not there or can't be loaded
│   ├── PairingError             two runs that can't be compared
│   └── RunError                 a run that is unknown, unfinished or damaged
├── InfrastructureError      disk full, a worker lost for good, an endpoint down     exit 4
└── RowError                 one question (document, chunk) failed: becomes its row's `error`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

EXIT_PASS, EXIT_FAIL, EXIT_INVALID, EXIT_INCONCLUSIVE, EXIT_INFRASTRUCTURE = range(5)
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells have it: 128 + SIGINT."""


class RayevalError(Exception):
    """Base of every error that rayeval raises on purpose."""

    exit_code = EXIT_INFRASTRUCTURE


class InputError(RayevalError):
    """The user's configuration or data is wrong."""

    exit_code = EXIT_INVALID


class ConfigError(InputError):
    """A configuration that can't be run."""


class MissingExtraError(InputError):
    """An optional package is not installed; the message names the command that installs it."""

    @classmethod
    def of(cls, package: str, extra: str, *, why: str) -> MissingExtraError:
        """`package`, which `why` needs, comes with `extra`."""
        return cls(f"{why} needs {package}, which is not installed: pip install 'rayeval[{extra}]'")


class ModelError(InputError):
    """A model that is not there or can't be loaded."""


class RunError(InputError):
    """A run that is unknown, unfinished or damaged."""


class PairingError(InputError):
    """Two runs that can't be compared as they are."""


class InfrastructureError(RayevalError):
    """The machine, not the input, is at fault: disk, memory, a lost worker, a dead endpoint."""

    exit_code = EXIT_INFRASTRUCTURE


class RowError(RayevalError):
    """One row can't be processed; execution turns it into that row's `error`."""


def plain(text: str) -> str:
    """`text` in characters that every file and table can hold: halves of surrogate pairs, as Python
    makes of bytes that are not UTF-8, are written out (`\\udcff`)."""
    return text.encode("utf-8", "backslashreplace").decode()


def text_of(error: BaseException, *, named: bool = True) -> str:
    """What an exception of anybody's says, whatever it says, so that any table can hold it.

    named: with its type before it.
    """
    name = type(error).__name__
    try:
        said = plain(str(error))
    except Exception:  # noqa: BLE001 - a broken __str__ must not hide which exception it was
        return plain(f"{name}, of which no text can be had")
    return plain(f"{name}: {said}") if named else said


@dataclass(frozen=True, order=True)
class Problem:
    """One thing wrong with a golden set, a corpus or a configuration."""

    file: str
    """Path as the user wrote it."""
    line: int | None
    """1-based; None where the format has no lines."""
    question_id: str | None
    kind: str
    """A stable name, e.g. `quote_mismatch`."""
    message: str
    """What was found, what was expected, what to do."""
    warning: bool = False
    """Warnings are shown and never stop anything."""

    def json(self) -> dict[str, Any]:
        """As `validate --json` prints it: absent places are left out."""
        row = {key: value for key, value in asdict(self).items() if value is not None}
        row.pop("warning")
        return row

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        who = f" [{self.question_id}]" if self.question_id is not None else ""
        return f"{place}{who} {self.kind}: {self.message}"


class DataError(InputError):
    """A golden set or corpus with problems: all of them, not the first.

    foreign: of another tool's files, or a trace, which no command of ours lists.
    """

    def __init__(
        self, problems: Sequence[Problem], *, shown: int = 20, foreign: bool = False
    ) -> None:
        self._foreign = foreign
        self.problems = sorted(problems, key=_place)
        lines = [str(problem) for problem in self.problems[:shown]]
        rest = len(self.problems) - shown
        if rest > 0:
            lines.append(f"… and {rest} more{self._where(shown)}")
        super().__init__("\n".join(lines))

    def _where(self, shown: int) -> str:
        """What is known of the problems that are not listed."""
        if not self._foreign:
            return (
                "; `rayeval validate CONFIG` lists those of a configuration's files, and `rayeval "
                "golden lint GOLDEN` those of questions."
            )
        kinds = Counter(problem.kind for problem in self.problems[shown:])
        return f": {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _data_error, (type(self), self.problems, self._foreign)


def _place(problem: Problem) -> tuple[str, int, str, str, str]:
    p = problem
    return p.file, p.line or 0, p.kind, p.question_id or "", p.message


def _data_error(kind: type[DataError], problems: list[Problem], foreign: bool) -> DataError:
    return kind(problems, foreign=foreign)
