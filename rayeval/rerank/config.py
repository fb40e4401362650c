"""Settings of the reranker."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from rayeval.stage import StageConfig
from rayeval.words import plural, verb


class Fit(StageConfig):
    """A cross-encoder fitted once on the golden set's own questions, then kept."""

    kind: Literal["fit"] = "fit"
    base: str = Field(description="the model to start from, named as `model` is")
    split: Literal["train"] = Field("train", description="the questions it learns from")
    epochs: PositiveInt = Field(1, description="times that every pair is seen")
    learning_rate: PositiveFloat = Field(1e-4, description="at its highest")
    seed: int = Field(42, ge=0, lt=2**31, description="of order and dropout")


class CrossEncoder(StageConfig):
    """A transformer that reads question and candidate as one text."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"device"})

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str | Fit = Field(
        description="a folder, package:module/folder, name@revision on the hub, or a Fit"
    )
    candidates: PositiveInt = Field(20, description="best hits that are scored, per question")
    depth: PositiveInt = Field(10, description="hits kept of these, per question")
    max_tokens: PositiveInt | None = Field(
        None, description="longer pairs are cut; default: the model's limit, never exceeded"
    )
    device: str = Field("cpu", description="as torch names it: cpu, cuda, cuda:1, mps")
    threads: PositiveInt = Field(2, description="CPU threads; they can change a score's last bits")
    batch: PositiveInt = Field(8, description="pairs computed at once; as `threads`")

    @model_validator(mode="after")
    def _enough_candidates(self) -> CrossEncoder:
        if self.depth > self.candidates:
            raise ValueError(
                f"depth is {self.depth}, but only {plural(self.candidates, 'candidate')} "
                f"{verb(self.candidates, 'is', 'are')} scored: "
                f"raise `candidates` or lower `depth`"
            )
        return self

    def identity(self) -> dict[str, Any]:
        """With a fitted model's own identity."""
        fitted = self.model.identity() if isinstance(self.model, Fit) else self.model
        return {**super().identity(), "model": fitted}
