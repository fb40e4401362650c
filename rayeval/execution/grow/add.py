"""One question more, its evidence located before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.errors import DataError, InputError, Problem
from rayeval.execution.grow.locate import OpenCorpus, Place
from rayeval.golden.file import read_golden
from rayeval.golden.grow import new_id
from rayeval.golden.lint.repeats import form
from rayeval.golden.problems import Report, shown
from rayeval.golden.rows import question_row
from rayeval.golden.similar import near
from rayeval.tables import QUESTIONS
from rayeval.words import plural

SHOWN = 5


class Adding:
    """A golden set that one question is to be added to.

    corpus: where evidence is looked for; None: it is taken as it is given.
    """

    def __init__(self, path: str, corpus: OpenCorpus | None) -> None:
        self._golden = read_golden(path, new=True)
        self._corpus = corpus

    @property
    def path(self) -> str:
        """The golden set's file."""
        return self._golden.path

    def named(self, question: str, wanted: str | None = None) -> str:
        """An id that no other question has.

        Raises InputError if `wanted` is taken.
        """
        if wanted is None:
            return new_id(question, self._golden.rows)
        if wanted in self._golden.rows:
            line, _ = self._golden.rows[wanted]
            raise InputError(
                f"{self.path}:{line} is the question {wanted!r} already; choose another --id, or "
                "leave it out for one that is free"
            )
        return wanted

    def near(self, question: str) -> list[dict[str, Any]]:
        """Existing questions that ask nearly the same, the nearest first."""
        others = pl.DataFrame(self._golden.questions.select(["question_id", "question"]))
        return near(question, others).to_dicts()

    def same(self, question: str) -> list[str]:
        """The ids of questions that are this very one: asked by anybody, out of the blue."""
        names = ["question_id", "question", "history", "principals"]
        rows = pl.DataFrame(self._golden.questions.select(names))
        bare = pl.all_horizontal(pl.col("history", "principals").list.len().fill_null(0) == 0)
        [wanted] = form(pl.Series([question]))
        return rows.filter(bare & (form(rows["question"]) == wanted))["question_id"].to_list()

    @property
    def languages(self) -> list[str]:
        """Those of the questions, where at least half of them say theirs."""
        every = self._golden.questions["language"]
        said = every.drop_null()
        return sorted(said.unique().to_pylist()) if 2 * len(said) >= len(every) else []

    def evidence(
        self, quote: str, source: str | None, page: int | None = None
    ) -> tuple[dict[str, Any], Place | None]:
        """One piece of evidence as it is to be written, and where it stands.

        Raises DataError if the corpus has the quote nowhere, or at more than one place.
        """
        said = {"source_id": source, "quote": quote, "page": page}
        item = {name: value for name, value in said.items() if value is not None}
        table = self._checked({"question": "?", "evidence": [item]})
        if self._corpus is None:
            return item, None
        places, problems = self._corpus.locate(table)
        if problems and problems[0].kind == "quote_ambiguous" and source is not None:
            places = self._places(quote, source, page)
        elif problems:
            raise self._refused(problems[0].kind, _plain(problems[0]))
        if len(places) > 1:
            raise self._refused("quote_ambiguous", _several(quote, places))
        [place] = places
        exact = quote if place.rendered else place.text
        paged = {} if page is None else {"page": page}
        return {"source_id": place.source_id, "quote": exact, **paged}, place

    def pages(self, quote: str, source: str | None) -> list[int]:
        """The pages of one document on which the quote stands; none where no page tells."""
        return _pages(self._places(quote, source))

    def _places(self, quote: str, source: str | None, page: int | None = None) -> list[Place]:
        """Wherever the quote stands, in that source and on that page."""
        if self._corpus is None:
            return []
        table = self._checked({"question": "?", "evidence": [{"quote": quote}]})
        places, _ = self._corpus.locate(table)
        here = [place for place in places if source in (None, place.source_id)]
        return [place for place in here if page in (None, place.page)] or here

    def add(self, row: Mapping[str, Any]) -> None:
        """Writes the row.

        Raises DataError with all that is wrong with it; nothing is written then.
        """
        self._checked(row)
        self._golden.append(row)

    def _checked(self, row: Mapping[str, Any]) -> pa.Table:
        """The row as tables.QUESTIONS."""
        report = Report(self.path)
        line = len(self._golden.rows) + 1
        found = question_row(dict(row), line, report, relevant=2)
        if wrong := [problem for problem in report.problems if not problem.warning]:
            raise DataError(
                [Problem(self.path, None, p.question_id, p.kind, p.message) for p in wrong]
            )
        return pa.Table.from_pylist([] if found is None else [found], schema=QUESTIONS)

    def _refused(self, kind: str, message: str) -> DataError:
        return DataError([Problem(self.path, None, None, kind, f"not added: {message}")])


def _plain(problem: Problem) -> str:
    """The problem in the words of somebody who has just typed a quote."""
    message = problem.message.removeprefix("evidence 'e1': ").removeprefix("evidence 'e1' ")
    if problem.kind == "quote_ambiguous":
        return message.partition("; ")[0] + "; give more of the text around it"
    if problem.kind == "quote_lost":
        return message.partition("; ")[0] + "; copy it from the document"
    return message


def _several(quote: str, places: Sequence[Place]) -> str:
    pages = _pages(places)
    listed = [
        f"{p.source_id!r} [{p.start_char}, {p.end_char})" if p.page is None or not pages
        else f"{p.source_id!r} page {p.page}"
        for p in places[:SHOWN]
    ]  # fmt: skip
    rest = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    here = len({place.source_id for place in places}) == 1
    choice = f"name its page, --page {' or '.join(map(str, pages))}" if pages else ""
    choice = choice or ("" if here else "name its source")
    return (
        f"the quote {shown(quote)} stands at {plural(len(places), 'place')}: "
        f"{', '.join(listed)}{rest}; "
        f"{choice}{', or ' if choice else ''}give more of the text around it"
    )


def _pages(places: Sequence[Place]) -> list[int]:
    """The pages that tell the places apart; none where they don't."""
    pages = [place.page for place in places if place.page is not None]
    apart = len(set(pages)) == len(places) > 1
    return pages if apart and len({place.source_id for place in places}) == 1 else []
