"""What callers of the public functions give, held to what is expected before anything is done."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import files, scalars
from rayeval.errors import ConfigError
from rayeval.golden.problems import shown


def path(value: Any, name: str) -> str:
    """A path as text."""
    if isinstance(value, str | os.PathLike) and isinstance(found := os.fspath(value), str):
        return found
    raise _wrong(name, value, "a path")


def maybe_path(value: Any, name: str) -> str | None:
    """A path as text, or None."""
    return None if value is None else path(value, name)


def text(value: Any, name: str) -> str:
    """Text that isn't empty."""
    if isinstance(value, str) and value:
        return value
    raise _wrong(name, value, "text that is not empty")


def texts(value: Any, name: str) -> list[str]:
    """A list of texts; one text alone is none, since it would be read as its letters."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        found = list(value)
        if all(isinstance(item, str) for item in found):
            return found
    raise _wrong(name, value, "a list of names")


def maybe_texts(value: Any, name: str) -> list[str] | None:
    """A list of texts, or None."""
    return None if value is None else texts(value, name)


def count(value: Any, name: str, *, least: int = 1) -> int:
    """A whole number."""
    number = scalars.whole(value)
    if number is not None and number >= least:
        return number
    raise _wrong(name, value, f"a whole number, {least} or more")


def whole(value: Any, name: str) -> int:
    """Any whole number; which of these are right is said later."""
    number = scalars.whole(value)
    if number is not None:
        return number
    raise _wrong(name, value, "a whole number")


def maybe_count(value: Any, name: str, *, least: int = 1) -> int | None:
    """A whole number, or None."""
    return None if value is None else count(value, name, least=least)


def flag(value: Any, name: str) -> bool:
    """True or False."""
    if isinstance(value, bool):
        return value
    raise _wrong(name, value, "True or False")


def mapping(value: Any, name: str) -> dict[str, str]:
    """Text by text; which of it is right is said later."""
    if isinstance(value, Mapping) and all(
        isinstance(t, str) for pair in value.items() for t in pair
    ):
        return dict(value)
    raise _wrong(name, value, "names and what each one is, such as {'elastic': 'arm'}")


def cutoffs(value: Any, name: str) -> list[int | str] | None:
    """Whole numbers, and budgets such as 1200tok; which of these are right is said later."""
    if value is None:
        return None
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        found = [scalars.plain(item) for item in value]
        if all(isinstance(item, int | str) and not isinstance(item, bool) for item in found):
            return found
    raise _wrong(name, value, "a list such as [1, 5, '1200tok']")


def choice(value: Any, name: str, known: Collection[Any]) -> Any:
    """One of what is known."""
    if value in list(known):
        return value
    raise _wrong(name, value, f"one of {', '.join(map(repr, known))}")


def golden(value: Any, root: str) -> str:
    """Where the golden set lies; rows at hand are written below `root`, by content.

    value: a path; or rows: mappings as JSON Lines have them, or a table of Polars, Arrow or pandas.
    """
    if isinstance(value, str | os.PathLike):
        return path(value, "golden")
    rows = _rows(value)
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise _wrong("golden", value, "a path, a list of rows (mappings), or a table")
    try:
        lines = [json.dumps(_plain(row), ensure_ascii=False, default=_value) for row in rows]
        data = "".join(f"{line}\n" for line in lines).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"golden: a row can't be written as JSON: {error}") from error
    place = f"{files.absolute(root)}/golden/{hashlib.sha256(data).hexdigest()[:32]}.jsonl"
    files.write_bytes(place, data)
    return place


def _rows(value: Any) -> list[Any] | None:
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if isinstance(value, pa.Table):
        return list(value.to_pylist())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # pandas, which we don't need
        return list(value.to_dict("records"))
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return list(value)
    return None


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without NaN, by which pandas says that there is nothing."""
    return {
        name: value
        for name, value in row.items()
        if not (isinstance(value, float) and math.isnan(value))
    }


def _value(value: Any) -> Any:
    """What JSON has no form for: a date, and the numbers and lists of NumPy."""
    for name in ("isoformat", "tolist"):
        if hasattr(value, name):
            return getattr(value, name)()
    raise TypeError(f"{shown(value)} is no value of JSON")


def _wrong(name: str, value: Any, expected: str) -> ConfigError:
    return ConfigError(f"{name} is {shown(value)}; expected {expected}")
