"""What is scored, and how: kept in the run's `plan.json`."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rayeval.answer.refusals import Counted
from rayeval.chunk.tokens import Tokenizer, Words
from rayeval.corpus.config import Corpus, Parse
from rayeval.errors import ConfigError
from rayeval.execution.placement import Placement
from rayeval.golden.config import Golden
from rayeval.judge.config import Judge
from rayeval.metrics.config import Metrics

Role = Literal["arm", "fused", "reranked", "context"]
"""What a stage does."""
ROLES: tuple[Role, ...] = get_args(Role)
"""In the order in which a pipeline has them."""


class TraceInput(BaseModel):
    """The trace as the user named it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paths: list[str] = Field(min_length=1, description="its files")
    label: str | None = Field(None, description="what messages call it; none: its paths")
    format: str | None = Field(None, description="the tool that wrote it; none: rayeval's own")
    any_order: bool = Field(False, description="order hits by score, however they are listed")
    roles: dict[str, Role] = Field({}, description="what stages do whose names don't say so")
    refusals: Counted = Field(
        "whole", description="answers that are refusals where the trace doesn't say"
    )
    keep: bool = Field(False, description="keep all hits in the run, not only the first")

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.label or ", ".join(self.paths)


class ScoreConfig(BaseModel):
    """What `rayeval score` scores. Paths are absolute."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("score", pattern=r"^[\w.-]+$", description="part of the run's id")
    golden: Golden
    trace: TraceInput
    corpus: Corpus | None = None
    parse: Parse = Parse()
    chunks: list[str] = []
    tokenizer: Tokenizer = Words()
    metrics: Metrics = Metrics()
    judge: Judge | None = None
    placement: Placement = Placement(batch=1024)


def score_config(values: dict[str, Any]) -> ScoreConfig:
    """The configuration, or a ConfigError that lists everything wrong with it."""
    try:
        return ScoreConfig.model_validate(values)
    except ValidationError as error:
        lines = []
        for one in error.errors(include_url=False):
            place = ".".join(str(part) for part in one["loc"])
            lines.append(f"{place}: {one['msg'].removeprefix('Value error, ')}")
        raise ConfigError("\n".join(lines)) from error
