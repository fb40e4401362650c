"""What a run over the test split must say: how often that split has been looked at."""

from __future__ import annotations

from rayeval import files
from rayeval.comparison import differences
from rayeval.errors import DataError
from rayeval.execution.runs import Run
from rayeval.golden.ledger import Entry, entries, guarded, ledger_path, reveal


def revealed(base: Run, new: Run, purpose: str | None) -> str | None:
    """Enters a comparison on the test split in its ledger, before it is shown.

    Returns in words which one it is; None for other splits, and for a run against itself.
    Raises InfrastructureError if the ledger can't be written, DataError if it is damaged.
    """
    golden = new.manifest.get("golden", {}).get("path")
    tested = golden is not None and guarded(_splits(new))
    if not tested or base.run_id == new.run_id:
        return None
    if not files.exists(golden):
        return f"on the test split, and not in its ledger: there is no golden set at {golden}"
    found = {name: list(pair) for name, pair in differences.settings(base, new).items()}
    entry = Entry(base.run_id, new.run_id, found, purpose)
    reveal(golden, entry)
    number = [other.pair for other in entries(golden)].index(entry.pair) + 1
    return (
        f"this is comparison {number} on the test split that somebody sees: the more, the "
        f"less the split can still tell ({ledger_path(golden)})"
    )


def looks(run: Run) -> dict[str, str | int | None] | None:
    """The ledger of the run's golden set, if the run asked questions of its test split.

    Returns `ledger`, its path, and `comparisons`, how many are in it; None where it is damaged.
    """
    golden = run.manifest.get("golden", {}).get("path")
    if golden is None or not guarded(_splits(run)):
        return None
    path = ledger_path(golden)
    try:
        count = len(entries(golden)) if files.exists(path) else 0
    except DataError:
        return {"ledger": path, "comparisons": None}
    return {"ledger": path, "comparisons": count}


def _splits(run: Run) -> list[str]:
    return run.select("questions", ["split"])["split"].unique().to_list()
