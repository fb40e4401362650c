"""The stages of a pipeline, as far as metrics and first failures need to know them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rayeval.columns import combined


@dataclass(frozen=True)
class Arm:
    """One way of retrieval, and the columns with what it found."""

    name: str
    kind: Literal["lexical", "dense", "unknown"]
    depth: int | None
    """None: nobody knows how many it was to retrieve."""
    exact: str
    """The column of its exact search; a lexical arm's only one."""
    ann: str | None = None
    """The column of its approximate search, which then goes on to fusion."""
    sampled: bool = False
    """The exact search, beside an approximate one, runs on some of the questions only."""

    @property
    def output(self) -> str:
        """The column that goes on."""
        return self.ann or self.exact

    @property
    def stages(self) -> tuple[str, ...]:
        """Its columns, in order."""
        return (self.exact,) if self.ann is None else (self.exact, self.ann)


@dataclass(frozen=True)
class Later:
    """A stage that takes what earlier ones found."""

    name: str
    kind: Literal["fuse", "rerank", "context", "unknown"]


@dataclass(frozen=True)
class Pipeline:
    """Arms side by side, then one stage after another."""

    arms: tuple[Arm, ...] = ()
    later: tuple[Later, ...] = ()
    answers: tuple[str, ...] = ()
    """Of VARIANTS, those in which the questions were answered."""
    judged: tuple[str, ...] = ()
    """What a judge was asked of the answers."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage that a question has hits of, in order."""
        arms = (stage for arm in self.arms for stage in arm.stages)
        return *arms, *(stage.name for stage in self.later)

    @property
    def handed(self) -> tuple[str, ...]:
        """The stages whose hits are what an answer is given, if it doesn't say so itself."""
        outputs = tuple(arm.output for arm in self.arms)
        return (self.later[-1].name,) if self.later else outputs

    @property
    def sampled(self) -> frozenset[str]:
        """Stages that run on some of the questions only."""
        return frozenset(arm.exact for arm in self.arms if arm.sampled)

    def upstream(self, stage: str) -> tuple[str, ...]:
        """The stages whose failure explains that `stage` has nothing."""
        names = [later.name for later in self.later]
        if stage not in names:
            return ()
        return *(arm.output for arm in self.arms), *names[: names.index(stage)]

    def kind(self, stage: str) -> str:
        """What `stage` is: lexical, exact, ann, fuse, rerank, context, answer or unknown."""
        if stage in self.answers:
            return "answer"
        for arm in self.arms:
            if stage == arm.ann:
                return "ann"
            if stage == arm.exact:
                return "exact" if arm.kind == "dense" else arm.kind
        return next(later.kind for later in self.later if later.name == stage)


OK, ERROR, MISSING, NOT_RUN = range(4)
STATUSES = ("ok", "error", "missing", "not_run")
Codes = npt.NDArray[np.int64]


def outcomes(batch: pa.Table, pipeline: Pipeline) -> dict[str, Codes]:
    """How every stage went for every row, (n_rows,) codes of STATUSES.

    A stage without hits and without an error of its own has the error of a stage before it; else
    it was not run if only some questions are sampled, else it is missing.
    """
    failed = {stage: failed_rows(batch, stage) for stage in pipeline.stages}
    result = {}
    for stage in pipeline.stages:
        absent = np.asarray(combined(batch[stage]).is_null())
        upstream = np.any([failed[name] for name in (stage, *pipeline.upstream(stage))], axis=0)
        otherwise = NOT_RUN if stage in pipeline.sampled else MISSING
        codes = np.where(absent, np.where(upstream, ERROR, otherwise), OK)
        result[stage] = np.where(failed[stage], ERROR, codes)
    return result


def failed_rows(batch: pa.Table, stage: str) -> npt.NDArray[np.bool_]:
    """(n_rows,): which rows have an error in the column beside `stage`."""
    name = f"{stage}.error"
    if name not in batch.column_names:
        return np.zeros(batch.num_rows, bool)
    return np.asarray(combined(batch[name]).is_valid())
