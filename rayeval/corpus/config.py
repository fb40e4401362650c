"""What the user says about the documents."""

from __future__ import annotations

from datetime import datetime
from importlib.metadata import version
from typing import Any, Literal

from pydantic import Field, field_validator

from rayeval.corpus.dates import instant
from rayeval.stage import StageConfig


class Corpus(StageConfig):
    """Where the documents lie, and at which time the pipeline looks at them."""

    path: str = Field(
        min_length=1, description="a folder of documents, or a JSON Lines or Parquet file"
    )
    as_of: datetime | None = Field(
        None, description="revisions are chosen as at this time; a date is its start in UTC"
    )
    include: list[str] | None = Field(
        None,
        description="read only what matches one of these globs below the folder: "
        "* within a name, ** over folders",
    )

    @field_validator("as_of", mode="before")
    @classmethod
    def _in_utc(cls, value: object) -> datetime | None:
        """Numbers are refused: 20260801 would be read as seconds since 1970."""
        try:
            return None if value is None else instant(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{value!r} is no date such as 2026-08-01: {error}") from error


class Parse(StageConfig):
    """How documents become elements; Markdown and text have nothing to choose."""

    html: Literal["source"] = Field(
        "source", description="offsets count in the HTML source as it is stored"
    )

    def identity(self) -> dict[str, Any]:
        """The version of the Markdown parser decides the output too."""
        return {**super().identity(), "markdown_it": version("markdown-it-py")}
