"""Claims against the selected context: the answer's own, and those of the reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rayeval.judge.item import Item
from rayeval.judge.tasks.task import Schema, any_of, exactly, note, object_of, one_of, texts

ABSENT = "not_in_context"
VERDICTS = ("supported", "contradicted", ABSENT)


class Support:
    """Each claim of the answer: supported by the context, contradicted, or not in it."""

    name: ClassVar[str] = "support"
    prompt: ClassVar[str] = "support"
    part_of: ClassVar[frozenset[str]] = frozenset({"support"})

    def needs_asking(self, item: Item) -> bool:
        """Where the context is known; an empty one has nothing in it, nobody need be asked."""
        return _asked(item, item.claims, "support")

    def values(self, item: Item) -> dict[str, Any]:
        """The claims and the context."""
        return {"passages": item.passages, "claims": texts(item.claims)}

    def schema(self, item: Item) -> Schema:
        """A verdict per claim, with the passages that it rests on."""
        return _schema(item, item.claims or ())

    def take(self, item: Item, reply: Any) -> None:
        """Verdicts in the claims' order."""
        _take(item, item.claims or (), "support", reply)


class ReferenceSupport:
    """Each claim of the reference answer against the context: what a perfect answer finds there."""

    name: ClassVar[str] = "reference_support"
    prompt: ClassVar[str] = "support"
    part_of: ClassVar[frozenset[str]] = frozenset({"support"})

    def needs_asking(self, item: Item) -> bool:
        """As for the answer's claims."""
        return _asked(item, item.reference_claims, "context")

    def values(self, item: Item) -> dict[str, Any]:
        """The claims and the context."""
        return {"passages": item.passages, "claims": texts(item.reference_claims)}

    def schema(self, item: Item) -> Schema:
        """As for the answer's claims."""
        return _schema(item, item.reference_claims or ())

    def take(self, item: Item, reply: Any) -> None:
        """Verdicts in the claims' order."""
        _take(item, item.reference_claims or (), "context", reply)


def _asked(item: Item, claims: list[dict[str, Any]] | None, name: str) -> bool:
    if not claims or item.passages is None:
        return False
    if not item.passages:
        note(claims, name, [ABSENT] * len(claims))
        note(claims, "chunks", [[]] * len(claims))
    return bool(item.passages)


def _schema(item: Item, claims: Sequence[Any]) -> Schema:
    marks = [passage.mark for passage in item.passages or ()]
    verdict = object_of(verdict=one_of(*VERDICTS), evidence=any_of(marks))
    return object_of(verdicts=exactly(len(claims), verdict))


def _take(item: Item, claims: Sequence[dict[str, Any]], name: str, reply: Any) -> None:
    verdicts = reply["verdicts"]
    note(claims, name, [one["verdict"] for one in verdicts])
    supporting = [one["evidence"] if one["verdict"] == "supported" else [] for one in verdicts]
    note(claims, "chunks", [item.chunks(marks) for marks in supporting])
