"""Judged documents that nobody has: a naming error that would be scored as 0 in silence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

from rayeval import registry
from rayeval.corpus.config import Corpus
from rayeval.corpus.read import Unit, read_documents
from rayeval.corpus.units import TABLES, extension
from rayeval.errors import DataError, Problem
from rayeval.words import plural, verb

SAMPLE = 20_000
"""Hits whose ids show how a run names documents, where there is no corpus."""
SHOWN = 5


@dataclass(frozen=True)
class Known:
    """The documents of a corpus."""

    count: int
    ids: pl.Series
    """What they are called; a file of a folder also without its extension, or its folder."""


def documents(path: str) -> Known:
    """What is in the corpus at `path`.

    Raises DataError if there is nothing, or with every problem of its tables.
    """
    own: list[str] = []
    others: list[str] = []
    problems: list[Problem] = []
    for unit in registry.units(Corpus(path=path)):
        for name in unit.names:
            if extension(name) not in TABLES:
                own.append(name)
                others += [name.removesuffix(PurePosixPath(name).suffix), PurePosixPath(name).stem]
                continue
            for table, found in read_documents(Unit(unit.folder, (name,))):
                problems += [problem for problem in found if not problem.warning]
                own += table["source_id"].to_pylist()
    if problems:
        raise DataError(problems)
    return Known(len(set(own)), pl.Series([*own, *others], dtype=pl.String).unique())


def unknown(judgements: pl.DataFrame, known: Known, path: str) -> list[Problem]:
    """A warning about judged documents that the corpus lacks."""
    ids = judgements["document"].unique()
    lost = ids.filter(~ids.is_in(known.ids.implode())).sort()
    return _warnings(judgements, lost, known.ids, path, "that the corpus lacks")


def misnamed(judgements: pl.DataFrame, run: pl.DataFrame, path: str) -> list[Problem]:
    """The same of a run alone, which shows how documents are called but not which there are.

    Told of are ids that differ from an id of the run in case, zeros or Unicode form only, and ids
    of another form where all ids of the run have one.
    """
    ids = judgements["document"].unique()
    sample = run["document"].head(SAMPLE).unique()
    forms = _form(sample).unique()
    odd = folded(ids).is_in(folded(sample).implode())
    if len(forms) == 1:
        odd |= _form(ids) != forms[0]
    lost = ids.filter(odd & ~ids.is_in(sample.implode()))
    if run.height > SAMPLE and len(lost):
        lost = lost.filter(~lost.is_in(run["document"].implode()))
    return _warnings(judgements, lost.sort(), sample, path, "whose ids look like none of the run's")


def _warnings(
    judgements: pl.DataFrame, lost: pl.Series, known: pl.Series, path: str, which: str
) -> list[Problem]:
    """How many, which, and what they could be meant to be."""
    if lost.is_empty():
        return []
    rows = int(judgements["document"].is_in(lost.implode()).sum())
    are = verb(rows, "is", "are")
    shown = ", ".join(lost.head(SHOWN)) + (", …" if len(lost) > SHOWN else "")
    message = (
        f"{plural(rows, 'judgement')} {are} of {plural(len(lost), 'document')} {which}: {shown}. "
    )
    message += "They count as not found"
    near = pl.DataFrame({"folded": folded(known), "known": known}).sort("known")
    pairs = pl.DataFrame({"folded": folded(lost), "lost": lost})
    pairs = pairs.join(near.unique("folded", keep="first"), on="folded").sort("lost")
    if pairs.height:
        message += f"; {pairs.height} differ from a known id only in zeros, case or Unicode form, "
        message += f"as {pairs['lost'][0]} from {pairs['known'][0]}: correct them"
    return [Problem(path, None, None, "unknown_document", message, warning=True)]


def folded(ids: pl.Series) -> pl.Series:
    """Without what is easily written otherwise: case, leading zeros, Unicode form."""
    plain = ids.str.normalize("NFC").str.to_lowercase()
    return plain.str.replace_all(r"(^|[^0-9])0+([0-9])", "${1}${2}")


def _form(ids: pl.Series) -> pl.Series:
    """Letters as a, digits as 0."""
    return ids.str.replace_all(r"\p{L}", "a").str.replace_all(r"\p{Nd}", "0")
