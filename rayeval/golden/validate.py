"""A record against the contract: every field that doesn't fit, in the user's terms."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rayeval.golden.contract import Evidence, Group, Part, Span, Turn
from rayeval.golden.problems import Record, nearest, path_of, shown

P = TypeVar("P", bound=Part)
Path = tuple[str | int, ...]

PARTS: dict[str, type[Part]] = {
    "evidence": Evidence,
    "evidence_groups": Group,
    "history": Turn,
    "spans": Span,
}
EXPECTED = {
    "bool_type": "true or false",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than_equal": "a number of 64 bits",
    "int_type": "a whole number",
    "less_than": "a number of 64 bits",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "text",
}


def fitted(
    model: type[P], value: Any, record: Record, path: Path = ()
) -> tuple[P | None, set[str]]:
    """`value` as `model`, without the fields that don't fit, and the names of those.

    What doesn't fit are problems at `record`; None where the rest is no `model` either.
    """
    try:
        return model.model_validate(value), set()
    except ValidationError as error:
        wrong = error.errors(include_url=False)
    for one in wrong:
        record.problem(*_said(model, one, path))
    names = {str(one["loc"][0]) for one in wrong if one["loc"]}
    if not isinstance(value, dict):
        return None, names
    try:
        return model.model_validate({k: v for k, v in value.items() if k not in names}), names
    except ValidationError:
        return None, names


def _said(model: type[Part], error: ErrorDetails, path: Path) -> tuple[str, str]:
    """The problem's kind and message."""
    loc, kind = error["loc"], error["type"]
    name = loc[-1] if loc else ""
    rest = f"is {_named(error['input'])}, expected {EXPECTED.get(kind, error['msg'])}"
    if kind == "extra_forbidden":
        parents = [part for part in loc[:-1] if isinstance(part, str)]
        known = PARTS[parents[-1]] if parents else model
        rest = f"is not part of the contract{nearest(str(name), known.model_fields) or '; drop it'}"
        kind = "unknown_field"
    elif kind == "literal_error":
        rest = f"is {_named(error['input'])}, expected {error['ctx']['expected']}"
        kind = f"unknown_{name}"
    elif kind == "missing" or (error["input"] is None and loc and isinstance(name, str)):
        kind, rest = "missing_field", "is missing"
    elif kind == "string_too_short":
        kind, rest = "missing_field", "is empty text; leave it out or fill it in"
    elif kind in ("greater_than_equal", "less_than_equal") and name == "relevance":
        rest = f"is {_named(error['input'])}, expected 0, 1, 2 or 3"
        kind = "relevance_out_of_range"
    elif kind != "bad_date":
        kind = "wrong_type"
    at = path_of((*path, *loc))
    return kind, f"{f'`{at}`' if at else 'the record'} {rest}"


def _named(value: Any) -> str:
    """What was found, in the words of JSON."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    words = {str: "text", int: "number", float: "number", list: "list", dict: "object"}
    return f"the {words.get(type(value), type(value).__name__)} {shown(value)}"
