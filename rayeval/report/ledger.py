"""The ledger of the test split in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from rayeval.report.terminal import rendered
from rayeval.words import plural


def ledger_text(path: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Every comparison that was seen, the oldest first."""
    if not entries:
        return rendered([Text(f"No comparison on the test split has been shown ({path}).")])
    lines = [
        Text(f"{plural(len(entries), 'comparison')} on the test split shown ({path})", style="bold")
    ]
    for number, entry in enumerate(entries, start=1):
        lines.append(Text(f"{number:>3}  {entry['at']}  {entry['who']}"))
        lines.append(Text(f"     {entry['baseline']} → {entry['run']}"))
        lines += [
            Text(f"     {key}: {_change(value)}") for key, value in entry["config_diff"].items()
        ]
        if entry["purpose"]:
            lines.append(Text(f"     why: {entry['purpose']}"))
    return rendered(lines)


def looks_text(seen: Mapping[str, Any]) -> str:
    """How often people have compared runs on the test split."""
    if seen["comparisons"] is None:
        said = "its ledger is damaged"
    else:
        said = f"{plural(seen['comparisons'], 'comparison')} on it in the ledger"
    return rendered([Text(f"This run asked the test split: {said} ({seen['ledger']}).")])


def _change(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{value[0]} → {value[1]}"
    return str(value)
