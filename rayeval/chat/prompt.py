"""Prompts are files with a name and a version; their hash is part of all that they lead to."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

import jinja2
import yaml
from jinja2 import meta
from jinja2.sandbox import SandboxedEnvironment

from rayeval import files
from rayeval.errors import ConfigError

_FRONT = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
SCALAR = str | int | float | date
"""What a name or version may be: YAML reads 2026-08-01 as a date."""
_ROLE = re.compile(r"^# (system|user)[ \t]*\n", re.MULTILINE)
RENDERING = (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError,
             AttributeError, RecursionError, MemoryError)  # fmt: skip
"""What a template that asks for the impossible raises: it can call methods of texts and lists."""
_JINJA = SandboxedEnvironment(
    undefined=jinja2.StrictUndefined, keep_trailing_newline=False, trim_blocks=True,
    lstrip_blocks=True, autoescape=False,
)  # fmt: skip
"""What is written goes to a model, not into a page; values are never read as templates."""


@lru_cache(maxsize=64)
def _compiled(text: str) -> jinja2.Template:
    """Compiling takes thirty times as long as filling in."""
    return _JINJA.from_string(text)


@dataclass(frozen=True)
class Prompt:
    """A template of a conversation."""

    name: str
    version: str
    hash: str
    """Of the whole file: 32 hex digits of its sha256."""
    parts: tuple[tuple[str, str], ...]
    """(role, template)"""

    def messages(self, **values: Any) -> tuple[tuple[str, str], ...]:
        """The conversation with every value filled in; values are never templates.

        Raises ConfigError where the template asks of a value what that has not, and where nothing
        would be asked.
        """
        said = self.filled(**values)
        if not said[-1][1]:
            raise ConfigError(f"the prompt {self.name!r} comes to nothing: its last part is empty")
        return said

    def filled(self, **values: Any) -> tuple[tuple[str, str], ...]:
        """The same, also where it comes to nothing: without values, the template's own words.

        Raises ConfigError where the template asks of a value what that has not.
        """
        try:
            return tuple(
                (role, _compiled(text).render(**values).strip()) for role, text in self.parts
            )
        except RENDERING as error:
            reason = str(error) or type(error).__name__
            raise ConfigError(f"the prompt {self.name!r} can't be filled in: {reason}") from error

    def identity(self) -> dict[str, str]:
        """For a step's key and a run's manifest."""
        return {"name": self.name, "version": self.version, "hash": self.hash}


def load(path: str, known: frozenset[str], needed: str | None = None) -> Prompt:
    """The prompt in a file: front matter (`name`, `version`), then `# system` and `# user` parts.

    known: the names that its places may have. needed: one of them, without which all requests
    would be the same. Raises ConfigError for anything else.
    """
    if not files.exists(path) or files.is_folder(path):
        raise ConfigError(f"prompt: there is no file at {path}")
    data = files.read_bytes(path)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the prompt is not UTF-8: {error}") from error
    front, body = _split(path, text)
    return Prompt(
        str(front["name"]),
        str(front["version"]),
        hashlib.sha256(data).hexdigest()[:32],
        _parts(path, body, known, needed),
    )


def _split(path: str, text: str) -> tuple[dict[str, Any], str]:
    match = _FRONT.fullmatch(text)
    try:
        front = yaml.safe_load(match[1]) if match else None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: the prompt's front matter is no YAML: {error}") from error
    if match is None or not isinstance(front, dict) or not _names(front):
        raise ConfigError(
            f"{path}: a prompt begins with '---', name: …, version: …, '---', and goes on with "
            "the parts '# system' and '# user'"
        )
    return front, match[2]


def _names(front: dict[Any, Any]) -> bool:
    """Whether front matter names a prompt, and does nothing else."""
    scalars = all(isinstance(value, SCALAR) for value in front.values())
    return front.keys() == {"name", "version"} and scalars


def _parts(
    path: str, body: str, known: frozenset[str], needed: str | None
) -> tuple[tuple[str, str], ...]:
    pieces = _ROLE.split(body)
    parts = tuple(
        (role, text.strip()) for role, text in zip(pieces[1::2], pieces[2::2], strict=True)
    )
    if not parts or parts[-1][0] != "user" or pieces[0].strip():
        raise ConfigError(f"{path}: expected the parts '# system' and '# user', the latter last")
    try:
        trees = [_JINJA.parse(text) for _, text in parts]
        for _, text in parts:
            _compiled(text)
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"{path}: the prompt is no template: {error}") from error
    if any(list(meta.find_referenced_templates(tree)) for tree in trees):
        raise ConfigError(f"{path}: a prompt is one file; it can't include or import another")
    names = {name for tree in trees for name in meta.find_undeclared_variables(tree)}
    if strange := sorted(names - known):
        raise ConfigError(
            f"{path}: nothing is known as {strange[0]!r} here; known: {', '.join(sorted(known))}"
        )
    if needed is not None and needed not in names:
        raise ConfigError(f"{path}: {{{{ {needed} }}}} is nowhere in it: every request is the same")
    return parts
