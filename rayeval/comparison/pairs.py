"""Questions of two runs, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.errors import PairingError
from rayeval.metrics.answers.per_answer import UNJUDGED
from rayeval.metrics.totals import SYNTHETIC
from rayeval.report.lacking import absent
from rayeval.report.tables import Tables, measured_stages
from rayeval.words import plural

Bools = npt.NDArray[np.bool_]
NEEDED = ["question_id", "cluster", "slices", "answerable"]
"""All that is known of a question here."""


@dataclass(frozen=True)
class Side:
    """One run's values, in the order of the shared questions."""

    run: Tables
    ids: pl.Series

    def values(self, stage: str, metrics: Sequence[str]) -> Floats:
        """(n_questions, n_metrics); NaN where undefined, failed or absent."""
        return self._rows(stage, metrics).select(pl.col(metrics).fill_null(np.nan)).to_numpy()

    def without_value(self, stage: str, metric: str) -> tuple[Bools, Bools]:
        """Which rows have an error, a judge's of this metric among them, and which are missing
        without a worst value."""
        told = [UNJUDGED] if UNJUDGED in self.run.columns("per_query") else []
        rows = self._rows(stage, [metric, "status", *told])
        value = rows[metric].fill_null(np.nan).is_nan()
        status = rows["status"].fill_null("missing")
        failed = status == "error"
        if told:
            failed |= rows[UNJUDGED].list.contains(metric).fill_null(False)
        return failed.to_numpy(), ((status == "missing") & value).to_numpy()

    def _rows(self, stage: str, columns: Sequence[str]) -> pl.DataFrame:
        mine = self.run.select("per_query", ["question_id", *columns], stage)
        asked = pl.DataFrame({"question_id": self.ids})
        return asked.join(mine, on="question_id", how="left", maintain_order="left")


@dataclass(frozen=True)
class Pairs:
    """The questions that both runs were asked, by id."""

    base: Side
    new: Side
    questions: pl.DataFrame
    """Of the new run: question_id, cluster, slices, answerable."""
    lost: tuple[str, ...]
    """Only in the baseline."""
    added: tuple[str, ...]
    """Only in the new run."""
    shared: bool = False
    """A question that the trace of either run lacks is none of that run's."""

    @cached_property
    def clusters(self) -> Ints:
        """(n_questions,), numbered in the order of the sorted cluster ids."""
        names = self.questions["cluster"].fill_null(self.questions["question_id"])
        known = pl.DataFrame({"name": names.unique().sort()}).with_row_index("code")
        found = pl.DataFrame({"name": names}).join(known, on="name", maintain_order="left")
        codes: Ints = found["code"].to_numpy().astype(np.int64)
        return codes

    @cached_property
    def slices(self) -> tuple[str, ...]:
        """Every slice's name, sorted."""
        return tuple(self.questions["slices"].explode().drop_nulls().unique().sort().to_list())

    def inside(self, slice_: str | None) -> Bools:
        """The questions of a slice; without one, all that count for means (DESIGN §3)."""
        names = self.questions["slices"]
        if slice_ is not None and slice_ != SYNTHETIC:
            chosen = names.list.contains(slice_) & ~names.list.contains(SYNTHETIC)
        elif slice_ == SYNTHETIC:
            chosen = names.list.contains(SYNTHETIC)
        else:
            chosen = ~names.list.contains(SYNTHETIC)
        return chosen.fill_null(False).to_numpy()

    @cached_property
    def stages(self) -> tuple[str, ...]:
        """Those of both, in the new run's order."""
        before = set(measured_stages(self.base.run))
        return tuple(stage for stage in measured_stages(self.new.run) if stage in before)

    def metrics(self, stage: str) -> tuple[str, ...]:
        """Those that both runs measured at a stage."""
        before = measured(self.base.run, stage)
        return tuple(name for name in measured(self.new.run, stage) if name in before)


def measured(run: Tables, stage: str) -> tuple[str, ...]:
    """The metrics of a stage, in order."""
    rows = run.aggregate.filter(pl.col("stage") == stage)
    return tuple(rows["metric"].to_list())


def pair(base: Tables, new: Tables, *, shared: bool = False) -> Pairs:
    """The questions of both runs.

    shared: compare on those that both have, and the traces of both, rather than refusing.
    Raises PairingError for different sets of questions, or none in common.
    """
    before = base.select("questions", ["question_id"])["question_id"]
    questions = new.select("questions", NEEDED)
    after = questions["question_id"]
    if shared:
        before, after = (ids.filter(~ids.is_in(absent(run).implode()))
                         for ids, run in ((before, base), (after, new)))  # fmt: skip
    lost = before.filter(~before.is_in(after.implode())).unique().sort().to_list()
    added = after.filter(~after.is_in(before.implode())).unique().sort().to_list()
    both = after.filter(after.is_in(before.implode()))
    questions = questions.filter(pl.col("question_id").is_in(both.implode())).sort("question_id")
    if (lost or added) and not shared:
        raise PairingError(_different(base, new, lost, added, questions.height))
    if questions.is_empty():
        raise PairingError(f"runs {new.run_id} and {base.run_id} have no question in common")
    ids = questions["question_id"]
    return Pairs(Side(base, ids), Side(new, ids), questions, tuple(lost), tuple(added), shared)


def _different(
    base: Tables, new: Tables, lost: Sequence[str], added: Sequence[str], both: int
) -> str:
    parts = [f"run {new.run_id} and baseline {base.run_id} share {plural(both, 'question')}"]
    for where, names in (("baseline", lost), ("new run", added)):
        if names:
            more = ", …" if len(names) > 3 else ""
            parts.append(f"{len(names)} only in the {where}: {', '.join(names[:3])}{more}")
    return "; ".join(parts) + ". Compare on the shared ones with `--on shared`, or run both again."
