"""The page of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rayeval.report.gold import RANKS, gold_ranks
from rayeval.report.overview import Overview, overview
from rayeval.report.page import details as parts
from rayeval.report.page.answers import answers_of
from rayeval.report.page.movement import between, movement
from rayeval.report.page.outcomes import outcomes, troubled
from rayeval.report.page.passages import Passages
from rayeval.report.page.questions import MOST, chosen, coded, endings, question_columns
from rayeval.report.page.sentence import run_sentence
from rayeval.report.page.shell import page
from rayeval.report.slices import telling
from rayeval.report.tables import Tables, answered_stages

COST = {"embedded_tokens": "tokens embedded", "reranked_pairs": "pairs reranked",
        "context_tokens": "tokens of context", "prompt_tokens": "tokens read",
        "completion_tokens": "tokens written"}  # fmt: skip
"""Counters of latency.parquet, in words."""
FAILED = ("failed", "error", "missing")


def run_page(run: Tables, facts: Overview | None = None) -> bytes:
    """A run as one HTML file; the same run gives the same bytes. facts: where they are known."""
    facts = facts or overview(run)
    ends = run.select("failures", ["question_id", "status", "stage"])
    bad = ends.filter(pl.col("status").is_in(FAILED))["question_id"].sort().to_list()
    ranks = ranks_of(run, bad)
    sentence = run_sentence(ends, ranks)
    first = list(dict.fromkeys([*bad, *troubled(run)]))
    rows, total = chosen(run, first)
    texts = Passages()
    ids = detailed(rows, total, [*sentence.questions, *first])
    ids = ids if readable(run, ids) else []
    side = side_of(run, facts, rows, parts.details(run, ids, ranks, texts), "this run")
    data = {
        "kind": "run",
        "behind": sentence.questions[:100],
        "total": total,
        "counts": f"{facts.counts}; {facts.corpus}.",
        "next": facts.next,
        "warnings": facts.warnings,
        "headroom": headroom(run, facts),
        "questions": question_columns(rows),
        "sides": [side],
        "passages": texts.rows,
        "movement": movement(between(ranks, main_line(run))),
        "madeOf": made_of(run),
    }
    return page(facts.title, sentence.text, data)


def ranks_of(run: Tables, bad: Sequence[str]) -> pl.DataFrame:
    """Gold ranks of all questions, or of a part of those that failed where there are too many."""
    ids = run.select("questions", ["question_id"])["question_id"].to_list()
    ids = ids if len(ids) <= MOST else list(bad)[: parts.SOME]
    return gold_ranks(run, ids, run.manifest["stages"]) if ids else pl.DataFrame(schema=RANKS)


def readable(run: Tables, ids: Sequence[str]) -> bool:
    """Whether the run kept what its stages found, or answers; one scored as trec_eval does may not
    have."""
    return bool(answered_stages(run)) or not run.rows("trace", "question_id", ids[:1]).is_empty()


def detailed(rows: pl.DataFrame, total: int, first: Sequence[str]) -> list[str]:
    """Which questions have a page of their own."""
    if total <= parts.ALL:
        return rows["question_id"].to_list()
    return list(dict.fromkeys(first))[: parts.SOME]


def side_of(
    run: Tables, facts: Overview, rows: pl.DataFrame, found: dict[str, Any], called: str
) -> dict[str, Any]:
    """One run as the page's scripts know it. rows: the questions that the page holds."""
    walked = [stage for stage, _ in facts.bounds]
    return {
        "run": run.run_id,
        "called": called,
        "walked": walked,
        "stages": list(facts.stages),
        **_ends(run, rows["question_id"], walked),
        "answers": answers_of(run),
        "counted": facts.counted,
        "there": facts.there,
        "bounds": [list(bound) for bound in facts.bounds],
        "answerable": facts.answerable,
        "denominators": facts.denominators,
        "status": facts.status,
        "population": facts.population,
        "shown": list(facts.shown),
        "means": [
            [stage, metric, cell.mean, cell.n, cell.n_error]
            for (stage, metric), cell in facts.means.items()
            if metric in facts.shown
        ],
        "slices": slices(run, facts),
        "latency": [list(row) for row in facts.latency],
        "depths": depths(run, walked),
        "details": found,
    }


