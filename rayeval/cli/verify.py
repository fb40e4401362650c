"""`rayeval verify`."""

from __future__ import annotations

from rayeval.cli import options
from rayeval.errors import EXIT_INVALID, EXIT_PASS
from rayeval.words import plural, verb


def verify(run: options.RunName, runs: options.Runs = "runs", json: options.Json = False) -> int:
    """Check every file of a run against the hashes in its manifest.

    Example: `rayeval verify runs/20260801-093000-quickstart-1f3a`
    """
    from rayeval.execution.runs import load

    result = load(run, runs)
    damage = result.damage()
    count = len(result.manifest["files"])
    if json:
        options.print_json({"run_id": result.run_id, "files": count, "damage": damage})
    elif damage:
        differ = verb(len(damage), "differs", "differ")
        print(f"{result.path}: {len(damage)} of {plural(count, 'file')} {differ}")  # noqa: T201
        print("\n".join(f"  {line}" for line in damage))  # noqa: T201
    else:
        print(f"{result.path}: all {plural(count, 'file')} as the run wrote them")  # noqa: T201
    return EXIT_INVALID if damage else EXIT_PASS
