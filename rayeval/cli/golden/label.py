"""`rayeval golden label`."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rayeval.cli import options
from rayeval.errors import InputError, RunError
from rayeval.report.plain import printable
from rayeval.words import plural, verb

if TYPE_CHECKING:
    from rayeval.execution.grow.session import Session
    from rayeval.execution.runs import Run


def label(
    run: Annotated[
        str, typer.Argument(metavar="RUN|COMPARISON", help="A run, or a comparison of two.")
    ],
    golden: Annotated[
        str | None, typer.Option("--golden", metavar="G", help="The golden set [the run's own].")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="G2", help="Write it there [in its own place].")
    ] = None,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="S", help="Whose hits [the last stage's].")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Only hits of rank 1 to K.")] = 10,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RUN", help="First the hits that only one of them has."),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option("--batch", metavar="FILE", help="Take grades from this CSV or JSON Lines."),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option("--sheet", metavar="OUT.csv", help="Write the hits to a sheet for --batch."),
    ] = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Grade hits that nobody has judged yet; one key each, written at once.

    A hit of grade 2 or 3 also needs the fact that it supports: a new one, or one that is known
    already. Nothing is lost when you quit: the next time goes on with the hits that are left.
    Grading is blind: neither run nor rank is shown. Figures follow each grade at once.
    docs/labelling.md says how to grade.

    Example: `rayeval golden label 20260801 --against 20260731 --k 5`
    """
    from rayeval.cli.golden.desk import Desk
    from rayeval.cli.keys import keys
    from rayeval.execution.grow.session import Session
    from rayeval.report.labelling import left_out_text, summary_text

    graded, other = _sides(run, against, runs)
    if batch is not None and other is None:
        other = _second(batch, graded, runs)
    session = Session(graded, golden, out, stage, k, other)
    if batch is not None:
        _take(session, batch)
    elif sheet is not None:
        _give(session, sheet)
    elif sys.stdin.isatty():
        with suppress(KeyboardInterrupt), keys() as typed:
            Desk(session, typed).work()
    else:
        raise InputError(
            "there is no terminal to grade at: write the hits with --sheet OUT.csv, fill it in, "
            "and take the grades in with --batch OUT.csv"
        )
    left = sum(map(session.open, session.items().iter_rows(named=True)))
    if session.left_out:
        options.say(left_out_text(session.left_out))
    if json:
        options.print_json(_document(session, left))
    else:
        print(summary_text(session.changes, session.path, session.version, left))  # noqa: T201


def _sides(run: str, against: str | None, runs: str) -> tuple[Run, Run | None]:
    """The run that is graded, and the one that it is read against."""
    from rayeval.execution.decide.comparison import load_comparison
    from rayeval.execution.decide.reports import is_comparison
    from rayeval.execution.runs import load

    if against is None and is_comparison(run, runs):
        other, graded = load_comparison(run, runs).sides
        return graded, other
    return load(run, runs), None if against is None else load(against, runs)


def _second(batch: str, graded: Run, runs: str) -> Run | None:
    """The other run of a sheet that was written with --against; the sheet says which."""
    from rayeval.execution.grow.sheet import runs_of
    from rayeval.execution.runs import load

    known = runs_of(batch)
    others = [name for name in known if name != graded.run_id]
    if len(others) != 1 or len(known) != 2:
        return None
    beside = graded.path.rpartition("/")[0] or "."
    for folder in (beside, runs):
        with suppress(RunError):
            return load(others[0], folder)
    raise InputError(
        f"{batch} has hits of the run {others[0]} too, which lies neither in {beside} nor in "
        f"{runs}: say where with --against"
    )


def _take(session: Session, batch: str) -> None:
    """Grades from a file."""
    from rayeval.execution.grow.batch import apply_batch

    there = apply_batch(session, batch)
    if there:
        options.say(
            f"{plural(there, 'grade')} of {batch} {verb(there, 'was', 'were')} there already"
        )


def _give(session: Session, sheet: str) -> None:
    """The hits, into a sheet to fill in."""
    from rayeval.execution.grow.sheet import write_sheet

    items = session.items()
    write_sheet(session, items, sheet)
    options.say(
        printable(f"Wrote {plural(items.height, 'hit')} to {sheet}; fill in `grade` and `group`.")
    )


def _document(session: Session, left: int) -> dict[str, Any]:
    """What --json prints."""
    changes = session.changes
    first: dict[str, Mapping[str, float]] = {}
    last: dict[str, Mapping[str, float]] = {}
    for change in changes:
        first.setdefault(change.question_id, change.before.question)
        last[change.question_id] = change.after.question
    means = _pairs(changes[0].before.mean, changes[-1].after.mean) if changes else {}
    return {
        "golden": session.path,
        "label_version": session.version if changes else None,
        "stage": session.judging.stage,
        "graded": [
            {
                "question_id": change.question_id,
                "chunk_id": change.chunk_id,
                "grade": change.grade,
                "rank": change.rank,
                "other_rank": change.other_rank,
                "evidence_id": change.evidence["evidence_id"],
                "group_id": change.evidence["group_id"],
            }
            for change in changes
        ],
        "left": left,
        "metrics": means,
        "questions": {name: _pairs(first[name], last[name]) for name in first},
    }


def _pairs(
    before: Mapping[str, float | None], after: Mapping[str, float | None]
) -> dict[str, dict[str, float | None]]:
    """metric → before and after, null where undefined."""
    return {
        name: {"before": _number(before[name]), "after": _number(after[name])} for name in after
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
