"""`rayeval judge calibrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options

HUMAN = "People's labels: qrels, or .csv, .tsv, .jsonl with item_id, label, annotator?, cluster?."


def calibrate(
    human: Annotated[list[str], typer.Option("--human", metavar="FILE", help=HUMAN)],
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="FILE", help="The judge's labels, in such a file."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Instead: the judge of a run, or of several."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale", metavar="0,1,2,3", help="The labels, worst first [those people gave]."
        ),
    ] = None,
    nominal: Annotated[
        bool, typer.Option("--nominal", help="Labels have no order, numbers and --scale neither.")
    ] = False,
    positive: Annotated[
        str | None,
        typer.Option("--positive", metavar="LABEL", help="From which label on it counts as found."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="FILE", help="Write what unlocks gates for this judge."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Of the record: the model.")] = None,
    revision: Annotated[
        str | None, typer.Option("--revision", help="Of the record: the model's revision.")
    ] = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="Of the record: the hash of the task's prompt.")
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="Of the run or record: support, correctness, …")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Of the record: this language alone [each].")
    ] = None,
    floor: Annotated[
        float, typer.Option("--floor", min=-1, max=1, help="Of the record: κ to reach for sure.")
    ] = 0.4,
    probes: Annotated[
        int | None,
        typer.Option(
            "--probes", metavar="N", min=1, help="Ask the run's judge again of N answers."
        ),
    ] = None,
    itself: Annotated[
        str | None,
        typer.Option("--itself", metavar="AUTHOR", help="Who of `author` is the judge's model."),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon", min=0, max=1, help="Of the alternative annotator test; 0.2 beside experts."
        ),
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Of the intervals.")] = 42,
    runs: options.Runs = "runs",
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Hold a judge's labels against people's: agreement, κ, α, with intervals.

    Example: `rayeval judge calibrate --human people.csv --judge judge.jsonl --scale 0,1,2,3`

    Of a run, the labels that `judge sample` drew also correct the judge's figure (PPI++):
    `rayeval judge calibrate --human sheet.csv --run RUN --task support --record support.json`

    Of several runs of one judge, with a sheet each, whether it prefers its own model's answers:
    `… --human a.csv --run A --human b.csv --run B --task correctness --itself MODEL`
    """
    from rayeval.execution.judging import Asked, calibration
    from rayeval.report.calibration import calibration_text

    asked = Asked(
        human, judge, run or [], runs, scale, positive, task, language, floor, seed, probes, store,
        itself, nominal, epsilon,
    )  # fmt: skip
    found, bound = calibration(asked, model=model, revision=revision, prompt=prompt, record=record)
    for one in bound:
        where = f"{one.judge.task} in {one.judge.language or 'no stated language'}"
        options.say(f"{record}, {where}: {one.short_of() or 'gates may rest on it'}")
    options.print_json(found) if json else print(calibration_text(found))  # noqa: T201
