"""What the golden tools say in the terminal, 100 columns wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from rayeval.errors import Problem
from rayeval.report.terminal import headed, listed, rendered, titled

EACH = 3
"""How many of a kind are shown."""


NEXT = {
    "near_duplicate": "rayeval golden split GOLDEN --by template: such questions in one split",
    "too_few_questions": "rayeval golden add GOLDEN: one question of a user's at a time",
    "offset_outside_text": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
    "quote_mismatch": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
    "quote_lost": "rayeval golden anchor GOLDEN --corpus C --was OLD: what became of each quote",
    "evidence_changed": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
}


def problems_text(path: str, problems: Sequence[Problem], warnings: Sequence[Problem]) -> str:
    """How many there are of each kind, the first of each, and what to do."""
    parts: list[RenderableType] = []
    for title, found in (("Problems", problems), ("Warnings", warnings)):
        kinds = Counter(problem.kind for problem in found)
        if kinds:
            table = headed("kind", "how many")
            for kind, count in kinds.most_common():
                table.row(kind, f"{count:,}")
            parts.append(titled(title, table))
        for kind, count in kinds.most_common():
            shown = [_line(problem) for problem in found if problem.kind == kind][:EACH]
            more = [f"… and {count - EACH:,} more: --json lists all"] if count > EACH else []
            parts.append(listed(kind, [*shown, *more]))
    steps = dict.fromkeys(NEXT[p.kind] for p in [*problems, *warnings] if p.kind in NEXT)
    if steps:
        parts.append(listed("What to do next", list(steps)))
    parts.append(Text(f"\n{len(problems):,} problems, {len(warnings):,} warnings in {path}"))
    return rendered(parts)


def _line(problem: Problem) -> str:
    """A problem below its kind: the file by its name alone."""
    name = problem.file.rpartition("/")[2]
    place = name if problem.line is None else f"{name}:{problem.line}"
    who = f" [{problem.question_id}]" if problem.question_id is not None else ""
    return f"{place}{who}: {problem.message}"
