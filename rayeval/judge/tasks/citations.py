"""Whether what a claim cites bears it out, without the rest of the context."""

from __future__ import annotations

from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, exactly, note, object_of, one_of


class Citations:
    """Each claim that cites passages of the context: do these alone support it?"""

    name: ClassVar[str] = "citations"
    prompt: ClassVar[str] = "citations"
    part_of: ClassVar[frozenset[str]] = frozenset({"citations"})

    def needs_asking(self, item: Item) -> bool:
        """Where a claim cites something."""
        return bool(_citing(item)) and bool(item.passages)

    def values(self, item: Item) -> dict[str, Any]:
        """The claims, each with its passages' marks; only passages that some claim cites."""
        marks = {passage.chunk_id: passage.mark for passage in item.passages or ()}
        claims = [
            {"text": one["text"], "marks": [marks[chunk] for chunk in one["citations"]]}
            for one in _citing(item)
        ]
        cited = {mark for one in claims for mark in one["marks"]}
        return {"passages": [p for p in item.passages or () if p.mark in cited], "claims": claims}

    def schema(self, item: Item) -> Schema:
        """A verdict per claim that cites."""
        verdict = one_of("supported", "unsupported")
        return object_of(verdicts=exactly(len(_citing(item)), verdict))

    def take(self, item: Item, reply: Any) -> None:
        """Verdicts in the order of the claims that cite."""
        note(_citing(item), "cited", reply["verdicts"])


def _citing(item: Item) -> list[dict[str, Any]]:
    return [claim for claim in item.claims or () if claim["citations"]]
