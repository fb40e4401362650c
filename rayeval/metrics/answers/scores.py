"""The score of every question's best hit: does it say whether there is an answer? (DESIGN §7)"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Floats, combined, flatten
from rayeval.metrics.answers.separation import area, auroc, risk_coverage, threshold
from rayeval.metrics.spans import Bools
from rayeval.metrics.totals import SYNTHETIC
from rayeval.tables import TEXT

SCORES = pa.schema([("question_id", TEXT), ("stage", TEXT), ("score", pa.float64())])
"""The best hit's score at every stage that was run; −inf where nothing was found."""
FEWEST = 20
"""Questions of split dev of either kind without which no threshold is chosen: a slice takes that of
all, and all have none."""
POINTS = 200
"""Of a curve, at most."""
LOWEST, MIDDLE, HIGHEST = 0.1, 0.5, 0.9
_NUMBERS = [(name, pa.float64()) for name in (
    "answerable_p10", "answerable_p50", "answerable_p90",
    "unanswerable_p10", "unanswerable_p50", "unanswerable_p90", "auroc", "area", "threshold",
)]  # fmt: skip
THRESHOLDS = pa.schema(
    [
        ("stage", TEXT),
        ("slice", TEXT),  # null: all questions that count for means
        ("n_answerable", pa.int64()),
        ("n_unanswerable", pa.int64()),
        *_NUMBERS,
        ("calibrated_on", TEXT),  # slice | all: whose questions of split dev; null: too few
        ("n_dev", pa.int64()),  # questions of split dev among `calibrated_on`, or among all
        ("n_dev_unanswerable", pa.int64()),
        ("n_test", pa.int64()),
        ("right_refusal", pa.float64()),  # on split test, refusing below the threshold
        ("false_refusal", pa.float64()),
        ("accuracy", pa.float64()),
    ]
)
"""Of every stage and slice: the distributions, how well they part, the threshold and what it does
to questions that it was not chosen on."""
CURVES = pa.schema(
    [("stage", TEXT), ("threshold", pa.float64()), ("coverage", pa.float64()),
     ("risk", pa.float64())]
)  # fmt: skip
"""Risk–coverage over all questions that count for means, of each stage, thresholds descending."""


def top_scores(rows: pa.Table) -> pa.Table:
    """SCORES of trace rows (`question_id, stage, hits`); what has no scores or was not run has no
    row."""
    row, hits = flatten(rows["hits"])
    at = np.searchsorted(row, np.arange(rows.num_rows))
    empty = np.bincount(row, minlength=rows.num_rows) == 0
    scores = hits.field("score").take(pa.array(at, mask=empty)).to_numpy(zero_copy_only=False)
    known = np.asarray(combined(rows["hits"]).is_valid()) & (empty | ~np.isnan(scores))
    table = rows.select(["question_id", "stage"])
    table = table.append_column("score", pa.array(np.where(empty, -np.inf, scores)))
    return table.filter(pa.array(known)).cast(SCORES)


