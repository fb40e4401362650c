"""`rayeval golden split`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def split(
    golden: Annotated[str, typer.Argument(metavar="GOLDEN", help="A golden set.")],
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="The golden set with its splits.")
    ],
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="What stays together: source, time, tenant, template, entity, a field, or a name "
            "that slices begin with.",
        ),
    ] = "source",
    ratios: Annotated[
        str, typer.Option("--ratios", metavar="SPLIT=SHARE,…", help="Any positive shares.")
    ] = "train=60,dev=20,test=20",
    seed: Annotated[int, typer.Option("--seed", help="Another seed, other groups.")] = 42,
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", metavar="C", help="Documents, where evidence names no source."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Deal questions out to splits by what they share, and report what leaks all the same.

    Where a group goes depends on its name and the seed: new questions move no old ones. By time,
    the oldest questions go to the first split.

    Example: `rayeval golden split golden.jsonl --by source --out split.jsonl`
    """
    from rayeval.execution.golden.split import split_golden
    from rayeval.report.golden import split_text

    found = split_golden(golden, out, by=by, ratios=ratios, seed=seed, corpus=corpus)
    options.print_json(found) if json else print(split_text(found))  # noqa: T201
