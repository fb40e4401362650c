"""`rayeval runs`: what there is, which run is the baseline, what differs between two."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options

runs = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@runs.command("list")
def list_runs(folder: options.Runs = "runs", json: options.Json = False) -> None:
    """List the finished runs, the newest first, and the names they have.

    Example: `rayeval runs list`
    """
    from rayeval.execution.decide.listing import listed
    from rayeval.report.listing import listing_text

    rows = listed(folder)
    options.print_json({"runs": rows}) if json else print(listing_text(rows))  # noqa: T201


@runs.command("promote")
def promote_run(
    run: options.RunName,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="Such as main.")],
    folder: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Make a run the baseline that has this name; the log keeps what had it before.

    Example: `rayeval runs promote 20260802 --as main`
    """
    from dataclasses import asdict

    from rayeval.execution.decide.baselines import promote
    from rayeval.execution.runs import load

    made = promote(load(run, folder), name, folder)
    if json:
        options.print_json(asdict(made))
        return
    back = f" (`rayeval runs promote {made.was} --as {name}` goes back)" if made.was else ""
    print(f"{name} is now {made.run_id}{back}")  # noqa: T201


@runs.command("diff")
def diff_runs(
    run: options.RunName,
    other: Annotated[str, typer.Argument(metavar="RUN", help="The run before.")],
    folder: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Say what differs between the manifests of two runs.

    Example: `rayeval runs diff 20260802 20260801`
    """
    from rayeval.comparison import differences
    from rayeval.execution.decide.baselines import baseline
    from rayeval.execution.runs import load

    base, new = baseline(other, folder), load(run, folder)
    found = {
        "changed": differences.changed(base, new),
        "elsewhere": differences.elsewhere(base, new),
        "obstacles": list(differences.obstacles(base, new).values()),
    }
    if json:
        options.print_json({"run": new.run_id, "baseline": base.run_id, **found})
        return
    lines = [*found["changed"], *found["elsewhere"], *found["obstacles"]]
    print("\n".join(lines or ["nothing differs but the time"]))  # noqa: T201
