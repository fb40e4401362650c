"""What a run over the test split must say: how often that split has been looked at."""

from __future__ import annotations

from rayeval import files
from rayeval.errors import DataError
from rayeval.execution.runs import Run
from rayeval.golden.ledger import entries, guarded, ledger_path


def looks(run: Run) -> dict[str, str | int | None] | None:
    """The ledger of the run's golden set, if the run asked questions of its test split.

    Returns `ledger`, its path, and `comparisons`, how many are in it; None where it is damaged.
    """
    golden = run.manifest.get("golden", {}).get("path")
    if golden is None or not guarded(run.questions["split"].unique().to_list()):
        return None
    path = ledger_path(golden)
    try:
        count = len(entries(golden)) if files.exists(path) else 0
    except DataError:
        return {"ledger": path, "comparisons": None}
    return {"ledger": path, "comparisons": count}