class TopScores:
    """A stage: columns of HITS → SCORES, by question and stage."""

    def __init__(self, stages: Sequence[str]) -> None:
        self.stages = tuple(stages)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question and stage that was run."""
        n, ids = batch.num_rows, batch["question_id"]
        tables = [SCORES.empty_table()]
        for stage in self.stages:
            names = pa.array([stage] * n, TEXT)
            columns = {"question_id": ids, "stage": names, "hits": batch[stage]}
            tables.append(top_scores(pa.table(columns)))
        return pa.concat_tables(tables)


class Separation:
    """Scores of answerable against unanswerable questions, gathered part by part.

    What goes wrong with a question is 1 where it is unanswerable, or the stage lacks some of its
    gold, and else 0; nobody knows of one without labels. At the stage `answer` it is what its
    answers that are no refusals are worth: 0 right, 0.5 partial, 1 wrong, 1 of an unanswerable
    question, against the score of the stage before. How well that score parts questions is the same
    for both: a question whose answers were all refused has a score, though nothing went wrong.
    """

    def __init__(self, stages: Sequence[str], handed: str | None) -> None:
        """handed: the stage whose best score goes with an answer."""
        self.stages, self.handed = tuple(stages), handed
        self._parts: list[pl.DataFrame] = []

    def add(
        self, scores: pa.Table, failures: pa.Table, questions: pa.Table, answers: pa.Table | None
    ) -> None:
        """Takes in SCORES, FAILURES and per-answer rows of `questions` (RESOLVED)."""
        asked = pl.DataFrame(questions.select(["question_id", "answerable", "split", "slices"]))
        asked = asked.drop_nulls("answerable").with_columns(  # of which nobody said, says nothing
            pl.col("slices").fill_null([]).list.unique(maintain_order=True),
        )
        reached = pl.DataFrame(failures.select(["question_id", "reached_stages"]))
        rows = pl.DataFrame(scores).join(asked, on="question_id", maintain_order="left")
        rows = rows.join(reached, on="question_id", how="left", maintain_order="left")
        whole = pl.col("reached_stages").list.contains(pl.col("stage")).cast(pl.Float64)
        rows = rows.with_columns(loss=pl.when("answerable").then(1 - whole).otherwise(1.0))
        kept = ["question_id", "stage", "score", "answerable", "split", "slices", "loss"]
        self._parts.append(rows.select(kept))
        if answers is not None and self.handed is not None:
            given = rows.filter(pl.col("stage") == self.handed).drop("loss", "stage")
            lost = given.join(
                _losses(answers, asked), on="question_id", how="left", maintain_order="left"
            )
            self._parts.append(lost.with_columns(stage=pl.lit("answer")).select(kept))

    def thresholds(self) -> pa.Table:
        """THRESHOLDS, by stage and slice, where there are questions of both kinds."""
        found = [row for stage, rows in self._stages() for row in _rows(stage, rows)]
        return pa.Table.from_pylist(found, schema=THRESHOLDS)

    def curves(self) -> pa.Table:
        """CURVES, by stage."""
        tables = [CURVES.empty_table()]
        for stage, every in self._stages():
            points = np.stack(_risk(_counting(every)))
            count = points.shape[1]
            few = np.unique(np.linspace(0, count - 1, min(POINTS, count)).round().astype(np.int64))
            columns = dict(zip(CURVES.names[1:], points[:, few], strict=True))
            names = pa.array([stage] * len(few), TEXT)
            tables.append(pa.table({"stage": names, **columns}).cast(CURVES))
        return pa.concat_tables(tables)

    def _stages(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """(stage, its rows by question) where there are any of unanswerable questions."""
        if not self._parts:
            return
        every = pl.concat(self._parts)
        for stage in (*self.stages, "answer"):
            rows = every.filter(pl.col("stage") == stage).sort("question_id")
            if _counting(rows)["answerable"].n_unique() == 2:
                yield stage, rows


def _losses(answers: pa.Table, asked: pl.DataFrame) -> pl.DataFrame:
    """`question_id, loss`: the mean over the answers that are none refused and known to be right
    or wrong."""
    rows = pl.DataFrame(answers.select(["question_id", "stage", "refused", "right"]))
    rows = rows.filter(pl.col("stage") == "answer", ~pl.col("refused"))
    rows = rows.join(asked.select("question_id", "answerable"), on="question_id")
    worth = pl.col("right").replace_strict({"right": 0.0, "partial": 0.5, "wrong": 1.0},
                                           default=None, return_dtype=pl.Float64)  # fmt: skip
    rows = rows.with_columns(loss=pl.when("answerable").then(worth).otherwise(1.0))
    return rows.drop_nulls("loss").group_by("question_id").agg(pl.col("loss").mean())


def _counting(rows: pl.DataFrame) -> pl.DataFrame:
    """The questions that count for means."""
    return rows.filter(~pl.col("slices").list.contains(SYNTHETIC))


def _rows(stage: str, every: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The row of all questions, then those of the slices with questions of both kinds."""
    whole = _counting(every)
    pooled = _calibrated(whole)
    yield {"stage": stage, "slice": None, **_row(whole, pooled, "all")}
    for name in every["slices"].explode().drop_nulls().unique().sort().to_list():
        rows = (every if name == SYNTHETIC else whole).filter(pl.col("slices").list.contains(name))
        if rows["answerable"].n_unique() < 2:
            continue
        own = _calibrated(rows)
        chosen, of = (pooled, "all") if math.isnan(own[0]) else (own, "slice")
        yield {"stage": stage, "slice": name, **_row(rows, chosen, of)}


def _risk(rows: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Over the questions of which it is known what goes wrong, where some are answerable."""
    known = rows.drop_nulls("loss")
    known = known if known["answerable"].any() else known.clear()
    return risk_coverage(known["score"].to_numpy(), known["loss"].to_numpy())


Chosen = tuple[float, int, int]
"""A threshold, NaN where there are too few; questions of split dev, and the unanswerable ones."""


def _calibrated(rows: pl.DataFrame) -> Chosen:
    """The threshold of the questions of split dev."""
    own = rows.filter(pl.col("split") == "dev")
    score, answerable = _arrays(own)
    none = int((~answerable).sum())
    enough = min(none, own.height - none) >= FEWEST
    return threshold(score, answerable) if enough else math.nan, own.height, none


def _row(rows: pl.DataFrame, chosen: Chosen, of: str) -> dict[str, Any]:
    limit, n_dev, none = chosen
    score, answerable = _arrays(rows)
    _, coverage, risk = _risk(rows)
    known = not math.isnan(limit)
    found: dict[str, Any] = {
        "n_answerable": int(answerable.sum()),
        "n_unanswerable": int((~answerable).sum()),
        "auroc": auroc(score, answerable),
        "area": area(coverage, risk),
        "threshold": limit,
        "calibrated_on": of if known else None,
        "n_dev": n_dev,
        "n_dev_unanswerable": none,
    }
    for kind, flags in (("answerable", answerable), ("unanswerable", ~answerable)):
        found |= _quantiles(kind, score[flags & np.isfinite(score)])
    test = rows.filter(pl.col("split") == "test")
    return found | _applied(limit, *_arrays(test))


def _applied(limit: float, score: Floats, answerable: Bools) -> dict[str, float]:
    """What refusing below the limit does."""
    refused = score < limit
    known = len(score) and not math.isnan(limit)
    return {
        "n_test": len(score),
        "right_refusal": _mean(refused[~answerable]) if known else math.nan,
        "false_refusal": _mean(refused[answerable]) if known else math.nan,
        "accuracy": _mean(refused != answerable) if known else math.nan,
    }


def _mean(flags: Bools) -> float:
    return float(flags.mean()) if len(flags) else math.nan


def _quantiles(kind: str, score: Floats) -> dict[str, float]:
    if not len(score):
        return {}
    values = np.quantile(score, (LOWEST, MIDDLE, HIGHEST)).tolist()
    return dict(zip((f"{kind}_p10", f"{kind}_p50", f"{kind}_p90"), values, strict=True))


def _arrays(rows: pl.DataFrame) -> tuple[Floats, Bools]:
    return rows["score"].to_numpy(), rows["answerable"].to_numpy()
