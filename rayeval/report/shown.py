"""A table to be read, whoever draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass


def signed(value: float | None) -> str:
    """A difference, three decimals; one that rounds to nothing has no sign of its own. A dash where
    it is undefined."""
    return "–" if value is None or math.isnan(value) else f"{round(value, 3) + 0.0:+.3f}"


@dataclass(frozen=True)
class Row:
    """A line of a table: its name, then numbers or text."""

    name: str
    cells: tuple[float | str, ...]


@dataclass(frozen=True)
class Shown:
    """A table to be read."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
