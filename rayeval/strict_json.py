"""JSON in which a key given twice in one object is an error, not silently the last one."""

from __future__ import annotations

import json
from typing import Any


class KeyTwiceError(ValueError):
    """An object has a key more than once."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, as `object_pairs_hook`. Raises KeyTwiceError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise KeyTwiceError(f"the key {twice!r} is given twice in one object; keep one")
    return found


def loads(text: str | bytes) -> Any:
    """The value in `text`.

    Raises KeyTwiceError for a key given twice, ValueError for what is no JSON, RecursionError for
    what is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=once)
