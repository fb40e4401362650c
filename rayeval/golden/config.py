"""Which golden set to use."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rayeval.stage import StageConfig

Format = Literal["jsonl", "parquet", "csv"]
Split = Literal["train", "dev", "test", "regression"]


class Golden(StageConfig):
    """A golden set and the part of it that a run evaluates."""

    path: str = Field(min_length=1, description="a file, local or any pyarrow.fs URI")
    splits: list[Split] | None = Field(None, description="only questions of these; none: all")
    format: Format | None = Field(None, description="none: by the file's extension")
