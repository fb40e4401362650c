"""Offsets that a hit has beside its text, and hits that a line has beside its question.

Both are said in one way in all that comes after: `spans`, and the stage that is called `trace`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.hits import reserved
from rayeval.interop.own.nameless import ONE_STAGE
from rayeval.interop.own.offsets import ENDS

DROPPED = "filter"
"""Rows of a run's own trace that are no stage's hits: they are left out when it is read."""


def staged(line: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The stages of a line, every hit's offsets as its `spans`; or what contradicts itself."""
    stages: dict[str, Any] = {
        name: {"hits": found} if isinstance(found, list) else found
        for name, found in (line.get("stages") or {}).items()
    }
    if line.get("hits") is not None:
        if stages:
            return stages, "has `hits` and `stages` side by side; put the hits under a stage"
        stages[ONE_STAGE] = {"hits": line["hits"]}
    if line.get("context") is not None:
        listed = (stages.get("context") or {}).get("hits")
        if listed is not None and _same(listed) != _same(line["context"]):
            return stages, "has `context` and a stage `context` whose hits are others; keep one"
        stages["context"] = {**stages.get("context", {}), "hits": line["context"]}
    if DROPPED in stages:
        return stages, reserved(DROPPED)
    for name, stage in stages.items():
        hits = stage.get("hits") or ()
        if any(type(hit) is dict and ("start_char" in hit or "end_char" in hit) for hit in hits):
            for rank, hit in enumerate(hits, 1):
                if wrong := _contradiction(hit):
                    return stages, f"stage {name!r}: the hit at rank {rank} {wrong}"
            stages[name] = {**stage, "hits": [_spanned(hit) for hit in hits]}
    return stages, None


def _same(hits: Sequence[Any]) -> list[dict[str, str]]:
    """Hits however they were written: text alone, ids as numbers, nulls, one span beside them."""
    spelt = [{"text": hit} if isinstance(hit, str) else _spanned(hit) for hit in hits]
    return [{name: str(v) for name, v in hit.items() if v is not None} for hit in spelt]


def _contradiction(hit: Any) -> str | None:
    ends = [isinstance(hit, dict) and hit.get(name) is not None for name in ENDS]
    if any(ends) and not all(ends):
        return "has one of `start_char` and `end_char`; give both"
    if any(ends) and hit.get("spans") is not None:
        return "has `spans`, and `start_char` and `end_char` too; give one of them"
    return None


def _spanned(hit: Any) -> Any:
    if not isinstance(hit, dict):
        return hit
    rest = {name: value for name, value in hit.items() if name not in ENDS}
    if hit.get("start_char") is not None:
        rest["spans"] = [{name: hit[name] for name in ENDS}]
    return rest
