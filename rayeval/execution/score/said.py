"""What a score says about a trace that it could read, and not make full use of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl
import pyarrow as pa

from rayeval.answer.foreign import COUNTS
from rayeval.columns import flatten
from rayeval.errors import DataError, Problem
from rayeval.hits import RESERVED, reserved
from rayeval.words import plural, verb

NAMED = 3
SHOWN = 40
BLIND = {
    "incomparable": "gold without a quote (offsets, an element or a source alone), and hits that "
    "are text alone: they can't be compared. Say where the documents are with --corpus, add quotes "
    "to the evidence, or give hits a source_id and spans",
    "partial": "gold that is a whole document, or an element of one, and hits that are parts of "
    "it: how much they hold can't be known. Say where the documents are with --corpus, or ask for "
    "`--metrics source_recall@5` alone",
    "unread": "gold that is quotes alone, and hits without their text: they can't be compared. Say "
    "where the documents are with --corpus, give hits (or the chunks of --chunks) their text, or "
    "evidence its source and offsets",
}
"""What keeps gold and hits from being compared, by flag."""


def refuse_blind(flags: pa.Table, file: str, *, sources_alone: bool) -> None:
    """Raises DataError where hits and gold can't be compared at all, so that 0 would mean nothing.

    flags: `question_id` and FLAGS of every question. sources_alone: it is only asked whether hits
    are of the right source.
    """
    frame = pl.DataFrame(pl.from_arrow(flags))
    if frame["by_id"].any() and not frame["touched"].any():
        message = (
            "hits are named by chunk_id alone, and none of these ids is a document that the golden "
            "set names: say which chunks they are with --chunks"
        )
        raise DataError([Problem(file, None, None, "unknown_chunks", message)])
    for flag, what in BLIND.items():
        blind = frame.filter(flag)["question_id"].to_list()
        if blind and not sources_alone:
            shown = ", ".join(blind[:NAMED]) + (", …" if len(blind) > NAMED else "")
            have = verb(len(blind), "has", "have")
            message = f"{plural(len(blind), 'question')} ({shown}) {have} {what}"
            raise DataError([Problem(file, None, None, "not_comparable", message)])


def refuse_nameless(names: pa.Table, file: str) -> None:
    """Raises DataError where a row's question or stage has no name that a table can hold.

    names: `question_id` and `stage` of every row of the trace; a row of a failed question alone
    has no stage.
    """
    frame = pl.DataFrame(pl.from_arrow(names))
    said = []
    if lost := int(frame["question_id"].fill_null("").eq("").sum()):
        have = verb(lost, "has", "have")
        said.append(("missing_field", f"{plural(lost, 'row')} {have} no `question_id`"))
    for stage in frame["stage"].drop_nulls().unique().sort():
        if not stage or "\0" in stage:
            shown = "has no name" if not stage else f"{stage!r} has a NUL character in its name"
            said.append(("bad_stage", f"a stage {shown}; give it another one"))
        elif stage in RESERVED:
            said.append(("bad_stage", reserved(stage)))
    if said:
        raise DataError([Problem(file, None, None, kind, message) for kind, message in said])


def unplaced(located: Iterable[pa.Table]) -> Iterator[str]:
    """Warnings of texts that stand at no place of the documents, or at several.

    located: `question_id` (source, revision and text, joined by NUL) and `spots`.
    """
    total, lost, several = 0, list[str](), list[str]()
    for table in located:
        rows, spots = flatten(table["spots"])
        frame = pl.DataFrame({"row": rows, "exact": pl.Series(spots.field("exact")),
                              "kind": pl.Series(spots.field("kind"), dtype=pl.String)})  # fmt: skip
        best = frame.filter(pl.col("exact") == pl.col("exact").any().over("row"))
        kinds = best.group_by("row").agg(pl.len(), pl.col("kind").first())
        names = table["question_id"].to_pylist()
        total += len(names)
        there = kinds["row"].to_list()
        lost += [name for row, name in enumerate(names) if row not in set(there)]
        for row, count, kind in kinds.sort("row").iter_rows():
            if count > 1 or kind == "quote_ambiguous":
                several.append(names[row])
            elif kind is not None:
                lost.append(names[row])
    unclear = "stand at several places, so nobody knows which is meant"
    for found, what in ((lost, "stand nowhere in the documents"), (several, unclear)):
        if found:
            shown = "; ".join(_short(name) for name in found[:NAMED])
            more = "; …" if len(found) > NAMED else ""
            yield f"{len(found)} of {plural(total, 'text')} of the trace {what}: {shown}{more}"


def like_refusals(told: pl.DataFrame, counted: str) -> Iterator[str]:
    """A warning of answers that begin like a refusal and count as answers.

    told: `question_id, answerable, counts` (foreign.COUNTS) of every question. counted: what is
    counted as a refusal (refusals.Counted).
    """
    frame = told.unnest("counts").with_columns(pl.col(COUNTS).fill_null(0))
    begin, explain = (int(frame[name].sum()) for name in ("begin", "explain"))
    if not begin:
        return
    bounds = []
    for kind, which in (("right", ~pl.col("answerable")), ("false", pl.col("answerable"))):
        sums = {name: int(frame.filter(which)[name].sum()) for name in COUNTS}
        if sums["given"]:
            low, high = sums["refused"], sums["refused"] + sums["begin"]
            bounds.append(f"{kind} refusals lie between {low} and {high} of {sums['given']}")
    names = frame.filter(pl.col("begin") > 0)["question_id"].sort().to_list()
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    more = f"; --refusals explained counts the {explain} that say nothing but what is missing"
    are = verb(begin, "begins like a refusal and counts", "begin like a refusal and count")
    between = f": {', '.join(bounds)}" if bounds else ""
    yield (
        f"{begin} of {plural(int(frame['given'].sum()), 'answer')} {are} as given ({shown})"
        f"{between}{more if counted == 'whole' and explain else ''}"
    )


def used_again(passages: pl.DataFrame) -> Iterator[str]:
    """A warning of ids that stand for several texts.

    passages: `chunk_id, text` of the kept hits. A text that is a part of the longest one is the
    same: stages shorten what they hand on.
    """
    texts = passages.drop_nulls().unique().group_by("chunk_id").agg("text")
    texts = texts.filter(pl.col("text").list.len() > 1).sort("chunk_id")
    again = [
        name
        for name, found in texts.iter_rows()
        for longest in (max(found, key=len),)
        if not all(text in longest for text in found)
    ]
    if again:
        shown = ", ".join(map(repr, again[:NAMED])) + (", …" if len(again) > NAMED else "")
        yield (
            f"{plural(len(again), 'chunk_id')} ({shown}) {verb(len(again), 'stands', 'stand')} for "
            "several texts: every question is scored on its own, but one text of each is shown and "
            "labelled; give every text an id of its own"
        )


def listed(names: pl.Series) -> str:
    """The first of some names, and whether there are more."""
    return ", ".join(names.head(NAMED)) + (", …" if len(names) > NAMED else "")


def _short(name: str) -> str:
    """The text, and its source if it names one."""
    source, _, text = name.split("\0", 2)
    line = " ".join(text.split())
    line = line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
    return f"“{line}” ({source})" if source else f"“{line}”"
