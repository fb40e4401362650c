"""Points in time as users write them."""

from __future__ import annotations

from datetime import UTC, date, datetime


def instant(value: object) -> datetime:
    """`value` as a time in UTC; a date is its first moment, a time without a zone is UTC.

    value: a date, a datetime or ISO 8601 text.
    Raises ValueError for text that isn't ISO 8601, TypeError for anything else.
    """
    if isinstance(value, str):
        value = datetime.fromisoformat(value.strip())
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise TypeError(f"expected a date, got {type(value).__name__}")
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{value} lies outside the years 1 to 9999 in UTC") from error
