"""What a judge made of answers: of one question in full, of a run in counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.judge.agreement import self_agreement
from rayeval.judge.tasks import EVERY
from rayeval.report.plain import shortened
from rayeval.report.repeats import folded
from rayeval.report.tables import Tables
from rayeval.report.trust import standings_json
from rayeval.words import percent, plural

Judged = Mapping[str, Any]

CLAIM = 52
"""Columns that are left for a claim's text."""
TASKS = (*(task.name for task in EVERY), "context")
"""As outcomes call them."""


def judgements_json(run: Tables, question_id: str) -> list[dict[str, Any]]:
    """What was judged of one question, by variant and repeat."""
    rows = run.judgements.filter(pl.col("question_id") == question_id)
    return rows.drop("question_id").to_dicts()


def judgement_lines(judged: Sequence[Judged]) -> list[str]:
    """The same, to be read; repeats that were judged alike once."""
    return [line for which, alike in folded(judged, _verdict) for line in _lines(alike[0], which)]


def _verdict(one: Judged) -> str:
    """All that is shown of it."""
    shown = ("error", "correctness", "relevance", "claims", "reference_claims")
    bad = [
        (each["task"], each["outcome"], each["reason"])
        for each in one["outcomes"] or ()
        if each["outcome"] != "ok"
    ]
    return json.dumps([[one[name] for name in shown], bad])


def counts(run: Tables) -> dict[str, dict[str, int]]:
    """Task → outcome → how often."""
    said = run.judgements.select(pl.col("outcomes").explode()).unnest("outcomes").drop_nulls("task")
    grouped = said.group_by("task", "outcome").len().sort("outcome").rows()
    return {
        task: {outcome: n for name, outcome, n in grouped if name == task}
        for task in TASKS
        if any(name == task for name, _, _ in grouped)
    }


def judge_json(run: Tables) -> dict[str, Any] | None:
    """Verdicts per task and outcome, and self-agreement; None where nothing was judged."""
    if not run.manifest.get("judge"):
        return None
    same = _agreement(run)
    return {
        **run.manifest["judge"],
        "outcomes": counts(run),
        "errors": run.judgements["error"].count(),
        "calibration": standings_json(run),
        "self_agreement": {
            task: {"agreement": equal / n, "n": n} for task, (equal, n) in same.items()
        },
    }


def judge_text(run: Tables) -> Iterator[str]:
    """The same, a line per task."""
    pins = run.manifest.get("judge") or {}
    if pins.get("origin"):
        yield f"{pins['model']}: its verdicts came with {pins['origin']}, nobody was asked"
    for task, outcomes in counts(run).items():
        bad = [f"{n:,} {outcome}" for outcome, n in outcomes.items() if outcome != "ok"]
        asked = sum(outcomes.values())
        yield f"{task:<18}{outcomes.get('ok', 0):>7,} of {asked:<8,}{', '.join(bad)}".rstrip()
    failed = run.judgements.drop_nulls("error")
    if failed.height:
        first = failed.row(0, named=True)
        why = shortened(f"{first['question_id']}: {first['error']}", 70)
        yield f"{plural(failed.height, 'question')} not judged: {why}"
    for task, (equal, n) in _agreement(run).items():
        share = percent(equal / n)
        yield f"judged twice, {task}: the same verdict {equal:,} of {n:,} times ({share})"


def _agreement(run: Tables) -> dict[str, tuple[int, int]]:
    again = run.judged_again
    if not again.height:
        return {}
    first = run.judgements.join(again, on=["question_id", "variant", "repeat"], how="semi")
    return self_agreement(first.to_dicts(), again.to_dicts())


def _lines(one: Judged, which: str) -> Iterator[str]:
    if one["error"]:
        yield from ("", f"judge: error: {one['error']}")
        return
    number = f" {which}" if which else ""
    said = [one["correctness"]] if one["correctness"] else []
    if one["relevance"]:
        said.append(f"passages graded {', '.join(str(g['grade']) for g in one['relevance'])}")
    said += ["it claims nothing"] if one["claims"] == [] else []
    yield from ("", f"{one['variant']}{number}, judged: {'; '.join(said) or 'by claims'}")
    if one["claims"]:
        yield _row("in context", "in reference", "by citation", "claim")
    for claim in one["claims"] or ():
        yield _row(claim["support"], claim["reference"], claim["cited"], claim["text"])
    if one["reference_claims"]:
        yield _row("in context", "in answer", None, "claim of the reference answer")
    for claim in one["reference_claims"] or ():
        yield _row(claim["context"], claim["answer"], None, claim["text"])
    for bad in one["outcomes"] or ():
        if bad["outcome"] != "ok":
            why = shortened(bad["reason"] or "", 70)
            yield f"  not judged: {bad['task']}, {bad['outcome']}: {why}"


def _row(context: str | None, other: str | None, cited: str | None, text: str) -> str:
    cells = f"{context or '–':<15}{other or '–':<17}{cited or '–':<12}"
    return f"  {cells}{shortened(text, CLAIM)}"
