"""Records of other tools' files, whose fields say what is wrong with them and where."""

from __future__ import annotations

import math
import re
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rayeval.errors import Problem

_LONE = re.compile("[\ud800-\udfff]")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class RefusedError(ValueError):
    """A record that can't be mapped; `kind` is the problem's stable name."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


@dataclass(frozen=True)
class Record:
    """One object of a file, or of a list in it. NaN, as pandas writes it, is null.

    Every field may be asked for by several names: the first that is not null counts.
    """

    file: str
    line: int | None
    """1-based; of Parquet and JSON arrays the row."""
    value: Mapping[str, Any]
    path: str = ""
    """Where the object stands in its record, e.g. `paragraphs[3].`."""

    def get(self, *names: str) -> Any:
        """The value of the first of these fields that is not null."""
        return next((v for v in map(self.value.get, names) if not _is_null(v)), None)

    def text(self, *names: str) -> str | None:
        """Text, or null."""
        value = self.get(*names)
        return None if value is None else text_of(value, self._at(names))

    def given(self, *names: str) -> str:
        """Text that must be there, be it empty."""
        value = self.text(*names)
        if value is None:
            raise RefusedError("missing_field", f"{self._at(names)} is missing, expected text")
        return value

    def words(self, *names: str) -> str:
        """Text that must be there and not be blank."""
        value = self.text(*names)
        if value is None or not value.strip():
            state = "missing" if value is None else "blank"
            raise RefusedError("missing_field", f"{self._at(names)} is {state}, expected text")
        return value

    def name(self, *names: str) -> str | None:
        """An id as text; whole numbers become their decimals."""
        return _name(self.get(*names), self._at(names))

    def id(self, *names: str) -> str:
        """An id that must be there."""
        value = self.name(*names)
        if value is None:
            raise RefusedError("missing_field", f"{self._at(names)} is missing, expected an id")
        return value

    def number(self, *names: str) -> float | None:
        """A finite number, or null."""
        value = self.get(*names)
        if value is None:
            return None
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if not known or abs(value) > sys.float_info.max:  # whole numbers have no end
            raise self.wrong(names[0], value, "a finite number")
        return float(value)

    def whole(self, *names: str) -> int:
        """A whole number that must be there, and fit into 64 bits."""
        value = self.number(*names)
        if value is None or not value.is_integer() or abs(value) >= 2**63:
            raise self.wrong(names[0], self.get(*names), "a whole number")
        return int(self.get(*names))

    def items(self, *names: str) -> list[Any]:
        """A list; empty where there is none."""
        value = self.get(*names)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(names[0], value, "a list")
        return value

    def texts(self, *names: str) -> list[str]:
        """A list of texts; empty where there is none."""
        at = self._at(names)
        return [text_of(v, f"{at}[{i}]") for i, v in enumerate(self.items(*names))]

    def names(self, *names: str) -> list[str]:
        """A list of ids; empty where there is none."""
        at = self._at(names)
        found = [_name(v, f"{at}[{i}]") for i, v in enumerate(self.items(*names))]
        if None in found:
            raise RefusedError("missing_field", f"{at}[{found.index(None)}] is null, not an id")
        return [name for name in found if name is not None]

    def objects(self, *names: str) -> list[Record]:
        """A list of objects, each with its place; empty where there is none."""
        at = f"{self.path}{self._present(names)}"
        return [self.inner(v, f"{at}[{i}]") for i, v in enumerate(self.items(*names))]

    def inner(self, value: Any, at: str) -> Record:
        """An object within this one."""
        if not isinstance(value, Mapping):
            raise RefusedError(
                "wrong_type", f"`{at}` is {_SHORT.repr(value)}, expected an object with fields"
            )
        return replace(self, value=value, path=f"{at}.")

    @property
    def place(self) -> Record:
        """Where it stands, without what it holds."""
        return replace(self, value={})

    @property
    def item(self) -> str:
        """Where it stands in its file's object, to begin a message with."""
        at = self.path.removesuffix(".")
        return f"`{at}`: " if at else ""

    @property
    def said_place(self) -> str:
        """File, line and item, in words."""
        at = self.path.removesuffix(".")
        return f"{self.file}:{self.line}" + (f" (`{at}`)" if at else "")

    def wrong(self, field: str, value: Any, expected: str) -> RefusedError:
        """What to raise for a value of the wrong kind."""
        return RefusedError(
            "wrong_type", f"{self._at((field,))} is {_SHORT.repr(value)}, expected {expected}"
        )

    def problem(
        self, error: RefusedError | RecursionError, question_id: str | None = None
    ) -> Problem:
        """The error, with its place."""
        if isinstance(error, RecursionError):
            error = RefusedError("invalid_json", "nested too deeply")
        message = str(error).encode(errors="backslashreplace").decode()
        return Problem(self.file, self.line, question_id, error.kind, message)

    def _present(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if not _is_null(self.value.get(name))), names[0])

    def _at(self, names: tuple[str, ...]) -> str:
        return f"`{self.path}{self._present(names)}`"


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: Any, at: str) -> str:
    """The value, if it is text that can be stored; RefusedError else."""
    if not isinstance(value, str):
        raise RefusedError("wrong_type", f"{at} is {_SHORT.repr(value)}, expected text")
    lone = _LONE.search(value)
    if lone:
        place = f"U+{ord(lone[0]):04X} at character {lone.start()}"
        raise RefusedError(
            "lone_surrogate", f"{at} holds {place}, half of a surrogate pair: no character"
        )
    return value


def _name(value: Any, at: str) -> str | None:
    if _is_null(value) or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas makes whole numbers floats where one is missing
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value, at)
