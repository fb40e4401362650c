"""The formats that can be imported, by name."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from rayeval.interop.imported import Importer

MODULES = (
    "beir", "ragas", "csv", "openinference", "chroma", "autorag", "ragchecker", "deepeval",
    "legalbench", "squad", "hotpotqa", "musique", "mtrag", "langfuse", "clapnq", "nomiracl",
)  # fmt: skip
"""In the order in which they are listed; a module is called as its format."""


def formats() -> dict[str, Importer]:
    """Every importer by the name of its format."""
    found = [cast(Importer, import_module(f"rayeval.interop.{name}")) for name in MODULES]
    return {importer.NAME: importer for importer in found}
