"""A golden set's rows as they grow: new ids, and evidence that a labeller adds to a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rayeval.golden.contract import Location
from rayeval.golden.ids import id_of
from rayeval.tables import UNLABELLED

OWN = tuple(Location.model_fields)
_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


def new_id(question: str, taken: Collection[str]) -> str:
    """An id made of the question's text, and numbered where that is taken."""
    name = id_of({"question": question}) or "q"
    numbers = (f"{name}-{n}" for n in range(2, len(taken) + 3))
    return next(candidate for candidate in (name, *numbers) if candidate not in taken)


def next_version(versions: Iterable[str | None]) -> str:
    """The version after the greatest of these, which is numbered at its end; 1 where none is."""
    known = {version or "1" for version in versions} or {"1"}
    latest = max(known, key=_natural)
    match = _NUMBERED.fullmatch(latest)
    if match is None:
        return f"{latest}-2"
    number = match[2]
    return f"{match[1]}{int(number) + 1:0{len(number)}d}"


def _natural(version: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Numbers by their value, and before words."""
    parts = [part for part in re.split(r"([0-9]+)", version) if part]
    keys = [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]
    return keys, version


def labelled(
    row: Mapping[str, Any],
    known: Sequence[Mapping[str, Any]],
    location: Mapping[str, Any],
    *,
    relevance: int,
    relevant: int = 2,
    group: str | None,
    version: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row with one piece of evidence more, and that evidence.

    row: as the user wrote it. known: its evidence in order, as tables.EVIDENCE.
    location: where the evidence stands, in the fields of the contract.
    relevant: from which relevance evidence is gold; with it the question is no longer unlabelled.
    group: the group to which it is an alternative, or a new one's name; None: one of its own.
    """
    own = {name: row[name] for name in OWN if row.get(name) is not None}
    items = [dict(item) for item in row.get("evidence") or ([own] if own else [])]
    for item, entry in zip(items, known, strict=True):
        if entry["group_id"] == group:
            item["group_id"] = group  # a group is named once somebody else joins it
    taken = {entry[name] for entry in known for name in ("evidence_id", "group_id")}
    numbers = range(len(items) + 1, len(items) + len(taken) + 2)
    name = next(f"e{n}" for n in numbers if f"e{n}" not in taken | {group})
    new = {"evidence_id": name, "group_id": group or name, **location, "relevance": relevance}
    rest = {key: value for key, value in row.items() if key not in OWN}
    if rest.get("labels") == UNLABELLED and relevance >= relevant:
        del rest["labels"]
    return {**rest, "evidence": [*items, new], "label_version": version}, new
