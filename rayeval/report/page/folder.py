"""The page of a folder of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.report.page.shell import page
from rayeval.words import plural


def folder_page(name: str, runs: Sequence[Mapping[str, Any]], comparisons: Sequence[str]) -> bytes:
    """The list of runs, the newest first, and how their metrics went.

    runs: `run_id, name, started, questions, names (baselines), problem, metrics` of each.
    """
    data = {"kind": "folder", "runs": list(runs), "comparisons": list(comparisons)}
    return page(f"rayeval · {name}", plural(len(runs), "run"), data)


def message_page(title: str, text: str) -> bytes:
    """Something to say instead of a page."""
    return page("rayeval", title, {"kind": "message", "text": text})
