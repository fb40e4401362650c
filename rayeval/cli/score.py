"""`rayeval score`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.cli.run import exit_code


class Convention(StrEnum):
    """Whose definitions the numbers follow."""

    rayeval = "rayeval"
    trec = "trec"


class Sort(StrEnum):
    """What orders hits besides their list."""

    score = "score"


class Refusals(StrEnum):
    """Which answers are refusals where the trace doesn't say."""

    whole = "whole"
    explained = "explained"


def score(
    golden: Annotated[str, typer.Option("--golden", metavar="G", help="The golden set.")],
    trace: Annotated[
        list[str], typer.Option("--trace", metavar="T", help="What your pipeline left; repeatable.")
    ],
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Who wrote it; listed below [rayeval's own]."),
    ] = None,
    convention: Annotated[
        Convention, typer.Option("--convention", help="Whose definitions of the metrics.")
    ] = Convention.rayeval,
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", metavar="C", help="The documents: places text in them."),
    ] = None,
    chunks: Annotated[
        list[str] | None,
        typer.Option("--chunks", metavar="FILE", help="Chunks that hits name by id; repeatable."),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", metavar="LIST", help="E.g. ndcg@10,recall@100 [all].")
    ] = None,
    relevant: Annotated[
        int | None, typer.Option("--relevant", metavar="N", help="Lowest grade that is gold [2].")
    ] = None,
    cutoffs: Annotated[
        str | None,
        typer.Option("--cutoffs", metavar="LIST", help="[1,5,10,20]; 1200tok: a budget."),
    ] = None,
    sort: Annotated[
        Sort | None, typer.Option("--sort", help="Order hits by score, not as they are listed.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="STAGE=ROLE",
            help="What a stage does [by its name]: arm, fused, reranked, context; repeatable.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="FILE", help="YAML whose `judge:` judges the answers."),
    ] = None,
    refusals: Annotated[
        Refusals,
        typer.Option(
            "--refusals",
            help="Unmarked answers that count as refusals: explained: with reasons too.",
        ),
    ] = Refusals.whole,
    keep_trace: Annotated[
        bool, typer.Option("--keep-trace", help="Keep every hit in the run, not only the first.")
    ] = False,
    name: Annotated[str, typer.Option("--name", help="Part of the run's id.")] = "score",
    ray: options.Ray = False,
    ray_address: options.RayAddress = None,
    workers: options.Workers = None,
    store: options.Store = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> int:
    """Score what another pipeline left behind; leave an immutable run, as `run` does.

    Example: `rayeval score --golden golden.jsonl --trace trace.jsonl --metrics recall@5,mrr@10`
    """
    from rayeval.execution.progress import Bars
    from rayeval.execution.score import ScoreOptions
    from rayeval.execution.score import score as scored
    from rayeval.report.terminal import run_text

    how = ScoreOptions(
        convention=convention.value,
        format=format_,
        corpus=corpus,
        chunks=chunks or (),
        metrics=_listed(metrics),
        relevant=relevant,
        cutoffs=_listed(cutoffs),
        any_order=sort is not None,
        roles=_roles(role or ()),
        refusals=refusals.value,
        keep_trace=keep_trace,
        judge=judge,
        runs=runs,
        store=store,
        name=name,
        ray=ray,
        ray_address=ray_address,
        workers=workers,
    )
    with Bars() as bars:
        result = scored(golden, trace, how, bars)
    if json:
        options.print_json(result.summary())
    else:
        print(run_text(result, told=options.one_screen()))  # noqa: T201
    return exit_code(result.summary()["status"])


def _roles(texts: Sequence[str]) -> dict[str, str]:
    """`elastic=arm` → what the stage does."""
    from rayeval.execution.score.config import ROLES

    pairs = [text.rpartition("=") for text in texts]
    for text, (stage, _, role) in zip(texts, pairs, strict=True):
        if not stage or role not in ROLES:
            raise typer.BadParameter(
                f"--role {text}: expected STAGE=ROLE with a role of {', '.join(ROLES)}, "
                "e.g. --role elastic=arm"
            )
    return {stage: role for stage, _, role in pairs}


def _listed(text: str | None) -> list[str] | None:
    """The names between commas."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
