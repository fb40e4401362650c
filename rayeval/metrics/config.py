"""What is measured, at which cutoffs, and what counts as found."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, PositiveInt, model_validator

from rayeval.errors import ConfigError
from rayeval.metrics.answers.words import RULES
from rayeval.metrics.names import cutoff, parse
from rayeval.stage import StageConfig


def _cutoff(value: int | str) -> int | str:
    try:
        cutoff(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return value


def _name(value: str) -> str:
    try:
        parse(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return value


class ShortGold(StageConfig):
    """Short gold can be hit by accident: then the chunk must hold something besides it."""

    under: PositiveInt = Field(description="gold of fewer characters than this is short")
    need: Literal["heading", "context"] = Field(
        description="what the chunk must hold too: the nearest heading, or the text around the gold"
    )


class Metrics(StageConfig):
    """Which numbers are taken of every question at every stage."""

    VERSION: ClassVar[int] = 3

    cutoffs: list[Annotated[int | str, AfterValidator(_cutoff)]] = Field(
        [1, 5, 10, 20], min_length=1, description='hits (5), or a token budget ("1200tok")'
    )
    full: float = Field(
        0.8, gt=0, le=1, description="share of an evidence's characters that finds it"
    )
    partial: float = Field(0.2, gt=0, le=1, description="share that counts as partly there")
    relevant: int = Field(2, ge=1, le=3, description="evidence of this relevance or more is gold")
    gain: Literal["exponential", "linear"] = Field(
        "exponential", description="of a grade g in nDCG: 2^g - 1, or g itself"
    )
    short_gold: ShortGold | None = Field(None, description="stricter rule for short gold")
    names: list[Annotated[str, AfterValidator(_name)]] | None = Field(
        None,
        min_length=1,
        description="only these metrics (docs/metrics.md); by default all, at every cutoff",
    )

    @property
    def depth(self) -> int:
        """How many hits they look at; what they count in tokens aside."""
        sizes = [name.partition("@")[2] for name in self.names or () if "@" in name]
        cuts = [cutoff(size) for size in (sizes or self.cutoffs)]
        return max((cut.size for cut in cuts if not cut.tokens), default=20)

    def identity(self) -> dict[str, Any]:
        """Settings, and by which rules texts become words."""
        return {**super().identity(), "words": RULES}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.partial > self.full:
            raise ValueError(
                f"partial ({self.partial}) is above full ({self.full}): nothing could be partly "
                "there. Lower partial or raise full."
            )
        return self
