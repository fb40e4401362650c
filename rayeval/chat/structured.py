"""Replies that must follow a JSON schema: the value, or what is wrong with them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema

from rayeval.chat.engine import Reply

Wrong = Literal["unparseable", "wrong_count", "out_of_range", "truncated"]
_FENCE = re.compile(r"\s*```[\w-]*[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
_RANGE = frozenset({"enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNT = frozenset({"minItems", "maxItems"})


@dataclass(frozen=True)
class Bad:
    """A reply that is no value of its schema."""

    outcome: Wrong
    reason: str


def parse(reply: Reply, schema: Mapping[str, Any]) -> Any | Bad:
    """The value in a reply that is JSON and follows `schema`; nothing is repaired.

    One fence of ``` around the whole of it is taken off.
    """
    fenced = _FENCE.fullmatch(reply.text)
    text = fenced[1] if fenced else reply.text
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
        text.encode()
    except (ValueError, RecursionError) as error:
        if reply.finish_reason == "length":
            return Bad("truncated", "the reply ends at its limit of tokens")
        return Bad("unparseable", f"the reply is no JSON: {error}")
    found = next(_VALIDATOR(schema).iter_errors(value), None)
    if found is None:
        return value
    where = "".join(f"[{part!r}]" for part in found.absolute_path)
    reason = f"{where or 'the reply'}: {found.message}"[:300]
    if found.validator in _RANGE:
        return Bad("out_of_range", reason)
    return Bad("wrong_count" if found.validator in _COUNT else "unparseable", reason)


_VALIDATOR = jsonschema.Draft202012Validator


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object names a key twice")
    return value
