"""A judge's metric, people's labels of some of its verdicts, and what both together say."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from rayeval.calibration.labels import Paired
from rayeval.stats.ppi import powered

METRICS = {
    "support": "faithfulness",
    "reference": "claim_precision",
    "citations": "citation_correctness",
    "correctness": "answer_correctness",
    "relevance": "context_relevance",
}
"""Task → the metric that is a mean of its verdicts."""
WORTH = {
    "support": {"supported": 1.0},
    "reference": {"supported": 1.0},
    "citations": {"supported": 1.0},
    "correctness": {"correct": 1.0, "partial": 0.5},
    "relevance": {"1": 1 / 3, "2": 2 / 3, "3": 1.0},
}
"""Task → what a verdict adds to that metric; others nothing."""


def corrected(
    items: pl.DataFrame,
    answers: pl.DataFrame,
    per_query: pl.DataFrame,
    paired: Paired,
    task: str,
) -> dict[str, Any] | None:
    """The metric at stage `answer`: the judge's mean, people's, and prediction-powered (PPI++).

    items: those of the task (`items.SCHEMA`). answers, per_query: the run's tables. paired: what
    is labelled, verdicts or requests (a label of which is that of all its verdicts); weights are
    one over the chance with which a verdict was drawn.
    Returns None where the run hasn't the metric.
    """
    metric = METRICS[task]
    counted = _counted(per_query, metric)
    weighed = _parts(items, answers, counted, task)
    if weighed.is_empty():
        return None
    rows = pl.DataFrame({"item_id": paired.items, "place": paired.human, "weight": paired.weights})
    labels = rows.group_by("item_id", maintain_order=True).agg(
        pl.col("place").first(), probability=1 / pl.col("weight").sum()
    )
    known = _labelled(weighed, labels)
    worth = np.array([WORTH[task].get(label, 0.0) for label in paired.scale.labels])
    place = known["place"].fill_null(-1).to_numpy()
    parts = known["part"].to_numpy()
    whole = float(parts.sum())  # refusals are worth nothing, which nobody need be asked about
    verdicts = known["verdict"].replace_strict(WORTH[task], default=0.0, return_dtype=pl.Float64)
    found = powered(
        verdicts.to_numpy(),
        np.append(worth, np.nan)[place],
        known["probability"].fill_null(1.0).to_numpy(),
        np.unique(known["cluster"].to_numpy(), return_inverse=True)[1],
        parts=parts,
    )
    return {"metric": metric, **_scaled(asdict(found), whole)}


def _counted(per_query: pl.DataFrame, metric: str) -> pl.Series:
    """The questions that are in the metric's mean."""
    if metric not in per_query.columns:
        return pl.Series("question_id", [], dtype=pl.String)
    at = per_query.filter((pl.col("stage") == "answer") & pl.col(metric).is_not_nan())
    return at["question_id"]


def _parts(
    items: pl.DataFrame, answers: pl.DataFrame, counted: pl.Series, task: str
) -> pl.DataFrame:
    """The items of these questions with `part`: one over questions × tries × items of the try."""
    mine = items.filter(
        (pl.col("variant") == "answer") & pl.col("question_id").is_in(counted.implode())
    )
    tries = answers.filter(pl.col("variant") == "answer") if task == "correctness" else mine
    count = tries.group_by("question_id").agg(tries=pl.col("repeat").n_unique())
    size = pl.len().over("question_id", "repeat")
    found = mine.join(count, on="question_id", how="left", maintain_order="left")
    return found.with_columns(part=1 / (len(counted) * pl.col("tries") * size))


def _labelled(items: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The items with `place` and `probability` of their own label, else of their request's."""
    of_request = labels.rename(
        {"item_id": "request", "place": "place_request", "probability": "chance"}
    )
    found = items.join(labels, on="item_id", how="left", maintain_order="left").join(
        of_request, on="request", how="left", maintain_order="left"
    )
    copies = pl.len().over("request")
    return found.with_columns(
        place=pl.coalesce("place", "place_request"),
        probability=pl.coalesce("probability", pl.col("chance") * copies),
    )


def _scaled(found: dict[str, Any], whole: float) -> dict[str, Any]:
    """Means of items as the metric's; null where undefined."""
    scaled: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            scaled[name] = _scaled(value, whole)
        elif name in ("n", "labelled", "tuning"):
            scaled[name] = value
        else:
            scaled[name] = whole * value if np.isfinite(value) else None
    return scaled
