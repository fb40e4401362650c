"""Where and how wide: never part of a result's identity."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt


class Placement(BaseModel):
    """Workers, shards and batches. Any choice gives the same bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workers: PositiveInt = Field(1, description="processes (or Ray workers) that share a step")
    shards: PositiveInt = Field(1, description="parts of every exact index, each held by one actor")
    batch: PositiveInt = Field(64, description="rows that a stage is called with at once")
    cpus: PositiveFloat = Field(1.0, description="CPUs that Ray reserves for a worker")
    gpus: NonNegativeFloat = Field(0.0, description="GPUs that Ray reserves for a model's worker")
    runtime_env: dict[str, Any] = Field(
        {}, description="Ray's runtime_env of a model's worker, for an environment of its own"
    )
