"""Reading a configuration file: YAML, overrides, relative paths, and errors in plain words."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rayeval import files
from rayeval.errors import ConfigError
from rayeval.execution.config import RunConfig
from rayeval.execution.keys import hint
from rayeval.execution.values import parsed, refused
from rayeval.golden.problems import shown as short
from rayeval.judge.config import Judge

PATHS = {"path", "model", "base", "folder", "prompt"}
"""Settings that may name a file or folder."""
SEVERAL = {"prompts", "calibration"}
"""Settings whose items all name files."""
REMOTE: dict[Any, frozenset[str]] = {
    "openai": frozenset({"model", "query_body", "passage_body"}),
    "http": frozenset({"body", "headers", "fields"}),
    "python": frozenset({"settings"}),
}
"""By kind, settings that go to a system as they are."""


@dataclass(frozen=True)
class Loaded:
    """A configuration and where it came from."""

    path: str
    config: RunConfig


def load_config(path: str, overrides: Sequence[str] = ()) -> Loaded:
    """The configuration in the YAML file `path`, with `key=value` overrides (dotted keys)."""
    return Loaded(path, validated(read_config(path, overrides), path))


def read_config(path: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """What the YAML file says, overridden and with its paths absolute, not yet checked."""
    if not files.exists(path) or files.is_folder(path):
        raise ConfigError(
            f"no configuration at {path}; `rayeval init DIR` writes one to start from"
        )
    values = parsed(files.read_bytes(path), path)
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected keys such as golden and corpus, found {values!r}")
    base = path.rpartition("/")[0] if files.is_uri(path) else str(Path(path).absolute().parent)
    return _overridden(values, overrides, path, base)


def judge_part(path: str) -> Any:
    """The `judge:` part of the YAML file `path`, with its paths absolute.

    Raises ConfigError with everything that is wrong with it.
    """
    values = read_config(path)
    if not isinstance(values.get("judge"), dict):
        raise ConfigError(
            f"{path}: expected a part judge: {{kind: openai, url: …, model: …}}, found "
            f"{', '.join(map(str, values)) or 'nothing'}"
        )
    try:
        TypeAdapter(Judge).validate_python(values["judge"])
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        placed = [{**one, "loc": ("judge", *one["loc"])} for one in wrong]
        lines = [f"{path}: {_plain(one, values)}" for one in placed]
        raise ConfigError("\n".join(lines)) from error
    return values["judge"]


def load_values(values: dict[str, Any], overrides: Sequence[str] = ()) -> Loaded:
    """The configuration in `values`, whose paths are relative to the working folder."""
    return Loaded("config", validated(_overridden(values, overrides, "config", "."), "config"))


def _overridden(
    values: dict[str, Any], overrides: Sequence[str], path: str, base: str
) -> dict[str, Any]:
    try:
        values = copy.deepcopy(values)
        for override in overrides:
            _set(values, override)
        if wrong := list(refused(values)):
            raise ConfigError("\n".join(f"{path}: {line}" for line in wrong))
        located: dict[str, Any] = _located(values, base)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply, or a value that holds itself") from error
    return located


def validated(values: Any, path: str) -> RunConfig:
    """The configuration, or a ConfigError that lists everything wrong with it."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        lines = [f"{path}: {_plain(e, values)}" for e in error.errors(include_url=False)]
        raise ConfigError("\n".join(lines)) from error


def _set(values: dict[str, Any], override: str) -> None:
    """`a.b=1` into nested mappings; the value is YAML."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"--set {override}: expected key=value, e.g. --set chunk.size=400")
    *parents, last = key.split(".")
    place = values
    for parent in parents:
        below = place.setdefault(parent, {})
        if not isinstance(below, dict):
            raise ConfigError(f"--set {override}: {parent} is {below!r}, not a group of settings")
        place = below
    place[last] = parsed(text, f"--set {override}")


def _located(value: Any, base: str) -> Any:
    """Paths made absolute; a model's name is a path when it looks like one or is there."""
    if isinstance(value, list):
        return [_located(item, base) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "python":
        value = {"folder": ".", **value}
    remote = REMOTE.get(value.get("kind"), frozenset())
    return {key: item if key in remote else _placed(key, item, base) for key, item in value.items()}


def _placed(key: Any, value: Any, base: str) -> Any:
    """One setting, made absolute if it is a path."""
    if key in SEVERAL and isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        placed = {name: _placed("path", item, base) for name, item in items}
        return placed if isinstance(value, dict) else list(placed.values())
    if key not in PATHS or not isinstance(value, str) or value.startswith("package:"):
        return _located(value, base)
    place = files.resolve(value, base)
    named = value != "" and (
        key in ("path", "folder", "prompt") or value.startswith(".") or files.exists(place)
    )
    return place if named else value


def _plain(error: Mapping[str, Any], values: Any) -> str:
    """One pydantic error in plain words, with the nearest known name for an unknown key."""
    place = _place(error["loc"], values)
    kind, found = error["type"], error["input"]
    if kind == "extra_forbidden":
        return f"{place}: unknown key{hint(error['loc'], place)}"
    if kind == "missing":
        return f"{place}: missing"
    if kind == "union_tag_invalid":
        expected = error["ctx"]["expected_tags"]
        return f"{place}: unknown kind {error['ctx']['tag']!r}; expected one of {expected}"
    if kind == "union_tag_not_found":
        return f"{place}: needs `kind` to say which it is"
    message = error["msg"].removeprefix("Value error, ")
    shown = "" if isinstance(found, dict) or kind == "value_error" else f", found {short(found)}"
    return f"{place}: {message}{shown}" if place else f"{message}{shown}"


def _place(loc: Sequence[str | int], values: Any) -> str:
    """Where the error is, in the user's own keys: pydantic also names the kind of a union."""
    path: list[str] = []
    for part in loc:
        if isinstance(values, dict) and part not in values and values.get("kind") == part:
            continue
        path.append(str(part))
        inside = isinstance(values, dict | list) and not isinstance(values, str)
        try:
            values = values[part] if inside else None
        except (KeyError, IndexError, TypeError):
            values = None
    return ".".join(path)
