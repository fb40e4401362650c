"""The facts of a run that every report shows, whatever it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.answer_tables import VARIANTS
from rayeval.report.advice import advice, unlabelled, unscored
from rayeval.report.answered import answered
from rayeval.report.ended import Asked, Lost, asked, ended
from rayeval.report.errors import most_said
from rayeval.report.favoured import asked_for
from rayeval.report.lacking import lacking
from rayeval.report.shown import Shown
from rayeval.report.slices import telling
from rayeval.report.tables import Tables
from rayeval.report.trust import trust_text
from rayeval.words import plural

MODES = {"foreign": "as traced"}
"""Modes of latency that are called otherwise where people read them."""


@dataclass(frozen=True)
class Cell:
    """A mean and what stands behind it."""

    mean: float
    n: int
    n_error: int


@dataclass(frozen=True)
class Overview:
    """One run at a glance."""

    title: str
    counts: str
    corpus: str
    lacking: tuple[str, ...]
    """The questions that the trace lacks, where it does."""
    models: tuple[str, ...]
    stages: tuple[str, ...]
    population: str
    """What the means are over."""
    shown: tuple[str, ...]
    more: int
    """Metrics of hits that are not shown."""
    """Metrics worth a column."""
    means: dict[tuple[str, str], Cell]
    """(stage, metric)."""
    slices: tuple[tuple[str, int, tuple[float, ...]], ...]
    """(slice, questions, the shown metrics at the last stage); no slice of all questions."""
    bounds: tuple[tuple[str, int], ...]
    """(stage, answerable questions whose gold is all still there)."""
    answerable: int
    denominators: str
    """Why those shares are of other questions than the means; empty where they are of the same."""
    status: dict[str, int]
    answers: tuple[Shown, ...]
    """What answers are worth; none where nothing was answered."""
    trust: tuple[str, ...]
    """How far people agree with the judge, a line per task; none without one."""
    lost: tuple[Lost, ...]
    latency: tuple[tuple[str, str, float, float, int], ...]
    """(stage, mode, median ms, 95th percentile ms, questions)."""
    warnings: tuple[str, ...]
    unscored: tuple[str, ...]
    """What is to be said of questions that ended in an error or that the trace lacks."""
    next: tuple[str, ...]

    @property
    def to_answers(self) -> bool:
        """Whether questions are followed to their answers, where no gold is lost any more."""
        return any(stage == VARIANTS[0] for stage, _ in self.bounds)

    @property
    def there(self) -> str:
        """What it is to come through a stage."""
        return "all gold there" + (", at answer no fault found" if self.to_answers else "")

    @property
    def counted(self) -> str:
        """The questions that `bounds` count."""
        told = ", and at answer those without a fault found" if self.to_answers else ""
        return f"whose gold is all still there{told}"


def overview(run: Tables) -> Overview:
    """The facts of `run`."""
    stages = tuple(run.manifest["stages"])
    of_hits = run.aggregate.filter(pl.col("stage").is_in(stages))
    measured = of_hits["metric"].unique(maintain_order=True).to_list()
    shown = asked_for(measured, run.manifest["config"]["metrics"].get("names"))
    end, golden = ended(run), asked(run)
    bad = unscored(run.run_id, end.error, end.missing, most_said(run) if end.error else None)
    return Overview(
        title=f"{run.manifest['name']} · {run.run_id}",
        counts=_counts(golden),
        corpus=_corpus(run.manifest),
        lacking=tuple(lacking(run, golden.questions)),
        models=tuple(f"{name}: {text}" for name, text in run.manifest["models"].items()),
        stages=stages,
        population=_population(golden),
        shown=shown,
        more=len(measured) - len(shown),
        means=_means(run.aggregate),
        slices=_slices(telling(run), stages[-1], shown),
        bounds=end.bounds,
        answerable=end.answerable,
        denominators=_denominators(end.status, golden.aside),
        status=end.status,
        answers=answered(run),
        trust=tuple(trust_text(run)),
        lost=end.lost,
        latency=_latency(run.select("latency", ["stage", "mode", "latency_ms"]), stages),
        warnings=tuple(run.manifest["warnings"]),
        unscored=bad,
        next=bad
        + advice([(item.code, item.questions) for item in end.lost])
        + unlabelled(run.run_id, golden.unlabelled),
    )


def _corpus(manifest: Mapping[str, Any]) -> str:
    """Several revisions of one source are told apart from several sources; a scored run need not
    have any, and knows no chunk but those that its hits are."""
    corpus = manifest["corpus"]
    if corpus.get("path", "") is None:
        return "no corpus"
    documents, sources = corpus["documents"], corpus.get("sources")
    of = f" of {plural(sources, 'source')}" if sources not in (None, documents) else ""
    chunks = "passage among the hits" if "trace" in manifest else "chunk"
    many = "passages among the hits" if "trace" in manifest else "chunks"
    return f"{plural(documents, 'document')}{of}, {plural(corpus['chunks'], chunks, many)}"


def _counts(golden: Asked) -> str:
    told = f" ({golden.forbidden} of them for lack of access)" if golden.forbidden else ""
    open_ = len(golden.unlabelled) - golden.unsaid
    waiting = f" ({open_} of them not labelled yet)" if open_ else ""
    unsaid = f", {golden.unsaid} not labelled yet" if golden.unsaid else ""
    return (
        f"{plural(golden.questions, 'question')}: {golden.answerable} answerable{waiting}, "
        f"{golden.questions - golden.answerable - golden.unsaid} not{told}{unsaid}"
    )


def _denominators(status: Mapping[str, int], aside: int) -> str:
    """What the means leave out, or count otherwise, of the questions that the shares are of."""
    error, missing = status["error"], status["missing"]
    out = [f"{error} with an error"] if error else []
    out += [f"{aside} synthetic and not validated"] if aside else []
    told = [f"leave out {' and '.join(out)}"] if out else []
    told += [f"count {missing} missing as their worst value"] if missing else []
    if not told:
        return ""
    return (
        f"Shares are of all {plural(sum(status.values()), 'question')}; means {', and '.join(told)}"
    )


def _population(golden: Asked) -> str:
    """What the means are over."""
    aside = golden.aside
    told = f", {plural(aside, 'synthetic, unvalidated one')} aside" if aside else ""
    return f"Means over answerable questions{told}"


def _means(aggregate: pl.DataFrame) -> dict[tuple[str, str], Cell]:
    rows: Any = aggregate.iter_rows(named=True)
    return {
        (row["stage"], row["metric"]): Cell(
            float("nan") if row["mean"] is None else row["mean"], row["n"], row["n_error"]
        )
        for row in rows
    }


def _slices(
    slices: pl.DataFrame, stage: str, shown: Sequence[str]
) -> tuple[tuple[str, int, tuple[float, ...]], ...]:
    here = slices.filter(pl.col("stage") == stage)
    found = []
    for (name,), rows in here.group_by("slice", maintain_order=True):
        means = dict(rows.select("metric", "mean").iter_rows())
        counts = dict(rows.select("metric", "n").iter_rows())
        n = max((counts.get(metric, 0) for metric in shown), default=0)
        if n:
            values = (means.get(metric) for metric in shown)
            found.append((str(name), n, tuple(float("nan") if v is None else v for v in values)))
    return tuple(found)


def _latency(
    latency: pl.DataFrame, stages: Sequence[str]
) -> tuple[tuple[str, str, float, float, int], ...]:
    if "serial" in latency["mode"]:
        latency = latency.filter(pl.col("mode") == "serial")
    found = []
    for stage in (*stages, "answer", "retrieval", "end_to_end"):
        rows = latency.filter(pl.col("stage") == stage, pl.col("latency_ms").is_not_null())
        if rows.height:
            times = rows["latency_ms"]
            median, high = times.quantile(0.5, "linear"), times.quantile(0.95, "linear")
            found.append(
                (
                    stage,
                    MODES.get(rows["mode"][0], rows["mode"][0]),
                    float(median or 0),
                    float(high or 0),
                    rows.height,
                )
            )
    return tuple(found)