def _ends(run: Tables, ids: pl.Series, walked: Sequence[str]) -> dict[str, Any]:
    """How these questions and their answers ended, as columns."""
    ended = endings(run, ids.to_list(), walked)
    answered = ids.to_frame().join(
        outcomes(run), on="question_id", how="left", maintain_order="left"
    )
    return {
        "ended": coded(ended["ended"]),
        "lostAt": coded(ended["stage"]),
        "marks": ended["marks"].to_list(),
        "outcome": coded(answered["outcome"]),
    }


def headroom(run: Tables, facts: Overview) -> list[dict[str, Any]]:
    """Per stage, in order: the questions whose gold it is the first to lose, and what it takes."""
    by_stage: dict[str, list[str]] = {}
    for item in facts.lost:
        by_stage.setdefault(str(item.stage), []).extend(item.questions)
    times = {row[0]: row for row in facts.latency}
    spent = _cost(run)
    order = [stage for stage, _ in facts.bounds if stage in by_stage or stage in times]
    return [
        {
            "stage": stage,
            **_listed(sorted(by_stage.get(stage, []))),
            "ms": times[stage][2] if stage in times else None,
            "p95": times[stage][3] if stage in times else None,
            "mode": times[stage][1] if stage in times else None,
            "cost": spent.get(stage, ""),
        }
        for stage in order
    ]


def _listed(lost: Sequence[str]) -> dict[str, Any]:
    """As many as a page lists, and their number where it is larger."""
    return {"lost": lost[:MOST], **({"all": len(lost)} if len(lost) > MOST else {})}


def _cost(run: Tables) -> dict[str, str]:
    """What a question costs at each stage on average, in words."""
    known = run.columns("latency")
    names = [name for name in COST if name in known]
    means = run.select("latency", ["stage", *names]).group_by("stage").agg(pl.col(names).mean())
    return {
        row["stage"]: ", ".join(
            f"{row[name]:,.0f} {COST[name]}" for name in names if row[name]
        )
        for row in means.iter_rows(named=True)
    }  # fmt: skip


def slices(run: Tables, facts: Overview, most: int = 200) -> list[list[Any]]:
    """[slice, stage, metric, mean, n] of the metrics shown; the largest slices."""
    rows = telling(run).filter(pl.col("metric").is_in(facts.shown))
    sizes = rows.group_by("slice").agg(pl.col("n").max()).filter(pl.col("n") > 0)
    names = sizes.sort("n", "slice", descending=[True, False]).head(most)["slice"].sort()
    rows = rows.filter(pl.col("slice").is_in(names.to_list()))
    return [list(row) for row in rows.select("slice", "stage", "metric", "mean", "n").iter_rows()]


def depths(run: Tables, walked: Sequence[str]) -> dict[str, int]:
    """Stage → how many hits it keeps at most, where the configuration says so."""
    config = run.manifest.get("config") or {}
    found: dict[str, int | None] = {}
    for name, arm in ((config.get("retrieve") or {}).get("arms") or {}).items():
        found |= dict.fromkeys((name, f"{name}_exact", f"{name}_ann"), arm.get("depth"))
    for stage, part in (("fused", "fuse"), ("reranked", "rerank"), ("context", "context")):
        found[stage] = (config.get(part) or {}).get("depth")
    return {stage: depth for stage, depth in found.items() if depth and stage in walked}


def main_line(run: Tables) -> list[str]:
    """The stages in a row after the arms part: gold moves from one to the next."""
    stages = [str(stage) for stage in run.manifest["stages"]]
    arms = ((run.manifest.get("config") or {}).get("retrieve") or {}).get("arms") or {}
    before = {name + end for name in arms for end in ("", "_exact", "_ann")}
    after = [stage for stage in stages if stage not in before]
    first = [stage for stage in stages if stage in before]
    return first[-1:] + after if len(arms) == 1 else after


def made_of(run: Tables) -> list[str]:
    """What the run was made of, for the page's foot."""
    manifest = run.manifest
    golden = (manifest.get("golden") or {}).get("sha256") or ""
    lines = [f"golden set {golden[:12]}"] if golden else []
    lines += [f"{name}: {text}" for name, text in manifest["models"].items()]
    started = str(manifest.get("started") or "")
    return [*lines, *([f"started {started}"] if started else [])]
