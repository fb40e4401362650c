"""Repeats that came out alike, told once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def folded(
    rows: Sequence[Row], alike: Callable[[Row], Hashable]
) -> Iterator[tuple[str, list[Row]]]:
    """(which repeats, their rows) by variant and by what `alike` makes of a row, each where its
    first stands.

    Which: `1–3, 5`, from 1; empty where the variant has a single row.
    """
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault((row["variant"], alike(row)), []).append(row)
    for group in groups.values():
        variant = group[0]["variant"]
        several = sum(row["variant"] == variant for row in rows) > 1
        yield (ranges([row["repeat"] + 1 for row in group]) if several else ""), group


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers, those in a row as one: `1–3, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}–{r[-1]}" for r in runs)
