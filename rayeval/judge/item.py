"""One answer before a judge: what it is asked about, and what it has said so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from rayeval.answer_tables import JUDGED

VARIANTS = {"answer": "answers", "closed_book": "answers:closed_book",
            "gold_context": "answers:gold_context"}  # fmt: skip
"""Variant → the batch column with its answers; those that a batch lacks are not judged."""
TEXTS = ("texts", "texts:gold_context")
"""Batch columns that may say what the chunks of contexts hold."""


@dataclass(frozen=True)
class Passage:
    """A passage of the context as it is shown: `[E1]` is the first."""

    mark: str
    chunk_id: str
    text: str


@dataclass
class Item:
    """One answer to one question."""

    row: int
    """Of the batch."""
    question: str
    reference: str | None
    variant: str
    repeat: int
    text: str | None
    """What was answered; None where it was refused, or where there is no answer."""
    citations: tuple[str, ...] | None
    """Marks in the answer, in order of first use; None where nobody knows what it cites."""
    cited: Mapping[str, str]
    """Mark → the chunk of the context that it names; invalid marks are not in it."""
    passages: tuple[Passage, ...] | None
    """The context; None where nobody knows it, or what it says."""
    claims: list[dict[str, Any]] | None = None
    reference_claims: list[dict[str, Any]] | None = None
    correctness: str | None = None
    relevance: list[dict[str, Any]] | None = None
    outcomes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def marked(self) -> bool:
        """Whether the answer's text holds its marks: a foreign trace may list them apart."""
        return any(_stands(mark, self.text or "") for mark in self.citations or ())

    def judged(self) -> dict[str, Any]:
        """As a row of JUDGED."""
        return {f.name: getattr(self, f.name) for f in JUDGED}

    def chunks(self, marks: list[str]) -> list[str]:
        """The chunks of the context that `marks` name, each once, in the context's order."""
        named = set(marks)
        return [one.chunk_id for one in self.passages or () if one.mark in named]


def items_of(batch: pa.Table) -> list[Item]:
    """Every answer in a batch (`question_id, question, reference_answer, answers, …`)."""
    names = {n: c for n, c in VARIANTS.items() if c in batch.column_names}
    texts = [name for name in TEXTS if name in batch.column_names]
    wanted = ["question", "reference_answer", *names.values(), *texts]
    rows = enumerate(batch.select(wanted).to_pylist())
    return [item for row, values in rows for item in _items(row, values, names, texts)]


def _items(
    row: int, values: Mapping[str, Any], names: Mapping[str, str], texts: list[str]
) -> Iterator[Item]:
    said = {one["chunk_id"]: one["text"] for name in texts for one in values[name] or ()}
    for variant, column in names.items():
        for answer in values[column] or ():
            yield _item(row, values, variant, answer, said)


def _item(
    row: int,
    values: Mapping[str, Any],
    variant: str,
    answer: Mapping[str, Any],
    said: Mapping[str, str | None],
) -> Item:
    context = answer["context"]
    lacking = [chunk for chunk in context or () if said.get(chunk) is None]
    known = context is not None and not lacking
    cited = {c["mark"]: c["chunk_id"] for c in answer["citations"] or ()}
    item = Item(
        row=row,
        question=values["question"],
        reference=values["reference_answer"] or None,
        variant=variant,
        repeat=answer["repeat"],
        text=None if answer["abstained"] else answer["answer"],
        citations=None if answer["citations"] is None else tuple(cited),
        cited={mark: chunk for mark, chunk in cited.items() if chunk in (context or ())},
        passages=_passages(context, said) if known else None,
    )
    if lacking:
        item.outcomes.append(_unknown(lacking))
    return item


def _passages(context: list[str], said: Mapping[str, str | None]) -> tuple[Passage, ...]:
    return tuple(Passage(f"E{n}", one, said[one] or "") for n, one in enumerate(context, 1))


def _unknown(lacking: list[str]) -> dict[str, Any]:
    reason = f"nothing is known of what {lacking[0]} says, a chunk of the context"
    return {"task": "context", "outcome": "failed", "reason": reason, "request": None}


def _stands(mark: str, text: str) -> bool:
    """Whether `mark` stands in brackets: `[E1]`, `[E1, E3]`."""
    inside = r"[^\[\]]*"
    return bool(re.search(rf"\[{inside}(?<!\w){re.escape(mark)}(?!\w){inside}\]", text))
