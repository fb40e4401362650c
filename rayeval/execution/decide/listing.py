"""The runs of a folder, at a glance."""

from __future__ import annotations

from typing import Any

from rayeval import files
from rayeval.errors import RunError
from rayeval.execution.decide.baselines import current, promotions
from rayeval.execution.runs import MANIFEST, Run


def listed(runs: str) -> list[dict[str, Any]]:
    """Every finished run, the newest first; a damaged one says so.

    Raises RunError if there is no such folder.
    """
    if not files.is_folder(runs):
        raise RunError(f"no folder {runs}; `rayeval run` makes it, --runs names another")
    names: dict[str, list[str]] = {}
    for name, run_id in current(promotions(runs)).items():
        names.setdefault(run_id, []).append(name)
    found = [
        path.rpartition("/")[0]
        for path in files.list_files(runs)
        if path.endswith(f"/{MANIFEST}") and path.count("/") == 1 and not path.startswith(".")
    ]
    rows = [_row(f"{runs.rstrip('/')}/{name}") for name in found]
    rows = [{**row, "names": sorted(names.get(row["run_id"], []))} for row in rows]
    return sorted(rows, key=lambda row: (row["started"] or "", row["run_id"]), reverse=True)


def _row(path: str) -> dict[str, Any]:
    try:
        run = Run(path)
    except RunError as error:
        name = path.rpartition("/")[2]
        return {"run_id": name, "name": None, "started": None, "questions": None,
                "problem": str(error), "unfinished": []}  # fmt: skip
    stated = run.manifest["files"].get("questions.parquet", {})
    return {
        "run_id": run.run_id,
        "name": run.manifest["name"],
        "started": run.manifest.get("started"),
        "questions": stated.get("rows"),
        "problem": None,
        "unfinished": run.manifest.get("unfinished", []),
    }
