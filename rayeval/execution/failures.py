"""Errors that end a run, on their way from a worker to the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rayeval.errors import InfrastructureError, InputError, text_of
from rayeval.execution import calls

Failure = tuple[str, str]
"""What a worker says of an error that ends the run: ("input" | "infrastructure", message)."""


def guarded(function: Callable[[Any], Any], item: Any) -> Any:
    """The result, or a failure that ends the run, in a form that any process can read."""
    try:
        return function(item)
    except InputError as error:
        return "input", text_of(error, named=False)
    except calls.FATAL as error:
        return "infrastructure", text_of(error)


def checked(result: Any) -> Any:
    """The result; raises the error that a failure stands for."""
    if isinstance(result, tuple) and len(result) == 2 and result[0] in ("input", "infrastructure"):
        raise (InputError if result[0] == "input" else InfrastructureError)(result[1])
    return result
