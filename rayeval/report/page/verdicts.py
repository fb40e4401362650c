"""What a judge made of one answer, as a question's page holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

CLAIMS = 40
"""Of one answer, and of its reference answer."""
CHARS = 600
"""Of one claim, or of one reason."""
NOTHING: tuple[str, list[Any]] = ("claims", [])
"""An answer that claims nothing; without the list it was not judged."""
Row = Mapping[str, Any]


def named(judged: Row | None) -> set[str]:
    """The chunks on which, by the judge, claims rest, and those that they cite."""
    if judged is None:
        return set()
    rest = [one["chunks"] for name in ("claims", "reference_claims") for one in judged[name] or ()]
    rest += [one["citations"] for one in judged["claims"] or ()]
    return {chunk for chunks in rest for chunk in chunks or ()}


def judged_json(judged: Row, place: Mapping[str, int]) -> dict[str, Any]:
    """place: chunk → the number of that evidence.

    claims: [text, support, the evidence it rests on, reference, cited, the evidence it cites].
    reference: [text, answer, context, the evidence it rests on]. bad: [task, outcome, why].
    """
    if judged["error"]:
        return {"error": judged["error"][:CHARS]}
    claims, reference = judged["claims"], judged["reference_claims"] or []
    known = {
        "correctness": judged["correctness"],
        "grades": {
            place[one["chunk_id"]]: one["grade"]
            for one in judged["relevance"] or ()
            if one["chunk_id"] in place
        },
        "claims": None if claims is None else [_claim(one, place) for one in claims[:CLAIMS]],
        "reference": [
            [one["text"][:CHARS], one["answer"], one["context"], _places(one["chunks"], place)]
            for one in reference[:CLAIMS]
        ],
        "left": max(0, len(claims or []) - CLAIMS) + max(0, len(reference) - CLAIMS),
        "bad": [
            [one["task"], one["outcome"], (one["reason"] or "")[:CHARS]]
            for one in judged["outcomes"] or ()
            if one["outcome"] != "ok"
        ],
    }
    return {name: value for name, value in known.items() if value or (name, value) == NOTHING}


def _claim(claim: Row, place: Mapping[str, int]) -> list[Any]:
    rests, cites = _places(claim["chunks"], place), _places(claim["citations"], place)
    return [
        claim["text"][:CHARS],
        claim["support"],
        rests,
        claim["reference"],
        claim["cited"],
        cites,
    ]


def _places(chunks: Iterable[str] | None, place: Mapping[str, int]) -> list[int]:
    return sorted(place[one] for one in chunks or () if one in place)
