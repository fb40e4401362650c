"""What somebody sees who grades hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from rayeval.report.passages import where
from rayeval.report.plain import shortened
from rayeval.report.terminal import number, rendered
from rayeval.words import plural, verb

LONG = 1_600
"""Characters of a passage that are shown."""
FACTS = 2
"""The least grade that stands for a fact."""
KEYS = "0 irrelevant · 1 on topic · 2 part of the answer · 3 answers it · s skip · u undo · q quit"


class Figures(Protocol):
    """What a run scores."""

    @property
    def question(self) -> Mapping[str, float]:
        """One question's numbers."""
        ...

    @property
    def mean(self) -> Mapping[str, float | None]:
        """The means over all questions."""
        ...


class Change(Protocol):
    """What one grade did."""

    @property
    def question_id(self) -> str:
        """Of which question."""
        ...

    @property
    def grade(self) -> int:
        """From 0 to 3."""
        ...

    @property
    def evidence(self) -> Mapping[str, Any]:
        """As written to the golden set."""
        ...

    @property
    def before(self) -> Figures:
        """Without it."""
        ...

    @property
    def after(self) -> Figures:
        """With it."""
        ...


def item_text(
    item: Mapping[str, Any], question: Mapping[str, Any], *, place: int, total: int
) -> str:
    """One hit with its source, below the question and its answer.

    Which run found it, and at which rank, is not said: grading is blind.
    """
    spans = [(span["start_char"], span["end_char"]) for span in item["spans"] or []]
    parts: list[RenderableType] = [
        Text(f"\n[{place} of {total}] {item['question_id']}  {question['question']}"),
    ]
    if question["reference_answer"]:
        parts.append(Text(f"answer   {question['reference_answer']}"))
    source = where(item["source_id"], item["revision_id"], spans, whole=item["spans"] is not None)
    parts.append(Text(f"source   {source}\n"))
    return rendered([*parts, _passage(item["text"] or "(no text)"), Text(f"\n{KEYS}")])


def groups_text(keys: Sequence[str], groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The groups that a relevant hit may be an alternative to, each with its key."""
    lines = ["  n  a new fact, needed besides the others"]
    for key, (name, evidence) in zip(keys, groups.items(), strict=False):
        first = next((entry for entry in evidence if entry["quote"]), evidence[0])
        said = first["quote"] or f"all of {first['source_id']}"
        lines.append(f"  {key}  says the same as {name}: {shortened(said, 60)}")
    return rendered([Text("Which fact does it support?"), Text("\n".join(lines))])


def change_text(change: Change) -> str:
    """What was written; the question's numbers and the means, before and after.

    They may tell where the hit ranks: once it is graded, and nothing of the next one.
    """
    fact = f", fact {change.evidence['group_id']}" if change.grade >= FACTS else ""
    own = _moves(change.before.question, change.after.question)
    means = _moves(change.before.mean, change.after.mean)
    written = f"{change.question_id}: grade {change.grade}{fact}, written"
    return rendered([Text(f"{written}: {own}"), Text(f"mean: {means}")])


def summary_text(changes: Sequence[Change], path: str, version: str, left: int) -> str:
    """What a session of grading came to."""
    if not changes:
        return rendered([Text(f"Nothing was graded; {_left(left, 'unjudged hit')}.")])
    moves = _moves(changes[0].before.mean, changes[-1].after.mean)
    said = (
        f"{plural(len(changes), 'grade')} in {path} (label version {version}); "
        f"{_left(left, 'hit')}."
    )
    return rendered([Text(said), Text(f"mean: {moves}")])


def left_out_text(left_out: Mapping[str, int]) -> str:
    """Unjudged hits that nobody is asked about, and what would help."""
    lines = [
        f"{plural(count, 'unjudged hit')} {verb(count, 'is', 'are')} left out, known {why}"
        for why, count in left_out.items()
    ]
    return rendered([Text("\n".join(lines))])


def _left(count: int, noun: str) -> str:
    return f"{plural(count, noun)} {verb(count, 'is', 'are')} left"


def _moves(before: Mapping[str, float | None], after: Mapping[str, float | None]) -> str:
    return " · ".join(f"{name} {_shown(before[name])} → {_shown(after[name])}" for name in after)


def _shown(value: float | None) -> str:
    return number(math.nan if value is None else value)


def _passage(text: str) -> RenderableType:
    """A passage's text, indented; a very long one is cut in the middle."""
    if len(text) > LONG:
        half = LONG // 2
        text = (
            f"{text[:half]} … [{plural(len(text) - LONG, 'character')} left out] … {text[-half:]}"
        )
    return Padding(Text(text.strip("\n")), (0, 0, 0, 4))
