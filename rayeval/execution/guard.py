"""What a run over the test split must say: how often that split has been looked at."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from rayeval import files
from rayeval.comparison import differences
from rayeval.errors import DataError
from rayeval.execution.runs import Run
from rayeval.golden.ledger import GUARDED, Entry, entries, ledger_path, marks, reveal


def revealed(
    base: Run, new: Run, purpose: str | None, slices: Iterable[str | None] = (None,)
) -> str | None:
    """Enters a comparison on the test split in its ledger, before it is shown.

    slices: of which differences are shown; None: of all questions.
    Returns in words which one it is; None for other splits, and for a run against itself.
    Raises InfrastructureError if the ledger can't be written, DataError if it is damaged.
    """
    golden = new.manifest.get("golden", {}).get("path")
    tested = golden is not None and any(_asks(new, slice_) for slice_ in slices)
    if not tested or base.run_id == new.run_id:
        return None
    folder = golden.rpartition("/")[0] or "."
    if not files.is_folder(folder):
        return f"on the test split, and not in its ledger: there is no golden set at {golden}"
    found = {name: list(pair) for name, pair in differences.settings(base, new).items()}
    asked = _marks(new)
    entry = Entry(base.run_id, new.run_id, found, purpose, asked=asked)
    reveal(golden, entry)
    number = [other.pair for other in entries(golden, asked)].index(entry.pair) + 1
    return (
        f"this is comparison {number} on the test split that somebody sees: the more, the "
        f"less the split can still tell ({ledger_path(golden)})"
    )


def looks(run: Run) -> dict[str, str | int | None] | None:
    """The ledger of the run's golden set, if the run asked questions of its test split.

    Returns `ledger`, its path, and `comparisons`, how many are in it; None where it is damaged.
    """
    golden = run.manifest.get("golden", {}).get("path")
    if golden is None or not _asks(run, None):
        return None
    path = ledger_path(golden)
    try:
        count = len(entries(golden, _marks(run)))
    except DataError:
        return {"ledger": path, "comparisons": None}
    return {"ledger": path, "comparisons": count}


def _asks(run: Run, slice_: str | None) -> bool:
    """Whether the run asked questions of the test split that are in the slice."""
    rows = run.select("questions", ["split", "slices"])
    if slice_ is not None:
        rows = rows.filter(pl.col("slices").list.contains(slice_))
    return GUARDED in rows["split"]


def _marks(run: Run) -> list[str]:
    return marks(run.select("questions", ["question", "split"]))
