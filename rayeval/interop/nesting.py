"""Attributes of spans as trees: dotted keys, numbered keys, and objects written as text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from rayeval.interop.reading import listed
from rayeval.interop.records import RefusedError
from rayeval.strict_json import KeyTwiceError, loads


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as a tree; a level whose keys are all numbers becomes a list.

    Where a key has a value and others lie below it (`error`, `error.type`), those below count.
    """
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *above, last = str(key).split(".")
        level = tree
        for part in above:
            if not isinstance(level.get(part), dict):
                level[part] = {}
            level = level[part]
        inner = _tree(value)
        if isinstance(level.get(last), dict) and isinstance(inner, dict):
            level[last].update(inner)
        elif level.get(last) is None:
            level[last] = inner
    return {key: _lists(value) for key, value in tree.items()}


def _tree(value: Any) -> Any:
    if isinstance(value, Mapping):
        return nested(value)
    return [_tree(item) for item in value] if isinstance(value, list) else value


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: _lists(item) for key, item in value.items()}
        if inner and all(key.isdecimal() for key in inner):
            return [inner[key] for key in sorted(inner, key=int)]
        return inner
    return [_lists(item) for item in value] if isinstance(value, list) else value


def at(tree: Mapping[str, Any], path: str) -> Any:
    """What stands at a dotted path, or null."""
    value: Any = tree
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def list_of(value: Any, field: str) -> Any:
    """A list, also one written as text in JSON or as Python writes it; anything else as it is."""
    return _tree(listed(value, field)) if isinstance(value, str) else value


def object_of(value: Any, field: str) -> Mapping[str, Any]:
    """An object, also one written as text in JSON or as Python writes it; empty for all else.

    Raises RefusedError for text that begins like an object and is none.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _parsed(value, field)
    return value if isinstance(value, Mapping) else {}


def _parsed(text: str, field: str) -> Any:
    try:
        return loads(text)
    except KeyTwiceError as error:
        raise RefusedError("field_twice", f"`{field}`: {error}") from error
    except (ValueError, RecursionError) as error:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            message = f"`{field}` is not JSON, or cut off: {error}"
            raise RefusedError("invalid_json", message) from error
