"""What the parser finds wrong with a line of a trace, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "finite_number": "a finite number",
    "float_type": "a number",
    "id": "text or a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "string_too_short": "text that is not empty",
    "string_type": "text",
}

STAGED = 'an object of lists of hits: {"bm25": [{"chunk_id": "c-3"}]}'

KNOWN = {
    "line": "question_id, stages, hits, context, answer, abstained, citations, repeat, error",
    "stage": "hits, latency_ms, error",
    "hit": "chunk_id, source_id, revision_id, spans, start_char, end_char, text, score",
    "span": "start_char, end_char",
}


def other_member(error: Any) -> bool:
    """Whether the value was meant as another member of the union that this error is of."""
    member = error["loc"][-1] if error["loc"] else ""
    is_text = str(member).startswith("constrained-str")
    if len(error["loc"]) == 3 and error["loc"][0] == "stages":  # a stage, or a list of hits
        return is_list(member) or (member == "Stage" and isinstance(error["input"], list))
    if isinstance(error["input"], dict):
        return is_text
    return member in ("int", "Hit")


def is_list(part: str | int) -> bool:
    """Whether it names, in pydantic's words, the list of hits that may stand for a stage."""
    return str(part).startswith("list[")


def said(error: Any) -> tuple[str, str]:
    """A problem's kind and message."""
    kind, found = error["type"], error["input"]
    path = _path(error["loc"])
    if kind == "json_invalid":
        return "invalid_json", f"not JSON: {error['ctx']['error']}"
    if kind == "extra_forbidden":
        return "unknown_field", f"`{path}` is not part of a trace{_known(error['loc'])}"
    if kind == "missing":
        return "missing_field", f"`{path}` is missing"
    shown = repr(found) if len(repr(found)) <= 60 else f"{repr(found)[:57]}…"
    if error["loc"] and error["loc"][-1] == "int":  # of the union of text and numbers
        kind = "id"
    expected = EXPECTED.get(kind, error["msg"].removeprefix("Input should be "))
    if kind == "dict_type" and error["loc"][:1] == ("stages",) and len(error["loc"]) <= 3:
        expected = STAGED if path == "stages" else "a list of hits, or an object with `hits`"
    name = "bad_score" if path.endswith(".score") else "wrong_type"
    return name, f"`{path or 'the line'}` is {shown}, expected {expected}"


def _known(loc: Sequence[str | int]) -> str:
    """What is known in its place, and what to do."""
    staged = loc[0] == "stages"
    above = loc[2:-1] if staged else loc[:-1]  # without the name of a stage, which is free
    above = ["hits" if is_list(part) else part for part in above]
    place = "stage" if staged else "line"
    if {"hits", "context"} & set(above):
        place = "span" if "spans" in above else "hit"
    return f" (known here are {KNOWN[place]}): rename it if it is one of these, else leave it out"


def _path(loc: Sequence[str | int]) -> str:
    """Where it stands, in the user's own names: pydantic also names the member of a union."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("Hit", "Stage", "str", "int") and not part.startswith(
            ("constrained-", "list[")
        ):
            text += f".{part}" if text else part
    return text
