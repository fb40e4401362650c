"""How documents are cut."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from rayeval.stage import StageConfig

Unit = Literal["chars", "words", "tokens"]


class _Sized(StageConfig):
    size: PositiveInt = Field(description="how long a chunk may be, in units")
    overlap: NonNegativeInt = Field(0, description="how much of a chunk the next one repeats")
    unit: Unit = Field(
        "chars",
        description="chars: code points; words: between white space; tokens: by the tokenizer",
    )

    @model_validator(mode="after")
    def _moves_on(self) -> Self:
        if self.overlap >= self.size:
            raise ValueError(
                f"overlap is {self.overlap} and size {self.size}: each chunk would begin no later "
                "than the one before; overlap must be smaller than size"
            )
        return self


class Fixed(_Sized):
    """Windows of one length, whatever they cut through."""

    kind: Literal["fixed"] = "fixed"


class Structure(_Sized):
    """Sections under their headings, filled up with whole blocks; no table row is ever cut."""

    kind: Literal["structure"] = "structure"


Chunk = Annotated[Fixed | Structure, Field(discriminator="kind")]
