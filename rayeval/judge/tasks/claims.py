"""Atomic claims: of an answer, with the marks that each cites, and of the reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, any_of, object_of
from rayeval.words import blank

TEXT: Schema = {"type": "string", "minLength": 1}


class Claims:
    """An answer → its claims. A blank answer claims nothing; a refusal is not asked about."""

    name: ClassVar[str] = "claims"
    prompt: ClassVar[str] = "claims"
    part_of: ClassVar[frozenset[str]] = frozenset({"claims"})

    def needs_asking(self, item: Item) -> bool:
        """Where something is answered."""
        if item.text is not None and blank(item.text):
            item.claims = []
        return item.text is not None and item.claims is None

    def values(self, item: Item) -> dict[str, Any]:
        """The answer as it is written."""
        marks = list(item.citations or ()) if item.marked else []
        return {"question": item.question, "text": item.text, "marks": marks}

    def schema(self, item: Item) -> Schema:
        """Texts, with marks where the answer has some."""
        marks = {"citations": any_of(item.citations or ())} if item.marked else {}
        return object_of(claims={"type": "array", "items": object_of(text=TEXT, **marks)})

    def take(self, item: Item, reply: Any) -> None:
        """Marks become the chunks that they name. Those of an answer that lists them apart from
        its text stand for all of it."""
        whole = item.citations
        item.claims = [
            {
                "text": one["text"],
                "citations": None if whole is None else _chunks(item, one.get("citations", whole)),
            }
            for one in reply["claims"]
        ]


class ReferenceClaims:
    """The reference answer → its claims."""

    name: ClassVar[str] = "reference_claims"
    prompt: ClassVar[str] = "claims"
    part_of: ClassVar[frozenset[str]] = frozenset({"support", "reference"})

    def needs_asking(self, item: Item) -> bool:
        """Where there is a reference."""
        return item.reference is not None and item.reference_claims is None

    def values(self, item: Item) -> dict[str, Any]:
        """The reference answer."""
        return {"question": item.question, "text": item.reference, "marks": []}

    def schema(self, item: Item) -> Schema:
        """Texts."""
        return object_of(claims={"type": "array", "items": object_of(text=TEXT)})

    def take(self, item: Item, reply: Any) -> None:
        """As they are listed."""
        item.reference_claims = [{"text": one["text"]} for one in reply["claims"]]


def _chunks(item: Item, marks: Sequence[str]) -> list[str]:
    """The chunks of the context that marks name, each once, in order."""
    return list(dict.fromkeys(item.cited[mark] for mark in marks if mark in item.cited))
