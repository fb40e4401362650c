"""The fields of a new question: from options, and asked for where there is a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from rayeval.cli import options
from rayeval.errors import DataError, InputError
from rayeval.report.plain import printable

if TYPE_CHECKING:
    from rayeval.execution.grow.add import Adding

T = TypeVar("T")


class Form:
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
        self, quotes: list[str], sources: list[str], pages: list[int], *, unanswerable: bool
    ) -> list[dict[str, Any]]:
        """Every quote with its source and page, each a fact of its own."""
        if unanswerable:
            return []
        if quotes:
            return [self._located(*each) for each in _paired(quotes, sources, pages)]
        if not self.ask:
            raise InputError("an answerable question needs a --quote, or say --unanswerable")
        items: list[dict[str, Any]] = []
        while quote := self._line("Quote that answers it" + (" (Enter: no more)" if items else "")):
            source = self._line("Its source (Enter: look everywhere)") or None
            if item := self._asked(quote, source):
                items.append(item)
        if not items:
            raise InputError("an answerable question needs a quote; nothing was added")
        return items

    def _asked(self, quote: str, source: str | None) -> dict[str, Any] | None:
        """The evidence that somebody has typed, its page asked for where that decides; None where
        it is refused, which is said."""
        page = None
        while True:
            try:
                return self._located(quote, source, page)
            except DataError as error:
                options.say(printable(str(error)))
            pages = [] if page is not None else self.adding.pages(quote, source)
            known = ", ".join(map(str, pages))
            said = self._line(f"Its page, {known} (Enter: another quote)") if pages else ""
            if not said.isdecimal():
                return None
            page = int(said)

    def language(self, given: str | None) -> str | None:
        """The question's language; where others say theirs, it is asked for."""
        known = self.adding.languages
        if given is not None or not known or not self.asked:
            return given
        return self._line(f"Language, such as {', '.join(known[:5])} (Enter: none)") or None

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

    def _located(self, quote: str, source: str | None, page: int | None) -> dict[str, Any]:
        from dataclasses import asdict

        from rayeval.report.passages import place_text

        item, place = self.adding.evidence(quote, source, page)
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


def _paired(
    quotes: list[str], sources: list[str], pages: list[int]
) -> list[tuple[str, str | None, int | None]]:
    """Every quote with its source and its page."""
    of = _each(sources, "--source", len(quotes))
    on = [page or None for page in _each(pages, "--page", len(quotes))]
    return list(zip(quotes, of, on, strict=True))


def _each(given: Sequence[T], option: str, n: int) -> list[T | None]:
    """One value for every quote."""
    if len(given) not in (0, 1, n):
        raise InputError(
            f"{n} --quote and {len(given)} {option}: give one {option.removeprefix('--')} for "
            "all, one for each quote in the same order, or none"
        )
    every: list[T | None] = [*given] * (n // len(given)) if given else [None] * n
    return every
