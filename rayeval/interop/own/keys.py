"""Keys given twice in a line of JSON, which the parser that checks a trace passes over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rayeval.strict_json import KeyTwiceError, loads

_SPACED = re.compile(rb'"\s+:')


def key_twice(line: bytes, value: Mapping[str, Any]) -> str | None:
    """What is to be said of a key that an object of the line has twice.

    value: what the line was read as. A line with no more `":` than it has keys has none twice;
    others, whose text may merely look so, are read again with care.
    """
    written = line.count(b'":') + len(_SPACED.findall(line))
    if written <= _keys(value):
        return None
    try:
        loads(line)
    except KeyTwiceError as error:
        return str(error)
    return None


def _keys(value: Mapping[str, Any]) -> int:
    """The keys of a question, its stages, and their hits."""
    stages = value.get("stages") or {}
    named = [stage for stage in stages.values() if isinstance(stage, dict)]
    lists = [stage.get("hits") or () for stage in named]
    lists += [stage for stage in stages.values() if isinstance(stage, list)]
    lists += [value.get("context") or (), value.get("hits") or ()]
    hits = [hit for listed in lists for hit in listed if isinstance(hit, dict)]
    spans = [len(span) for hit in hits for span in hit.get("spans") or ()]
    return len(value) + len(stages) + sum(map(len, [*named, *hits])) + sum(spans)
