"""`rayeval golden add`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rayeval.cli import options
from rayeval.errors import DataError, InputError
from rayeval.report.plain import printable

if TYPE_CHECKING:
    from rayeval.execution.grow.add import Adding

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
    runs: options.Runs = "runs",
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Add one question, as from a user's report, with its evidence by quote.

    What is not said by options is asked for at a terminal. With --corpus the quotes are located
    at once: one that stands nowhere, or at more than one place, is refused. A question that is
    there already needs a yes, or --force.

    Example: `rayeval golden add golden.jsonl --corpus docs --question "How long are refunds?"
    --quote "Refunds take 14 days." --source refunds.md`
    """
    from rayeval.execution.grow.add import Adding
    from rayeval.execution.grow.locate import open_corpus
    from rayeval.execution.job import Options

    with ExitStack() as stack:
        opened = stack.enter_context(open_corpus(corpus, Options(runs, store))) if corpus else None
        form = _Form(Adding(golden, opened), ask=sys.stdin.isatty(), force=force)
        question = form.question(question)
        unanswerable = form.unanswerable(unanswerable, quote)
        row = {
            "question_id": form.adding.named(question, question_id),
            "question": question,
            "answerable": not unanswerable,
            "reference_answer": form.answer(answer, unanswerable=unanswerable),
            "evidence": form.evidence(quote or [], source or [], unanswerable=unanswerable),
            "slices": form.slices(slices),
            "origin": origin,
            "validated": True,
            "split": split,
        }
        row = {name: value for name, value in row.items() if value not in (None, [])}
        form.confirm()
        form.adding.add(row)
    if json:
        options.print_json({"path": golden, "row": row, "places": form.places, "near": form.near})
        return
    print(printable(f"Added {row['question_id']} to {golden} (split {split})."))  # noqa: T201
    if corpus is None and not unanswerable:
        print("Its evidence was not looked for: no --corpus was given.")  # noqa: T201


class _Form:
    """Takes the fields from options, and asks for the others where there is a terminal."""

    def __init__(self, adding: Adding, *, ask: bool, force: bool) -> None:
        self.adding, self.ask, self.force = adding, ask, force
        self.asked = False
        self.places: list[dict[str, Any]] = []
        self.near: list[dict[str, Any]] = []

    def question(self, given: str | None) -> str:
        """The question; those like it are said."""
        from rayeval.report.passages import near_text

        question = given if given is not None else self._needed("Question", "--question")
        self.near = self.adding.near(question)
        if self.near:
            options.say(near_text(self.near))
        if not self.force and (same := self.adding.same(question)):
            self._twice(same)
        return question

    def _twice(self, same: list[str]) -> None:
        """A question that is there already needs a yes."""
        said = f"the same question is there already, as {', '.join(same[:3])}"
        if not self.ask:
            raise InputError(f"{said}; nothing was added: add evidence to it, or say --force")
        if not typer.confirm(f"{printable(said.capitalize())}. Add it again?", err=True):
            raise InputError("nothing was added")

    def unanswerable(self, given: bool, quotes: list[str] | None) -> bool:
        """Whether no document answers it."""
        if given and quotes:
            raise InputError("--unanswerable with --quote: what a quote answers is answerable")
        if given or quotes or not self.ask:
            return given
        return not typer.confirm("Do the documents answer it?", default=True, err=True)

    def answer(self, given: str | None, *, unanswerable: bool) -> str | None:
        """The right answer, if somebody knows it."""
        if given is not None or unanswerable or not self.ask:
            return given
        return self._line("Answer (Enter: none)") or None

    def evidence(
        self, quotes: list[str], sources: list[str], *, unanswerable: bool
    ) -> list[dict[str, Any]]:
        """Every quote with its source, each a fact of its own."""
        if unanswerable:
            return []
        if quotes:
            return [self._located(*pair) for pair in _paired(quotes, sources)]
        if not self.ask:
            raise InputError("an answerable question needs a --quote, or say --unanswerable")
        items: list[dict[str, Any]] = []
        while quote := self._line("Quote that answers it" + (" (Enter: no more)" if items else "")):
            source = self._line("Its source (Enter: look everywhere)") or None
            try:
                items.append(self._located(quote, source))
            except DataError as error:
                options.say(printable(str(error)))
        if not items:
            raise InputError("an answerable question needs a quote; nothing was added")
        return items

    def slices(self, given: list[str] | None) -> list[str]:
        """The slices it is in."""
        if given is not None or not self.asked:
            return given or []
        line = self._line("Slices, comma between (Enter: none)")
        return [name.strip() for name in line.split(",") if name.strip()]

    def confirm(self) -> None:
        """Asks once more if anything was asked at all."""
        if self.asked and not typer.confirm("Add it?", default=True, err=True):
            raise InputError("nothing was added")

    def _located(self, quote: str, source: str | None) -> dict[str, Any]:
        from dataclasses import asdict

        from rayeval.report.passages import place_text

        item, place = self.adding.evidence(quote, source)
        if place is not None:
            options.say(place_text(place))
            self.places.append(asdict(place))
        return item

    def _needed(self, label: str, option: str) -> str:
        if not self.ask:
            raise InputError(f"{option} is missing, and there is no terminal to ask at")
        return self._line(label)

    def _line(self, label: str) -> str:
        self.asked = True
        return str(typer.prompt(label, default="", show_default=False, err=True)).strip()


def _paired(quotes: list[str], sources: list[str]) -> list[tuple[str, str | None]]:
    """Every quote with its source."""
    if len(sources) not in (0, 1, len(quotes)):
        raise InputError(
            f"{len(quotes)} --quote and {len(sources)} --source: give one source for all, one for "
            "each quote in the same order, or none"
        )
    each = [None] * len(quotes) if not sources else sources * (len(quotes) // len(sources))
    return list(zip(quotes, each, strict=True))
