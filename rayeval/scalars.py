"""Numbers, ids and flags in whatever type a library gives them: NumPy's, Decimal, Python's own.

Plain Python, which loads none of those libraries.
"""

from __future__ import annotations

import operator
from decimal import Decimal
from numbers import Real
from typing import Any

LEVELS = 8
"""How deep a row of a trace goes: its stages, a stage, hits, a hit, spans, a span, an offset."""


def plain(value: Any) -> Any:
    """The int, float, bool or text that a scalar stands for; whatever is none, as it is."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if getattr(value, "shape", None) == () and hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    try:
        if hasattr(type(value), "__index__"):
            return operator.index(value)
        return float(value) if isinstance(value, Real | Decimal) else value
    except (TypeError, ValueError, OverflowError):
        return value


def plain_all(value: Any, levels: int = LEVELS) -> Any:
    """`value` with every scalar in its lists and dicts plain."""
    if levels and isinstance(value, dict):
        return {plain(name): plain_all(item, levels - 1) for name, item in value.items()}
    if levels and isinstance(value, list):
        return [plain_all(item, levels - 1) for item in value]
    return plain(value)


def whole(value: Any) -> int | None:
    """A whole number of any type, which true and false are not; None for what is none."""
    value = plain(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def real(value: Any) -> float | None:
    """A number of any type, NaN and infinity too, but no text of one; None for what is none."""
    value = plain(value)
    if isinstance(value, bool | str | bytes | bytearray):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def digits(value: Any) -> str | None:
    """A whole number's decimal text; None for what is none, or longer than Python writes out."""
    number = whole(value)
    try:
        return None if number is None else str(number)
    except ValueError:
        return None


def shown(value: Any) -> str:
    """`value` for a message, short, whatever its `repr` does."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - of anybody's class; a number may be too long to be written
        return f"a value of {type(value).__name__} that can't be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."
