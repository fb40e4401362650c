"""Settings of chat models: an endpoint that speaks OpenAI's protocol, or an engine of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from rayeval.live.address import address, check_headers
from rayeval.live.config import Version
from rayeval.models import PACKAGE, model_path
from rayeval.stage import StageConfig


class Prices(BaseModel):
    """What tokens cost, in US dollars per million."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input_per_million: NonNegativeFloat
    output_per_million: NonNegativeFloat


class Budget(BaseModel):
    """What a step may spend; what is left over then is an error of its row."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_cost_usd: PositiveFloat | None = Field(None, description="needs `prices`")
    max_tokens: PositiveInt | None = Field(None, description="of prompts and completions together")


class Chat(StageConfig):
    """What every chat model has."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"prices", "budget"})

    model: str = Field(description="as the endpoint calls it; or a folder or name for vLLM")
    revision: Version | None = Field(None, description="of the model; another one is asked anew")
    temperature: NonNegativeFloat = 0.0
    top_p: float = Field(1.0, gt=0, le=1)
    seed: int | None = Field(42, description="sent along; no promise of equal replies")
    max_completion_tokens: PositiveInt = Field(512, description="of one reply")
    prices: Prices | None = None
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _can_count_cost(self) -> Self:
        if self.budget.max_cost_usd is not None and self.prices is None:
            raise ValueError(
                "budget.max_cost_usd needs prices: {input_per_million, output_per_million}"
            )
        return self


def _base(url: str) -> str:
    """The address below which `/chat/completions` lies."""
    bare = address(url).rstrip("/")
    if bare.endswith("/chat/completions"):
        raise ValueError(f"{url!r}: leave out /chat/completions, which is put after it")
    return bare


class OpenAI(Chat):
    """An endpoint that speaks OpenAI's chat protocol: vLLM, Ray Serve LLM, a hosted one."""

    PLACEMENT: ClassVar[frozenset[str]] = Chat.PLACEMENT | {
        "headers",
        "requests_per_minute",
        "tokens_per_minute",
        "concurrency",
        "deadline_s",
        "retries",
    }

    kind: Literal["openai"] = "openai"
    url: Annotated[str, AfterValidator(_base)] = Field(
        pattern=r"^https?://[^@/?#]+(/[^?#]*)?$", description="e.g. http://127.0.0.1:8000/v1"
    )
    headers: dict[str, str] = Field(
        {}, description="values may hold ${NAME}, which stands in the environment"
    )
    requests_per_minute: PositiveFloat | None = Field(
        None, description="at most, of all who ask this model there over one store"
    )
    tokens_per_minute: PositiveFloat | None = Field(None, description="as requests_per_minute")
    concurrency: PositiveInt = Field(8, description="requests under way at once")
    deadline_s: PositiveFloat = Field(60.0, description="for one request, all of its reply")
    retries: int = Field(4, ge=0, description="further tries after 429, 5xx or no reply in time")

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        check_headers(self.headers)
        return self


class Vllm(Chat):
    """vLLM's own engine on the worker, on a GPU where placement has one."""

    PLACEMENT: ClassVar[frozenset[str]] = Chat.PLACEMENT | {
        "gpu_memory_utilization",
        "enforce_eager",
    }

    kind: Literal["vllm"] = "vllm"
    dtype: str = Field("auto", description="as vLLM calls it")
    max_model_len: PositiveInt | None = Field(None, description="tokens; default: the model's own")
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    enforce_eager: bool = False

    def located(self) -> tuple[str, str]:
        """The model's folder, and its revision: the declared one, else a digest of its files.

        Raises ModelError if there is no such model.
        """
        local = self.model.startswith(PACKAGE) or Path(self.model).expanduser().exists()
        if self.revision is not None and not local:
            return model_path(f"{self.model}@{self.revision}")
        folder, found = model_path(self.model)
        return folder, self.revision or found

    def identity(self) -> dict[str, Any]:
        """With the model's revision instead of its place."""
        identity = super().identity()
        del identity["model"]
        return {**identity, "revision": self.located()[1]}


ChatModel = Annotated[OpenAI | Vllm, Field(discriminator="kind")]
