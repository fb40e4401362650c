"""A golden set's row with its evidence where it stands now."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rayeval.golden.anchor import Place


@dataclass(frozen=True)
class Move:
    """What evidence says from now on; a quote or a revision only where it says one."""

    spans: list[Place] | None
    """None: it is found by what else it says."""
    quote: str | None
    revision_id: str
    source_id: str | None = None
    """What its source is called now; None: as before."""
    element: str | None = None
    """Its element's id now, or that of the cell in it; None: as before."""
    page: int | None = None
    """On which page it stands now; None: as it is written."""
    restated: bool = False
    """Its quote is another text from now on, wherever it stands; a page no longer says where."""


def moved(row: dict[str, Any], moves: Mapping[str, Move]) -> dict[str, Any]:
    """`row` of the contract, with the evidence of these ids changed and nothing else."""
    row = copy.deepcopy(row)
    listed = row.get("evidence") or []
    for number, item in enumerate(listed or [row], start=1):
        name = item.get("evidence_id") if listed else None
        move = moves.get(name or f"e{number}")
        if move is not None:
            _put(item, move)
    return row


def _put(item: dict[str, Any], move: Move) -> None:
    if item.get("revision_id") is not None:
        item["revision_id"] = move.revision_id
    if move.source_id is not None:
        item["source_id"] = move.source_id
    if move.element is not None and item.get("cell") is not None:
        item["element_id"], _, item["cell"] = move.element.rpartition("/")
    elif move.element is not None:
        item["element_id"] = move.element
    if move.page is not None:
        item["page"] = move.page
    if move.restated:
        item.pop("page", None)
        if item.get("quote") is not None or move.spans is None:
            item["quote"] = move.quote
    if move.spans is None:
        return
    if item.get("spans") is not None or len(move.spans) > 1:
        item["spans"] = [{"start_char": start, "end_char": end} for start, end in move.spans]
    else:
        item["start_char"], item["end_char"] = move.spans[0]
    if item.get("quote") is not None:
        item["quote"] = move.quote
