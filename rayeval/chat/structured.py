"""Replies that must follow a JSON schema: the value, or what is wrong with them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema

from rayeval.chat.engine import Reply
from rayeval.errors import text_of
from rayeval.strict_json import once

SHOWN = 40
"""Characters of a reply that a reason repeats: `<think>` says more than a place in it."""
Wrong = Literal["unparseable", "wrong_count", "out_of_range", "truncated"]
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
_RANGE = frozenset({"enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNT = frozenset({"minItems", "maxItems"})
_ORDER: tuple[Wrong, ...] = ("unparseable", "wrong_count", "out_of_range")
"""Of several faults, the one that is told: the others may only follow from it."""
_VALIDATOR = jsonschema.Draft202012Validator


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
    try:
        value = json.loads(
            fenced[1] if fenced else reply.text,
            parse_constant=_refuse,
            parse_float=_finite,
            object_pairs_hook=once,
        )
        json.dumps(value, ensure_ascii=False).encode()  # no half of a character
    except (ValueError, RecursionError) as error:
        if reply.finish_reason == "length":
            return Bad("truncated", "the reply ends at its limit of tokens")
        if not reply.text.strip():
            return Bad("unparseable", "the reply is empty, expected JSON")
        begins = repr(reply.text[:SHOWN])
        return Bad("unparseable", f"the reply is no JSON: {_plain(error)}; it begins {begins}")
    wrong = list(_VALIDATOR(schema).iter_errors(value))
    if not wrong:
        return value
    found = min(wrong, key=lambda error: _ORDER.index(_outcome(error)))
    where = "".join(f"[{part!r}]" for part in found.absolute_path)
    return Bad(_outcome(found), f"{where or 'the reply'}: {found.message}"[:300])


def _outcome(error: Any) -> Wrong:
    """What a failed validation means: which keyword of the schema was not followed."""
    if error.validator in _RANGE:
        return "out_of_range"
    return "wrong_count" if error.validator in _COUNT else "unparseable"


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is beyond all numbers")
    return value


def _plain(error: Exception) -> str:
    """What an error says, without halves of characters."""
    return text_of(error, named=False)[:200]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
