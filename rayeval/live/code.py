"""The user's Python code: found, told apart by its source, imported, built."""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rayeval.errors import ConfigError, text_of

BUILDING = (TypeError, ValueError, LookupError, AttributeError, RuntimeError, OSError, ImportError)
"""What a factory may raise because of its settings or surroundings."""

_loaded: dict[str, str] = {}
"""Module → the digest of the source that this process has imported."""


def digest(factory: str, folder: str | None) -> str:
    """A hash of the source of the factory's module, which is not imported for it.

    Raises ConfigError if there is no such module.
    """
    path = _path(factory.partition(":")[0], folder)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def build(factory: str, settings: Mapping[str, Any], folder: str | None) -> Callable[..., Any]:
    """What `factory(**settings)` gives, from the source as it is now.

    Raises ConfigError if there is no such factory, if it can't be built, or can't be called.
    """
    module, _, name = factory.partition(":")
    with _found_in(folder):
        try:
            made = _attribute(_imported(module, folder), name, factory)(**settings)
        except BUILDING as error:
            raise ConfigError(
                f"{factory} can't be built with the settings {sorted(settings)}: {text_of(error)}"
            ) from error
    if not callable(made):
        raise ConfigError(f"{factory} gives {type(made).__name__}, which can't be called")
    return made  # type: ignore[no-any-return]


def _attribute(module: Any, name: str, factory: str) -> Any:
    value = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        raise ConfigError(f"factory: {factory!r} names no function or class")
    return value


def _imported(module: str, folder: str | None) -> Any:
    """The module, imported again where its source is no longer what this process has."""
    path = _path(module, folder)
    now = f"{path}:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    if module in sys.modules and _loaded.get(module) != now and _is_users(module, path):
        del sys.modules[module]
    importlib.invalidate_caches()
    found = importlib.import_module(module)
    _loaded[module] = now
    return found


def _is_users(module: str, path: Path) -> bool:
    """Whether this process got the module from a file that was another, or elsewhere."""
    file = getattr(sys.modules[module], "__file__", None)
    return module in _loaded or file is None or Path(file) != path


def _path(module: str, folder: str | None) -> Path:
    """The module's file, found without importing anything."""
    places = [*([folder] if folder else []), str(Path.cwd()), *sys.path]
    importlib.invalidate_caches()
    spec = None
    for depth, part in enumerate(module.split(".")):
        name = ".".join(module.split(".")[: depth + 1])
        spec = importlib.machinery.PathFinder.find_spec(name, places)
        places = list(spec.submodule_search_locations or []) if spec else []
        if spec is None:
            raise ConfigError(
                f"factory: there is no module {name!r}"
                + (f" in {folder}" if folder else "")
                + f", nor one installed that is called {part!r}"
            )
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise ConfigError(f"factory: the module {module!r} is no file of Python source")
    return Path(spec.origin)


@contextmanager
def _found_in(folder: str | None) -> Iterator[None]:
    """Modules of `folder` and of the working folder can be imported, now and later.

    No bytecode is kept meanwhile: a source that changes within a second would not be seen.
    """
    places = [*([folder] if folder else []), str(Path.cwd())]
    sys.path[:] = [*places, *(place for place in sys.path if place not in places)]
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
