"""`rayeval compare`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rayeval.cli import options

Baseline = Annotated[
    str, typer.Option("--baseline", metavar="RUN|NAME", help="A run, or what one was promoted to.")
]
Shared = Annotated[
    Literal["all", "shared"],
    typer.Option("--on", help="`shared`: on the questions that both runs, and both traces, have."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help="What may differ all the same: golden, metrics, tokenizer, analyzer, hardware, judge.",
    ),
]
Calibration = Annotated[
    list[str] | None,
    typer.Option("--calibration", metavar="FILE", help="What `judge calibrate` wrote."),
]

Purpose = Annotated[
    str | None, typer.Option("--purpose", help="Why you look, for the ledger of the test split.")
]


def allowed(kinds: list[str] | None) -> tuple[str, ...]:
    """The kinds, each once. Raises BadParameter for one that there is not."""
    from rayeval.comparison.differences import KINDS

    if unknown := [kind for kind in kinds or () if kind not in KINDS]:
        raise typer.BadParameter(f"--allow {unknown[0]}: expected one of {', '.join(KINDS)}")
    return tuple(sorted(set(kinds or ())))


def compare(
    run: options.RunName,
    baseline: Baseline,
    on: Shared = "all",
    allow: Allow = None,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="LIST", help="Metrics with intervals by slice."),
    ] = None,
    purpose: Purpose = None,
    calibration: Calibration = None,
    poisson: Annotated[
        bool, typer.Option("--poisson", help="Shard by shard, as runs too large to be held are.")
    ] = False,
    ray: options.Ray = False,
    ray_address: options.RayAddress = None,
    workers: options.Workers = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Say what a run changed against a baseline: which questions, at which stage, how surely.

    Example: `rayeval compare 20260802 --baseline main`
    """
    from rayeval.execution.decide.baselines import baseline as named
    from rayeval.execution.decide.comparison import Options, compare_runs, write_comparison
    from rayeval.execution.job import Options as Where
    from rayeval.execution.runs import load

    chosen = Options(
        shared=on == "shared",
        allow=allowed(allow),
        metrics=[part.strip() for part in metrics.split(",")] if metrics else None,
        purpose=purpose,
        calibration=calibration or (),
        poisson=poisson,
        where=Where(runs, ray=ray, ray_address=ray_address, workers=workers),
    )
    found = compare_runs(named(baseline, runs), load(run, runs), chosen)
    written = write_comparison(found, runs)
    options.print_json(written.summary()) if json else print(written)  # noqa: T201
