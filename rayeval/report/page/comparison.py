"""The page of a comparison: two runs, old beside new."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import polars as pl

from rayeval.answer_tables import VARIANTS
from rayeval.report.answered import MARKED
from rayeval.report.compared import Compared, headline, uncalibrated
from rayeval.report.comparison import unjudged_line
from rayeval.report.differences import unmoved
from rayeval.report.favoured import worth_showing
from rayeval.report.gold import gold_ranks
from rayeval.report.overview import Overview, overview
from rayeval.report.page import details as parts
from rayeval.report.page.answers import shown_json
from rayeval.report.page.movement import movement
from rayeval.report.page.outcomes import BETTER, WORSE, answer_moves
from rayeval.report.page.outcomes import SAME as AS_BEFORE
from rayeval.report.page.passages import Passages
from rayeval.report.page.questions import MOST, chosen, coded, question_columns
from rayeval.report.page.run import detailed, headroom, made_of, side_of
from rayeval.report.page.shell import page
from rayeval.report.spent import spent_compared
from rayeval.report.sureness import HOLM, MEANS
from rayeval.report.tables import Tables
from rayeval.report.whole import ORDER, SAME, change
from rayeval.words import plural

DELTA = ("slice", "stage", "metric", "base", "new", "mean", "low", "high", "p", "p_holm", "n",
         "improved", "regressed")  # fmt: skip


def comparison_page(found: Compared) -> bytes:
    """A comparison as one HTML file; the same comparison gives the same bytes."""
    base, new = found.sides
    order = _worst_first(found.transitions)
    sentence = headline(found)
    went = answer_moves(base, new)
    others = went.filter(pl.col("went") != AS_BEFORE)["question_id"].to_list()
    first = list(dict.fromkeys([*order, *others]))
    rows, total = chosen(new, first, found.facts["only_new"])
    ids = detailed(rows, total, _by_turns([*sentence.questions, *order], others))
    texts, facts = Passages(), (overview(base), overview(new))
    data = {
        "kind": "comparison",
        "behind": sentence.questions[:100],
        "note": sentence.note,
        "total": total,
        **_told(found.facts),
        "headroom": headroom(new, facts[1]),
        "questions": question_columns(rows),
        "went": _went(rows, went),
        "sides": _sides(found, facts, rows, ids, texts),
        "passages": texts.rows,
        "deltas": _deltas(found.deltas),
        "unmoved": unmoved(found.deltas.filter(pl.col("slice").is_null())),
        "uncalibrated": uncalibrated(found.facts),
        "marked": MARKED,
        "means": MEANS,
        "holm": HOLM,
        "spent": [shown_json(table) for table in spent_compared(base, new)],
        "latency": [list(row) for row in found.latency.iter_rows()],
        "movement": movement(found.ranks, found.whole.moves),
        "madeOf": made_of(new),
    }
    return page(f"{new.run_id} against {base.run_id}", sentence.text, data)


def _sides(
    found: Compared,
    facts: tuple[Overview, Overview],
    rows: pl.DataFrame,
    ids: Sequence[str],
    texts: Passages,
) -> list[dict[str, Any]]:
    """Both runs as the page's scripts know them. ids: the questions that have a page."""
    return [
        side_of(run, of, rows, parts.details(run, ids, _ranks(run, ids), texts), called)
        for run, of, called in zip(found.sides, facts, ("before", "after"), strict=True)
    ]


def _told(facts: dict[str, Any]) -> dict[str, Any]:
    """What was compared, in words."""
    clusters = plural(facts["clusters"], "cluster")
    return {
        "counts": f"{plural(facts['questions'], 'question')} in {clusters}.",
        "changed": facts["changed"],
        "warnings": facts["warnings"],
        "unjudged": unjudged_line(facts) if facts["unjudged"]["hits"] else "",
    }


def _worst_first(transitions: pl.DataFrame) -> list[str]:
    """What was lost, then what fails elsewhere, then what was won; no more than a page lists."""
    rows = transitions.with_columns(change=change()).filter(pl.col("change") != SAME)
    place = pl.col("change").replace_strict(ORDER, return_dtype=pl.Int64)
    return rows.sort(place, "question_id")["question_id"].to_list()


def _by_turns(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Both lists, a name of each at a time: a page that can't hold all holds the worst of both."""
    pairs = zip_longest(one, other)
    return list(dict.fromkeys(name for pair in pairs for name in pair if name is not None))


def _went(rows: pl.DataFrame, went: pl.DataFrame) -> dict[str, Any] | None:
    """Which way the answers went: a code per question of the page, and the lists, worst first."""
    if went.is_empty():
        return None
    mine = rows.select("question_id").join(
        went, on="question_id", how="left", maintain_order="left"
    )
    lists = {
        name: went.filter(pl.col("went") == name)["question_id"].to_list()
        for name in (WORSE, BETTER)
    }
    return {
        "of": coded(mine["went"]),
        "worse": lists[WORSE][:MOST],
        "better": lists[BETTER][::-1][:MOST],
        "counts": dict(went["went"].value_counts().sort("went").iter_rows()),
    }


def _ranks(run: Tables, ids: Sequence[str]) -> pl.DataFrame:
    """At every stage of the run, those that the other lacks too."""
    return gold_ranks(run, ids, run.manifest["stages"])


def _deltas(deltas: pl.DataFrame) -> dict[str, Any]:
    """The shown metrics by slice, and over all questions every one of answers, as columns."""
    shown = worth_showing(deltas["metric"].unique(maintain_order=True).to_list())
    of_answers = pl.col("stage").is_in(VARIANTS) & pl.col("slice").is_null()
    claims = pl.col("slice").is_null() | pl.col("p_holm").is_not_null()
    rows = deltas.filter(pl.col("metric").is_in(shown) | of_answers, pl.col("n") > 0, claims)
    rows = rows.select(DELTA)
    return {name: rows[name].to_list() for name in DELTA}
