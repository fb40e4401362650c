"""`rayeval gate`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.cli.compare import Allow, Calibration, Purpose, Shared, allowed


def gate(
    run: options.RunName,
    gates: Annotated[str, typer.Option("--gates", metavar="FILE", help="A YAML file of gates.")],
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="RUN|NAME", help="For max_drop, min_gain, …"),
    ] = None,
    on: Shared = "all",
    allow: Allow = None,
    calibration: Calibration = None,
    purpose: Purpose = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> int:
    """Decide whether a run may ship: 0 pass, 1 a gate failed, 3 inconclusive.

    Writes gates.json, junit.xml and summary.md below RUNS/gates, and GitHub's step summary where
    there is one.

    Example: `rayeval gate 20260802 --gates gates.yaml --baseline main`
    """
    from rayeval.execution.decide.baselines import baseline as named
    from rayeval.execution.decide.gating import judge, read_gates, write_gates
    from rayeval.execution.runs import load
    from rayeval.report.gates import step_summary

    wanted = read_gates(gates)
    base = None if baseline is None else named(baseline, runs)
    judged = judge(
        wanted, load(run, runs), base, shared=on == "shared", allow=allowed(allow),
        calibration=calibration or (), purpose=purpose,
    )  # fmt: skip
    folder = write_gates(judged, runs)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as stream:  # noqa: PTH123 - appended to
            stream.write(step_summary(judged))
    if json:
        options.print_json({**judged.document(), "path": folder})
    else:
        print(f"{judged}\n\nfiles: {folder}")  # noqa: T201
    return judged.exit_code
