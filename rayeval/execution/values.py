"""YAML as plain values, and which of them no setting can be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from rayeval.errors import ConfigError

LARGEST = 2**53
"""What JSON, in which a run keeps its configuration, holds exactly."""


def parsed(data: bytes | str, place: str) -> Any:
    """The value in a YAML text.

    Raises ConfigError, which names `place`, if there is none: PyYAML answers the date 2026-13-45,
    or a tag on a value that it doesn't fit, with whatever Python raised.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except RecursionError as error:
        raise ConfigError(f"{place} is not valid YAML: nested too deeply") from error
    except (yaml.YAMLError, ValueError, KeyError, AttributeError) as error:
        raise ConfigError(f"{place} is not valid YAML: {error}") from error


def line_of(data: bytes | str, place: Sequence[str | int]) -> int | None:
    """The line, from 1, of a YAML text on which the value at `place` begins, or what it lies in."""
    node, line = yaml.compose(data, Loader=_Strict), None
    for part in place:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
            continue
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = [(key, value) for key, value in pairs if key.value == str(part)]
        if not found:
            break
        [(key, node)] = found
        line = key.start_mark.line + 1
    return line


def place_text(place: Sequence[str | int]) -> str:
    """`gates[1].min`: the second of the gates."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")


def refused(values: Any, place: str = "") -> Iterator[str]:
    """A line for every number that no setting can be: infinite, or too large to be stored."""
    if isinstance(values, dict | list):
        items = values.items() if isinstance(values, dict) else enumerate(values)
        for key, value in items:
            yield from refused(value, f"{place}.{key}" if place else str(key))
    elif isinstance(values, float) and not math.isfinite(values):
        yield f"{place}: expected a finite number, found {values}"
    elif isinstance(values, int) and abs(values) > LARGEST:
        yield f"{place}: expected a number up to 2^53, found one of {values.bit_length()} bits"


class _Strict(yaml.SafeLoader):
    """Safe YAML in which a key given twice is an error."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Keys are compared as they stand there, before `<<` brings in those of another mapping."""
        node = super().compose_mapping_node(anchor)
        keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        for key, times in keys.items():
            if times > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} is given twice", problem_mark=node.start_mark
                )
        return node
