"""`rayeval golden add`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from rayeval import files
from rayeval.cli import options
from rayeval.errors import InputError
from rayeval.report.plain import printable

Golden = Annotated[
    str, typer.Argument(metavar="GOLDEN", help="The golden set: .jsonl, .csv or .parquet.")
]


def add(
    golden: Golden,
    corpus: Annotated[
        str | None, typer.Option("--corpus", metavar="C", help="Where the evidence must stand.")
    ] = None,
    question: Annotated[str | None, typer.Option("--question", help="What was asked.")] = None,
    answer: Annotated[str | None, typer.Option("--answer", help="The right answer.")] = None,
    quote: Annotated[
        list[str] | None,
        typer.Option("--quote", help="Text of a document that answers; repeat it for each fact."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", help="The quote's document: one for all, or one per --quote."),
    ] = None,
    page: Annotated[
        list[int] | None,
        typer.Option("--page", min=0, help="The quote's page: as --source; 0 is none."),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", metavar="L", help="The question's, such as ko.")
    ] = None,
    slices: Annotated[
        list[str] | None, typer.Option("--slice", help="A slice it is in; repeatable.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="train, dev, test or regression.")] = (
        "regression"
    ),
    origin: Annotated[
        str, typer.Option("--origin", help="log, expert, synthetic, report or unknown.")
    ] = "report",
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="No document answers it; takes no --quote.")
    ] = False,
    question_id: Annotated[
        str | None, typer.Option("--id", help="Its id; by default made of the question.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Add a question that is there already.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Begin a golden set that is not there yet.")
    ] = False,
    runs: options.Runs = "runs",
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Add one question, as from a user's report, with its evidence by quote.

    What is not said by options is asked for at a terminal. With --corpus the quotes are located
    at once: one that stands nowhere, or at more than one place, is refused. A question that is
    there already needs a yes, or --force; a golden set that is not there needs a yes, or --new.

    Example: `rayeval golden add golden.jsonl --corpus docs --question "How long are refunds?"
    --quote "Refunds take 14 days." --source refunds.md`
    """
    from rayeval.cli.golden.form import Form
    from rayeval.execution.grow.add import Adding
    from rayeval.execution.grow.locate import open_corpus
    from rayeval.execution.job import Options

    fresh = _begun(golden, new=new)
    with ExitStack() as stack:
        opened = stack.enter_context(open_corpus(corpus, Options(runs, store))) if corpus else None
        form = Form(Adding(golden, opened), ask=sys.stdin.isatty(), force=force)
        question = form.question(question)
        unanswerable = form.unanswerable(unanswerable, quote)
        row = {
            "question_id": form.adding.named(question, question_id),
            "question": question,
            "answerable": not unanswerable,
            "reference_answer": form.answer(answer, unanswerable=unanswerable),
            "evidence": form.evidence(
                quote or [], source or [], page or [], unanswerable=unanswerable
            ),
            "language": form.language(language),
            "slices": form.slices(slices),
            "origin": origin,
            "validated": True,
            "split": split,
        }
        row = {name: value for name, value in row.items() if value not in (None, [])}
        form.confirm()
        form.adding.add(row)
    if json:
        options.print_json({"path": golden, "new": fresh, "row": row, "places": form.places,
                            "near": form.near})  # fmt: skip
        return
    what = f"the new golden set {golden}" if fresh else golden
    print(printable(f"Added {row['question_id']} to {what} (split {split})."))  # noqa: T201
    if "language" not in row and form.adding.languages:
        known = ", ".join(form.adding.languages[:5])
        print(f"It says no language, as others do ({known}): --language.")  # noqa: T201
    if corpus is None and not unanswerable:
        print("Its evidence was not looked for: no --corpus was given.")  # noqa: T201


def _begun(golden: str, *, new: bool) -> bool:
    """Whether the golden set is yet to be written, which needs a yes: a path is soon mistyped."""
    from rayeval.golden.problems import nearest

    if files.exists(golden):
        return False
    if new:
        return True
    folder, _, name = golden.rpartition("/")
    said = f"there is no golden set {golden}{nearest(name, files.names_in(folder or '.'))}"
    if not sys.stdin.isatty():
        raise InputError(f"{said}; nothing was added: --new begins one there")
    if not typer.confirm(f"{printable(said)}. Begin one there?", err=True):
        raise InputError("nothing was added")
    return True
