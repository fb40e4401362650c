"""What is wrong with a file of gates, in the words of the file."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rayeval.gates.config import FLAT, RENAMED, Gate, Gates, Place, entries

ENTRIES = (
    "`gates:`, a list of gates such as {metric: recall@5, min: 0.8}",
    "metrics, each with limits such as {min: 0.8}",
    "a gate such as {metric: recall@5, min: 0.8}",
    "limits such as {min: 0.8}",
)
"""What is expected of a whole file, of a section of the flat form, and of a gate in either form."""
EXPECTED = {
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "text",
    "tuple_type": "a list of gates",
    "too_short": "at least one gate",
}


def faults(error: ValidationError, values: Any) -> Iterator[tuple[Place, str]]:
    """Everything that is wrong with `values` as Gates, each with its place in them."""
    wrong = error.errors(include_url=False)
    told = set[bool]()
    for one in wrong:
        if one["type"] == "too_short" and len(wrong) > 1:
            continue  # they are wrong, not too few
        place = _place(one["loc"], values)
        said, of_gate = _said(one, place), len(one["loc"]) > 1
        if one["type"] == "extra_forbidden" and of_gate not in told:
            told.add(of_gate)
            said += (
                f"; a {'gate' if of_gate else 'file of gates'} takes {', '.join(_keys(of_gate))}"
            )
        yield place, said


def _place(loc: Sequence[str | int], values: Any) -> Place:
    """Where it stands: the flat form has no list of gates."""
    if len(loc) < 2 or loc[0] != "gates" or not isinstance(values, dict):
        return tuple(loc)
    begin, _ = entries(values)[int(loc[1])]
    names = {new: old for old, new in RENAMED.items()}
    section = values.get(begin[0])
    rest = [
        names[key]
        if isinstance(section, dict) and key in names and key not in section[begin[1]]
        else key
        for key in map(str, loc[2:])
    ]
    return (*begin, *rest)


def _said(error: ErrorDetails, place: Place) -> str:
    kind, found = error["type"], error["input"]
    if kind == "extra_forbidden":
        return f"unknown key{_nearest(str(error['loc'][-1]), _keys(len(error['loc']) > 1))}"
    if kind == "missing":
        return "missing"
    if kind == "value_error":
        return error["msg"].removeprefix("Value error, ")
    said = error["msg"][:1].lower() + error["msg"][1:]
    if kind in ("model_type", "model_attributes_type"):
        flat = bool(place) and place[0] in FLAT
        return f"expected {ENTRIES[flat + 2 * (len(place) > 1)]}, found {_short(found)}"
    expected = EXPECTED.get(kind) or said.removeprefix("input should be ")
    return f"expected {expected}, found {_short(found)}"


def _keys(of_gate: bool) -> list[str]:
    """What a gate, or a file of gates, may have."""
    return [*Gate.model_fields] if of_gate else [*Gates.model_fields, *FLAT]


def _nearest(name: str, known: Collection[str]) -> str:
    """A hint to the known name that `name` is most like, if it is like any."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _short(value: Any) -> str:
    yaml = {None: "nothing", True: "true", False: "false"}
    text = yaml[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
