"""Which golden question each question of a trace is: by its id, else by its text.

A tool that keeps no ids leaves texts, of which an importer makes ids. Where such an id is not in
the golden set, it is the question there with the same text (after NFC, without the white space
around it), whatever that one is called.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl
import pyarrow as pa

from rayeval.errors import DataError, Problem
from rayeval.execution.score.spool import Spooled, sorted_runs
from rayeval.execution.step import digest
from rayeval.execution.store import Output, read
from rayeval.ids import MADE, made_question_id
from rayeval.interop.own.trace import TraceFile
from rayeval.tables import VERSION
from rayeval.words import plural, verb

NAMED = 5
"""Questions that a message names."""
JOINED = 1
"""Raised when joining changes what is stored."""


@dataclass(frozen=True)
class Joined:
    """A trace whose questions are called as in the golden set."""

    spooled: Spooled
    notes: Sequence[str]
    """What was joined by its text, and what the golden set lacks."""


def joined(spooled: Spooled, golden: pl.DataFrame, file: str, root: str) -> Joined:
    """The trace under the ids of the golden set.

    golden: `question_id, question`. file: the trace as the user named it.
    Raises DataError where the trace has no question of the golden set, and where a text stands for
    several questions.
    """
    ids = _ids(spooled, root)
    strange = ids.filter(~ids.is_in(golden["question_id"].implode())).sort()
    if spooled.made:
        _refuse_shared(ids, golden, file)
    pairs = _by_text(strange, golden, ids, file)
    if len(strange) == len(ids) and pairs.is_empty():
        raise DataError([_unknown(strange, golden, file)])
    notes = []
    if pairs.height:
        said = f"no id of the golden set's and {verb(pairs.height, 'is', 'are')} joined by text"
        has = verb(pairs.height, "has", "have")
        notes.append(f"{plural(pairs.height, 'question')} of the trace {has} {said}")
        spooled = _renamed(spooled, pairs, root)
    lost = strange.filter(~strange.is_in(pairs["made"].implode()))
    if len(lost):
        are = verb(len(lost), "is", "are")
        said = f"of the trace {are} not in the golden set: {_listed(lost)}"
        notes.append(f"{plural(len(lost), 'question')} {said}")
    return Joined(spooled, notes)


def _ids(spooled: Spooled, root: str) -> pl.Series:
    """Every question of the trace, whether it has hits or an answer alone."""
    names = [pl.Series(TraceFile(path).names["question_id"]) for path in spooled.paths]
    if spooled.answers is not None:
        paths = Output(root, spooled.answers).paths()
        names += [pl.Series(read(path, ["question_id"])["question_id"]) for path in paths]
    return pl.concat(names).drop_nulls().unique()


def _refuse_shared(ids: pl.Series, golden: pl.DataFrame, file: str) -> None:
    """Raises DataError where an id that was made of a text is the golden set's for one of several
    questions with that text: nobody knows which of them the trace means."""
    known = ids.filter(ids.str.contains(MADE) & ids.is_in(golden["question_id"].implode()))
    if len(known):
        problems = list(_ambiguous(_made(known, golden), file))
        if problems:
            raise DataError(problems)


def _made(ids: pl.Series, golden: pl.DataFrame) -> pl.DataFrame:
    """`made, question_id` of the golden questions whose texts these ids are made of."""
    keys = [made_question_id(text) for text in golden["question"].to_list()]
    found = golden.select("question_id", made=pl.Series(keys, dtype=pl.String))
    return found.filter(pl.col("made").is_in(ids.implode())).sort("made", "question_id")


def _by_text(strange: pl.Series, golden: pl.DataFrame, ids: pl.Series, file: str) -> pl.DataFrame:
    """`made, question_id`: of ids that were made of texts, the golden questions of these texts."""
    made = strange.filter(strange.str.contains(MADE))
    found = _made(made, golden if len(made) else golden.clear())
    problems = [*_ambiguous(found, file), *_twice(found, ids, file)]
    if problems:
        raise DataError(problems)
    return found


def _ambiguous(found: pl.DataFrame, file: str) -> Iterator[Problem]:
    several = found.group_by("made", maintain_order=True).agg("question_id")
    for _, names in several.filter(pl.col("question_id").list.len() > 1).iter_rows():
        message = (
            f"the golden set has {len(names)} questions with the text of this one "
            f"({', '.join(names[:NAMED])}{', …' if len(names) > NAMED else ''}), so that it can't "
            "be joined by its text: give the trace their `question_id`"
        )
        yield Problem(file, None, names[0], "ambiguous_text", message)


def _twice(found: pl.DataFrame, ids: pl.Series, file: str) -> Iterator[Problem]:
    for name in found.filter(pl.col("question_id").is_in(ids.implode()))["question_id"]:
        message = "the trace has this question by its id, and by its text again; drop one"
        yield Problem(file, None, name, "duplicate_question", message)


def _unknown(strange: pl.Series, golden: pl.DataFrame, file: str) -> Problem:
    """Nothing of the trace is in the golden set: a score of it would say 0 of nothing."""
    made, known = bool(strange.str.contains(MADE).all()), golden["question_id"].sort()
    how = ", made of the questions' texts, which are not there either" if made else ""
    message = (
        f"no question of the trace ({len(strange):,}) is in the golden set: the trace has "
        f"{_listed(strange)}{how}; the golden set has {_listed(known)}. Give the trace the golden "
        "set's `question_id`, or name the golden set that it answers"
    )
    return Problem(file, None, None, "no_question_matches", message)


def _listed(names: pl.Series) -> str:
    return ", ".join(names.head(NAMED).to_list()) + (", …" if len(names) > NAMED else "")


def _renamed(spooled: Spooled, pairs: pl.DataFrame, root: str) -> Spooled:
    """The trace in order of the golden set's ids, written once."""
    of = {"joined": JOINED, "trace": spooled.sha256, "paths": [*spooled.paths], "tables": VERSION}
    key = digest({**of, "names": pairs.rows()})
    hits, told = Output(root, key), spooled.answers
    if hits.manifest() is None:
        tables = (t for path in spooled.paths for t in TraceFile(path).tables())
        runs = sorted_runs(_called(table, pairs) for table in tables)
        start = time.time()
        hits.finish([hits.commit(n, run, started=start) for n, run in enumerate(runs)])
    judge = spooled.judge
    if told is not None:
        told = _again(Output(root, told), Output(root, digest({"answers": key, "of": told})), pairs)
    if judge is not None:
        new = Output(root, digest({"verdicts": key, "of": judge.key}))
        judge = replace(judge, key=_again(Output(root, judge.key), new, pairs))
    return replace(spooled, paths=tuple(hits.paths()), answers=told, judge=judge)


def _again(old: Output, new: Output, pairs: pl.DataFrame) -> str:
    """The key of the same rows, their questions called as in the golden set."""
    if new.manifest() is None:
        given = [_called(read(path), pairs) for path in old.paths()]
        new.finish([new.commit(0, given, started=time.time())])
    return new.key


def _called(table: pa.Table, pairs: pl.DataFrame) -> pa.Table:
    """The rows, their questions called as in the golden set."""
    ids = pl.Series(table["question_id"])
    names = ids.replace(pairs["made"], pairs["question_id"]).to_arrow()
    at = table.schema.get_field_index("question_id")
    return table.set_column(at, "question_id", names.cast(table.schema.field(at).type))
