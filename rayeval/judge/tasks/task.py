"""What every task has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from rayeval.judge.item import Item

Schema = Mapping[str, Any]


class Task(Protocol):
    """One question that a judge is asked about an answer."""

    name: ClassVar[str]
    """As `outcomes` call it."""
    prompt: ClassVar[str]
    """The prompt that it is asked with."""
    part_of: ClassVar[frozenset[str]]
    """The tasks of a configuration that it is a part of."""

    def needs_asking(self, item: Item) -> bool:
        """Whether a judge has something to say; what is known without one is noted on `item`."""
        ...

    def values(self, item: Item) -> dict[str, Any]:
        """What fills the prompt: all of it data."""
        ...

    def schema(self, item: Item) -> Schema:
        """What the reply must look like."""
        ...

    def take(self, item: Item, reply: Any) -> None:
        """Notes on `item` what a reply that follows the schema says."""
        ...


def object_of(**properties: Schema) -> Schema:
    """A JSON object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def one_of(*values: str) -> Schema:
    """One of some words."""
    return {"type": "string", "enum": list(values)}


def exactly(n: int, items: Schema) -> Schema:
    """A list of `n`."""
    return {"type": "array", "items": items, "minItems": n, "maxItems": n}


def any_of(marks: Sequence[str]) -> Schema:
    """A list of some of the marks."""
    return {"type": "array", "items": one_of(*marks)}


def texts(claims: Sequence[Mapping[str, Any]] | None) -> list[str]:
    """What claims say, in order."""
    return [claim["text"] for claim in claims or ()]


def note(claims: Sequence[dict[str, Any]], name: str, verdicts: Sequence[Any]) -> None:
    """Sets a field of every claim."""
    for claim, verdict in zip(claims, verdicts, strict=True):
        claim[name] = verdict
