"""Judged documents that nobody has: a naming error that would be scored as 0 in silence."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl

from rayeval import registry
from rayeval.corpus.config import Corpus
from rayeval.corpus.read import Unit, read_documents
from rayeval.corpus.units import TABLES, extension
from rayeval.errors import DataError, Problem

SAMPLE = 200_000
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
    folded, forms = {_folded(name) for name in sample}, {_form(name) for name in sample}
    odd = pl.Series(
        [
            name
            for name in ids.filter(~ids.is_in(sample.implode()))
            if _folded(name) in folded or (len(forms) == 1 and _form(name) not in forms)
        ],
        dtype=pl.String,
    )
    lost = odd.filter(~odd.is_in(run["document"].implode())).sort() if len(odd) else odd
    return _warnings(judgements, lost, sample, path, "whose ids look like none of the run's")


def _warnings(
    judgements: pl.DataFrame, lost: pl.Series, known: pl.Series, path: str, which: str
) -> list[Problem]:
    """How many, which, and what they could be meant to be."""
    if lost.is_empty():
        return []
    rows = judgements["document"].is_in(lost.implode()).sum()
    shown = ", ".join(lost.head(SHOWN)) + (", …" if len(lost) > SHOWN else "")
    message = f"{rows} judgements are of {len(lost)} documents {which}: {shown}. They count as not "
    message += "found"
    near = {_folded(name): name for name in known.sort()}
    pairs = [(name, near[_folded(name)]) for name in lost if _folded(name) in near]
    if pairs:
        message += f"; {len(pairs)} differ from a known id only in zeros, case or Unicode form, as "
        message += f"{pairs[0][0]} from {pairs[0][1]}: correct them"
    return [Problem(path, None, None, "unknown_document", message, warning=True)]


def _folded(name: str) -> str:
    """The id without what is easily written otherwise: case, leading zeros, Unicode form."""
    plain = unicodedata.normalize("NFC", name).casefold()
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", plain)


def _form(name: str) -> str:
    """The id's letters as a, its digits as 0."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", name))
