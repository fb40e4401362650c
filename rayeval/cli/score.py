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
    golden: Annotated[
        str,
        typer.Option(
            "--golden",
            metavar="G",
            help="Questions with their gold: .jsonl, .csv, .parquet, or a file of --format's tool.",
        ),
    ],
    trace: Annotated[
        list[str],
        typer.Option(
            "--trace",
            metavar="T",
            help="What your pipeline found, and maybe answered; repeatable: one trace in parts.",
        ),
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="F",
            show_default="rayeval's own",
            help="The tool that wrote the trace, one of those listed below.",
        ),
    ] = None,
    convention: Annotated[
        Convention,
        typer.Option(
            "--convention",
            help="Whose definitions the metrics follow; trec: trec_eval's, of a TREC run by qrels.",
        ),
    ] = Convention.rayeval,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="C",
            help="The documents, a folder or a file: quotes and passages are looked up in them.",
        ),
    ] = None,
    chunks: Annotated[
        list[str] | None,
        typer.Option(
            "--chunks",
            metavar="FILE",
            help="Where and what the chunks are that hits name by chunk_id; repeatable.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="LIST",
            show_default="all, at every cutoff",
            help="Only these, e.g. ndcg@10,recall@100: docs/metrics.md.",
        ),
    ] = None,
    relevant: Annotated[
        int | None,
        typer.Option(
            "--relevant",
            metavar="N",
            show_default="2; 1 of qrels",
            help="Evidence of this relevance (1 to 3) or more is gold.",
        ),
    ] = None,
    cutoffs: Annotated[
        str | None,
        typer.Option(
            "--cutoffs",
            metavar="LIST",
            show_default="1,5,10,20",
            help="The k of the metrics, without --metrics; 1200tok: hits of 1200 tokens together.",
        ),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option(
            "--sort",
            show_default="as they are listed",
            help="Order hits by their scores; without it, scores that contradict the list are an "
            "error.",
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="STAGE=ROLE",
            show_default="by its name",
            help="What a stage of the trace does: arm, fused, reranked or context; repeatable.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="FILE",
            show_default="nobody judges",
            help="A YAML file whose part `judge:` says which model judges the answers.",
        ),
    ] = None,
    refusals: Annotated[
        Refusals,
        typer.Option(
            "--refusals",
            help="Answers that are refusals where the trace doesn't say (`abstained`): those that "
            "say nothing else (whole), or also say what is missing (explained).",
        ),
    ] = Refusals.whole,
    keep_trace: Annotated[
        bool,
        typer.Option(
            "--keep-trace", help="Keep every hit in the run, not only those up to the last cutoff."
        ),
    ] = False,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Part of the run's id, after its time.")
    ] = "score",
    ray: options.Ray = False,
    ray_address: options.RayAddress = None,
    workers: options.Workers = None,
    store: options.Store = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> int:
    """Score what another pipeline left behind, by a golden set; leave a run, as `run` does.

    `show`, `compare`, `gate` and `report` then say more of the run.

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
