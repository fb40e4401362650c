"""A fitted model as a table, so that it is stored and moved like every other output."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa

from rayeval.tables import TEXT

FILES = pa.schema([("name", TEXT), ("data", pa.large_binary())])
"""A row per file of the model's folder."""


def packed(folder: str) -> pa.Table:
    """Every file below `folder`, by name."""
    root = Path(folder)
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    names = [path.relative_to(root).as_posix() for path in paths]
    return pa.table([names, [path.read_bytes() for path in paths]], schema=FILES)


def unpacked(table: pa.Table) -> str:
    """A folder with those files: in the user's cache, made once per content."""
    total = hashlib.sha256()
    for name, data in zip(table["name"].to_pylist(), table["data"], strict=True):
        content = hashlib.sha256(data.as_buffer()).digest()
        total.update(hashlib.sha256(name.encode()).digest() + content)
    target = _cache() / total.hexdigest()[:32]
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(dir=target.parent))
        for name, data in zip(table["name"].to_pylist(), table["data"], strict=True):
            place = building / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data.as_buffer())
        try:
            building.rename(target)
        except OSError:  # another process was first
            shutil.rmtree(building)
    return str(target)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rayeval" / "models"
