"""A project to start from: the files in `rayeval/samples/starter`, copied."""

from __future__ import annotations

from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path

from rayeval.errors import ConfigError


def write_project(folder: str) -> list[str]:
    """Copies the starter project; returns what was written. Never overwrites anything."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{folder} is there and not empty; name a new folder")
    source = resources("rayeval") / "samples" / "starter"
    written = []
    for name, file in sorted(_below(source, "")):
        # Packages can't hold hidden folders everywhere: `dot-github` stands for `.github`.
        place = target / name.replace("dot-", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes())
        written.append(str(place.relative_to(target)))
    return written


def _below(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        found += _below(entry, f"{name}/") if entry.is_dir() else [(name, entry)]
    return found
