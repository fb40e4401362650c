"""What an unknown key of a configuration may mean, and which keys there are in its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, cast

from pydantic import BaseModel

from rayeval.execution.config import RunConfig


def hint(loc: Sequence[str | int], place: str) -> str:
    """What to say of a key that isn't known where it stands.

    loc: its place, as pydantic has it; place: as the user has it.
    """
    name, here = str(loc[-1]), sorted({n for m in _at(loc[:-1]) for n in m.model_fields})
    takes = f"; here there are {', '.join(here)}" if here else ""
    if near := difflib.get_close_matches(name, here, n=1):
        return f"; did you mean {near[0]}?"
    if name in _known():
        group = place.rpartition(".")[0]
        whole = f"; to change its kind, set all of it: --set '{group}={{kind: …}}'"
        return f" here (other places or kinds have it){whole if group else ''}{takes}"
    return takes


def _at(loc: Sequence[str | int]) -> list[type[BaseModel]]:
    """The models that may stand at a place of the configuration; pydantic's also names kinds."""
    found: list[type[BaseModel]] = [RunConfig]
    for part in loc:
        kind = [m for m in found if "kind" in m.model_fields and _kind(m) == part]
        below = [
            inner
            for model in found
            if part in model.model_fields
            for inner in _inside(model.model_fields[str(part)].annotation)
        ]
        found = kind or below or found
    return found


def _kind(model: type[BaseModel]) -> Any:
    return model.model_fields["kind"].default


def _models(model: type[BaseModel]) -> Iterable[type[BaseModel]]:
    """`model` and every model that its fields can hold."""
    todo, seen = [model], set()
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for info in current.model_fields.values():
            todo += _inside(info.annotation)
    return seen


def _inside(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    arguments = cast("Iterable[Any]", getattr(annotation, "__args__", ()))
    return [model for argument in arguments for model in _inside(argument)]


def _known() -> list[str]:
    return sorted({name for model in _models(RunConfig) for name in model.model_fields})
