"""Where lost gold may stand now: listed for somebody to approve, never guessed (DESIGN §4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from rayeval.errors import ConfigError
from rayeval.execution.golden.case import Case
from rayeval.execution.golden.cases import known, texts
from rayeval.execution.reading import Reading
from rayeval.golden.anchor import normal
from rayeval.golden.anchors import KEY
from rayeval.golden.follow import Outcome
from rayeval.golden.moved import Move
from rayeval.golden.nearest import Near, nearest, pieces
from rayeval.golden.stale import stale
from rayeval.words import percent

LOOKED_AT = 5
"""Other documents that are compared with a quote: those with the most of its pieces."""


SAID = 5
"""Words of an answer that are told."""


def suggest(found: Sequence[Case], reading: Reading) -> None:
    """Gives every lost case with a known text what is like it: word for word in other documents,
    or nearly, in its own and in the rest."""
    lost = [c for c in found if c.outcome.status == "lost" and c.old and not c.of_element]
    lost = [case for case in lost if normal(case.old or "") and len(case.notes) < 2]
    if not lost:
        return
    wanted = _wanted(lost, reading)
    near: dict[int, list[Near]] = {number: [] for number in range(len(lost))}
    for source, revision, text in texts(reading.documents()):
        for number in wanted.get((source, revision), ()):
            one = nearest(lost[number].old or "", text, source, revision)
            if one is not None:
                near[number].append(one)
    for number, case in enumerate(lost):
        _tell(case, near[number])


def _wanted(lost: Sequence[Case], reading: Reading) -> dict[tuple[str, str], list[int]]:
    """Document → which cases are to be looked for in it: its own, and those with most pieces."""
    parts = pl.DataFrame(
        [(n, part) for n, case in enumerate(lost) for part in pieces(normal(case.old or ""))],
        schema={"case": pl.Int64, "piece": pl.String}, orient="row",
    )  # fmt: skip
    current = known(reading).filter("current").select(KEY)
    sought = pl.lit(parts["piece"].unique()).implode()
    held = []
    for source, revision, text in texts(reading.documents()):
        here = (
            pl.Series([normal(text)])
            .to_frame("said")
            .select(piece=pl.col("said").str.extract_many(sought, overlapping=True).list.unique())
        )
        rows = here.explode("piece").drop_nulls().join(parts, on="piece")
        counted = rows.group_by("case").agg(n=pl.len(), most=pl.col("piece").str.len_chars().max())
        held.append(counted.with_columns(source_id=pl.lit(source), revision_id=pl.lit(revision)))
    own = pl.DataFrame(
        [(n, case.evidence["source_id"]) for n, case in enumerate(lost)],
        schema={"case": pl.Int64, "source_id": pl.String}, orient="row",
    )  # fmt: skip
    pairs = [own.join(current, on="source_id").select("case", *KEY)]
    if held:
        every = pl.concat(held).join(current, on=KEY, how="semi")
        order = every.sort("case", "most", "n", *KEY, descending=[False, True, True, False, False])
        pairs.append(
            order.group_by("case", maintain_order=True).head(LOOKED_AT).select("case", *KEY)
        )
    found: dict[tuple[str, str], list[int]] = {}
    for number, source, revision in pl.concat(pairs).unique(maintain_order=True).iter_rows():
        found.setdefault((source, revision), []).append(number)
    return found


def _tell(case: Case, near: Sequence[Near]) -> None:
    """The best of its own document and the best of the rest, the nearer one first.

    What its source may be called is no longer said: where the text is, or that it is nowhere, is.
    """
    own = case.evidence["source_id"]
    kinds: dict[bool, list[Near]] = {True: [], False: []}
    for one in near:
        kinds[one.source_id == own].append(one)
    best = [max(some, key=lambda one: one.similarity) for some in kinds.values() if some]
    message = case.outcome.message.removesuffix(case.hint)
    exact = [one.source_id for one in near if one.exact]
    case.suggested = sorted(best, key=lambda one: -one.similarity)
    if len(exact) > 1:
        message += f"; its text stands word for word in {', '.join(sorted(exact))}: name one"
        case.suggested = []
    elif not best:
        message += "; nothing like it was found"
    case.outcome = replace(case.outcome, message=message)


def take(found: Sequence[Case], ids: Collection[str], *, exact: bool) -> None:
    """Makes the first suggestion of some cases what becomes of them.

    ids: of questions. exact: also where the text stands word for word in one other document.
    Raises ConfigError for a question that has no suggestion.
    """
    if unknown := sorted(set(ids) - {case.question_id for case in found if case.suggested}):
        raise ConfigError(f"--take {unknown[0]}: there is no suggestion (~) for such a question")
    for case in found:
        best = case.suggested[0] if case.suggested else None
        sure = best is not None and best.exact and best.times == 1
        if best is None or not (case.question_id in ids or (exact and sure)):
            continue
        places = [best.place]
        spans = places if case.evidence["spans"] is not None or best.times > 1 else None
        said = f"taken, {percent(best.similarity)} alike, from {best.source_id!r}"
        if old := stale(case.old or "", best.text, case.answer):
            words = ", ".join(map(repr, old[:SAID]))
            said += f"; its reference_answer still says {words}: is it right?"
        case.outcome = Outcome("moved", places, said)
        case.new, case.suggested = best.text, []
        case.move = Move(
            spans, best.text, best.revision_id, source_id=best.source_id, restated=True
        )
