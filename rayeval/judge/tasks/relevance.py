"""How relevant each passage of the context is to the question."""

from __future__ import annotations

from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, exactly, object_of


class Relevance:
    """A grade of 0 to 3 (DESIGN §3) for every passage that was handed over. The brackets' contexts
    are what they are by construction, and are not graded."""

    name: ClassVar[str] = "relevance"
    prompt: ClassVar[str] = "relevance"
    part_of: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def needs_asking(self, item: Item) -> bool:
        """Where there is a context, whatever was answered; an empty one has no grades."""
        if item.variant == "answer" and item.passages == ():
            item.relevance = []
        return item.variant == "answer" and bool(item.passages)

    def values(self, item: Item) -> dict[str, Any]:
        """The question and the context."""
        return {"question": item.question, "passages": item.passages}

    def schema(self, item: Item) -> Schema:
        """A grade per passage."""
        grade = {"type": "integer", "minimum": 0, "maximum": 3}
        return object_of(grades=exactly(len(item.passages or ()), grade))

    def take(self, item: Item, reply: Any) -> None:
        """Grades in the passages' order."""
        graded = zip(item.passages or (), reply["grades"], strict=True)
        item.relevance = [{"chunk_id": one.chunk_id, "grade": int(grade)} for one, grade in graded]
