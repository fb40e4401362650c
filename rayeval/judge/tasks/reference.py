"""Answer and reference answer against each other, claim by claim, both ways."""

from __future__ import annotations

from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, exactly, note, object_of, one_of, texts

VERDICTS = ("supported", "contradicted", "not_in_text")


class Reference:
    """Each claim of the answer: what the reference answer says of it."""

    name: ClassVar[str] = "reference"
    prompt: ClassVar[str] = "reference"
    part_of: ClassVar[frozenset[str]] = frozenset({"reference"})

    def needs_asking(self, item: Item) -> bool:
        """Where there are claims and a reference."""
        return bool(item.claims) and item.reference is not None

    def values(self, item: Item) -> dict[str, Any]:
        """The claims of one, the text of the other."""
        return {
            "question": item.question,
            "text": item.reference,
            "claims": texts(item.claims),
        }

    def schema(self, item: Item) -> Schema:
        """A verdict per claim."""
        return object_of(verdicts=exactly(len(item.claims or ()), one_of(*VERDICTS)))

    def take(self, item: Item, reply: Any) -> None:
        """Verdicts in the claims' order."""
        note(item.claims or (), "reference", _named(reply, "not_in_reference"))


class Recall:
    """Each claim of the reference answer: what the answer says of it."""

    name: ClassVar[str] = "recall"
    prompt: ClassVar[str] = "reference"
    part_of: ClassVar[frozenset[str]] = frozenset({"reference"})

    def needs_asking(self, item: Item) -> bool:
        """Where there are claims of the reference and something is answered; a blank answer says
        nothing of any."""
        claims = item.reference_claims or []
        blank = item.text is not None and not item.text.strip()
        if blank:
            note(claims, "answer", ["not_in_answer"] * len(claims))
        return bool(claims) and item.text is not None and not blank

    def values(self, item: Item) -> dict[str, Any]:
        """The claims of one, the text of the other."""
        return {
            "question": item.question,
            "text": item.text,
            "claims": texts(item.reference_claims),
        }

    def schema(self, item: Item) -> Schema:
        """A verdict per claim."""
        return object_of(verdicts=exactly(len(item.reference_claims or ()), one_of(*VERDICTS)))

    def take(self, item: Item, reply: Any) -> None:
        """Verdicts in the claims' order."""
        note(item.reference_claims or (), "answer", _named(reply, "not_in_answer"))


def _named(reply: Any, absent: str) -> list[str]:
    return [absent if verdict == "not_in_text" else verdict for verdict in reply["verdicts"]]
