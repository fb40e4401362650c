"""A table to be read, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass


def signed(value: float) -> str:
    """A difference, three decimals; one that rounds to nothing has no sign of its own."""
    return f"{round(value, 3) + 0.0:+.3f}"


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
