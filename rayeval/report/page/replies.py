"""The answers on a question's own page: what was said, handed over, claimed, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.report.page.passages import Passages
from rayeval.report.page.verdicts import judged_json, named
from rayeval.report.tables import Tables, answered_stages

TRIES = 6_000
"""Answers that a page holds: of questions with many repeats, the first ones."""
REPEATS = 10
"""Of one question's answers by one variant, at most."""
CHARS = 4_000
"""Of one answer."""
HANDED = 10
"""Pieces of evidence of an answer's context that are shown, besides those that somebody names."""
GOLD = "gold_context"
"""The variant whose context is evidence, by its ids."""
Row = Mapping[str, Any]


def add_replies(
    found: Mapping[str, dict[str, Any]], run: Tables, passages: Passages, evidence: pl.DataFrame
) -> None:
    """Puts `replies` and `timed` into every question of `found`.

    `replies`: a block for each variant and context, with the tries that were handed that. passages:
    takes in what was handed over. evidence: where gold lies; long texts are cut around it.
    """
    ids = list(found)
    for one in found.values():
        one |= {"replies": [], "timed": None}
    if not answered_stages(run) or not ids:
        return
    every = run.rows("answers", "question_id", ids).to_dicts()
    most = max(1, min(REPEATS, TRIES // (len(ids) * len(answered_stages(run)))))
    rows = [row for row in every if row["repeat"] < most]
    judged = _by_try(run, "judgements", ids) if run.manifest.get("judge") else {}
    told = _by_try(run, "per_answer", ids)
    wanted = [_worth_showing(row, _of(judged, row)) for row in rows]
    texts = {one for row, names in zip(rows, wanted, strict=True) if row["variant"] != GOLD
             for one in names}  # fmt: skip
    passages.add(run, sorted(texts), evidence)
    for row, names in zip(rows, wanted, strict=True):
        block = _block(found[row["question_id"]]["replies"], row, names, passages)
        block["tries"].append(_try(row, told.get(_key(row)), _of(judged, row)))
    _count_more(found, (row for row in every if row["repeat"] >= most))
    _add_times(found, run, ids)


def _by_try(run: Tables, table: str, ids: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    """(question, variant, repeat) → its row; nulls for what is said of a question as a whole."""
    return {_key(row): row for row in run.rows(table, "question_id", ids).to_dicts()}


def _key(row: Row) -> tuple[Any, ...]:
    return row["question_id"], row.get("variant", row.get("stage")), row["repeat"]


def _of(judged: Mapping[tuple[Any, ...], Row], row: Row) -> Row | None:
    """What was judged of an answer, or why its question was not judged at all."""
    return judged.get(_key(row)) or judged.get((row["question_id"], None, None))


def _worth_showing(row: Row, judged: Row | None) -> list[str]:
    """The first pieces of its context, and those that it, or its judge, names."""
    context = row["context"] or []
    said = {one["chunk_id"] for one in row["citations"] or []} | named(judged)
    return [one for place, one in enumerate(context) if place < HANDED or one in said]


def _block(
    blocks: list[dict[str, Any]], row: Row, names: Sequence[str], passages: Passages
) -> dict[str, Any]:
    """The block that the answer belongs in.

    `handed`: [number of the evidence from 1, where it is]: a passage's number, an evidence's id in
    the variant GOLD, null where the run hasn't kept it. null: nobody knows what was handed over.
    """
    context = row["context"]
    same = [b for b in blocks if b["variant"] == row["variant"] and b["context"] == context]
    if not same:
        size = None if context is None else len(context)
        known = {"variant": row["variant"], "context": context, "size": size}
        same = [known | {"handed": {}, "tries": [], "more": 0}]
        blocks += same
    [block] = same
    for one in names:
        place = one if row["variant"] == GOLD else passages.get(one)
        block["handed"][(context or []).index(one) + 1] = place
    return block


def _try(row: Row, told: Row | None, judged: Row | None) -> dict[str, Any]:
    """One answer; what is not known of it is left out."""
    text = row["answer"] or ""
    place = {one: number for number, one in reversed([*enumerate(row["context"] or [], start=1)])}
    cited = row["citations"]
    known = {
        "text": text[:CHARS],
        "cut": max(0, len(text) - CHARS) or None,
        "abstained": row["abstained"],
        "error": row["error"],
        "cites": cited and [[one["mark"], place.get(one["chunk_id"])] for one in cited],
        "read": row["prompt_tokens"],
        "written": row["completion_tokens"],
        "cost": row["cost_usd"],
        "finish": row["finish_reason"],
        "right": told and told["right"],
        "held": told and told["evidence"],
        "judged": judged and judged_json(judged, place),
    }
    return {"repeat": row["repeat"]} | {k: v for k, v in known.items() if v is not None}


def _count_more(found: Mapping[str, dict[str, Any]], rows: Iterable[Row]) -> None:
    """How many more tries there are than the page shows, with the last block of their variant."""
    for row in rows:
        blocks = found[row["question_id"]]["replies"]
        [*_, last] = [block for block in blocks if block["variant"] == row["variant"]]
        last["more"] += 1


def _add_times(found: Mapping[str, dict[str, Any]], run: Tables, ids: Sequence[str]) -> None:
    """[ms, how it was timed] of the answer to every question: alone where it was."""
    rows = run.rows("latency", "question_id", ids).filter(
        pl.col("stage") == "answer", pl.col("latency_ms").is_not_null()
    )
    rows = rows.sort(pl.col("mode") == "serial", maintain_order=True)
    for name, ms, mode in rows.select("question_id", "latency_ms", "mode").iter_rows():
        found[name]["timed"] = [ms, mode]
    for one in found.values():
        for block in one["replies"]:
            block.pop("context", None)
