"""Whether an answer is right, by the reference answer."""

from __future__ import annotations

from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, object_of, one_of


class Correctness:
    """The answer as a whole: correct, partial or incorrect."""

    name: ClassVar[str] = "correctness"
    prompt: ClassVar[str] = "correctness"
    part_of: ClassVar[frozenset[str]] = frozenset({"correctness"})

    def needs_asking(self, item: Item) -> bool:
        """Where something is answered and there is a reference; a blank answer is not right."""
        blank = item.text is not None and not item.text.strip()
        if blank and item.reference is not None:
            item.correctness = "incorrect"
        return item.text is not None and not blank and item.reference is not None

    def values(self, item: Item) -> dict[str, Any]:
        """Question, reference, answer."""
        return {"question": item.question, "reference": item.reference, "answer": item.text}

    def schema(self, item: Item) -> Schema:
        """One verdict."""
        return object_of(verdict=one_of("correct", "partial", "incorrect"))

    def take(self, item: Item, reply: Any) -> None:
        """The verdict."""
        item.correctness = reply["verdict"]
