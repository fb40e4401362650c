"""Writes docs/configuration.md from the settings' own descriptions (`make docs`)."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rayeval.execution.config import RunConfig

TARGET = Path(__file__).with_name("configuration.md")
HEAD = """# Configuration

Every setting of a run, written by `make docs` from the code. Alternatives carry a `kind`. Paths are
relative to the file that holds them; a model is named by a folder, by `package:module/folder` (a
folder inside an installed Python package) or by `name@revision`. `--set key=value` overrides any
setting (`--set retrieve.arms.bm25.k1=1.5`).

`placement` and a model's `device` say where and how fast: they never change a result.
"""


def document() -> str:
    """The whole page."""
    return HEAD + "".join(_section(model) for model in _models(RunConfig))


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """`model` and every model below it, each once, in the order of the fields."""
    todo, seen = [model], []
    while todo:
        current = todo.pop(0)
        if current not in seen:
            seen.append(current)
            for info in current.model_fields.values():
                todo += _inside(info.annotation)
    yield from seen


def _inside(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in typing.get_args(annotation) for model in _inside(argument)]


def _section(model: type[BaseModel]) -> str:
    fields = model.model_fields
    kind = f" (`kind: {fields['kind'].default}`)" if "kind" in fields else ""
    about = " ".join((model.__doc__ or "").split("\n\n")[0].split())
    rows = [_row(name, info) for name, info in fields.items() if name != "kind"]
    table = "| setting | type | default | |\n|---|---|---|---|\n" + "".join(rows)
    return f"\n## {model.__name__}{kind}\n\n{about}\n" + (f"\n{table}" if rows else "")


def _row(name: str, info: FieldInfo) -> str:
    default = "required" if info.is_required() else _default(info)
    return f"| `{name}` | {_type(info.annotation)} | {default} | {info.description or ''} |\n"


def _default(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return f"{type(value).__name__}"
    return "" if value is None else f"`{value}`"


def _type(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(a) for a in arguments if a is not type(None))
    if origin is typing.Literal:
        return ", ".join(f"`{a}`" for a in arguments)
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"name → {_type(arguments[1])}"
    return str(getattr(annotation, "__name__", annotation))


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
