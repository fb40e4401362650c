"""`rayeval judge calibrate`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import ConfigError

HUMAN = "People's labels: qrels, or .csv, .tsv, .jsonl with item_id, label, annotator?, cluster?."


def calibrate(
    human: Annotated[str, typer.Option("--human", metavar="FILE", help=HUMAN)],
    judge: Annotated[
        str, typer.Option("--judge", metavar="FILE", help="The judge's labels, in such a file.")
    ],
    scale: Annotated[
        str | None,
        typer.Option("--scale", metavar="0,1,2,3", help="The labels in order [those of people]."),
    ] = None,
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
        str | None, typer.Option("--task", help="Of the record: support, correctness, …")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Of the record: only items in this language.")
    ] = None,
    floor: Annotated[
        float, typer.Option("--floor", min=-1, max=1, help="Of the record: the κ to reach.")
    ] = 0.4,
    seed: Annotated[int, typer.Option("--seed", help="Of the intervals.")] = 42,
    json: options.Json = False,
) -> None:
    """Hold a judge's labels against people's: agreement, κ, α, with intervals.

    Example: `rayeval judge calibrate --human people.csv --judge judge.jsonl --scale 0,1,2,3`
    """
    from rayeval.calibration import Scale, calibrated
    from rayeval.calibration.record import Judge, record_of
    from rayeval.files import write_json
    from rayeval.interop.labels import canonical, read_labels
    from rayeval.report.calibration import calibration_text

    chosen = None if scale is None else Scale.of(_labels(scale))
    cut = None if positive is None else canonical(positive)
    labels = read_labels(human)
    known = chosen or Scale.used(labels)
    if cut is not None and cut not in known.labels:
        raise ConfigError(f"--positive {cut} is not on the scale {', '.join(known.labels)}")
    if record is not None and None in (model, prompt, task):
        raise ConfigError("--record needs --model, --prompt and --task: it is bound to them")
    found = calibrated(labels, read_labels(judge), scale=known, positive=cut, seed=seed)
    if record is not None:
        bound = Judge(model=model, revision=revision, prompt=prompt, task=task, language=language)
        written = record_of(found, bound, [human, judge], floor)
        write_json(record, written.model_dump(mode="json"))
        options.say(f"record written to {record}: {written.short_of() or 'gates may rest on it'}")
    options.print_json(found) if json else print(calibration_text(found))  # noqa: T201


def _labels(scale: str) -> list[str]:
    from rayeval.interop.labels import canonical

    labels = [canonical(part) for part in scale.split(",")]
    named = [label for label in labels if label is not None]
    if len(named) < len(labels) or len(set(named)) < len(named) or len(named) < 2:
        raise ConfigError(f"--scale {scale!r}: expected two labels or more, each once: 0,1,2,3")
    return named
