"""Settings of a judge: a chat model, what it is asked, and by which prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from rayeval.chat.config import Chat, OpenAI, Vllm
from rayeval.chat.prompt import Prompt
from rayeval.judge import prompts

TaskName = Literal["claims", "support", "reference", "correctness", "citations", "relevance"]
TASKS: tuple[TaskName, ...] = (
    "claims", "support", "reference", "correctness", "citations", "relevance",
)  # fmt: skip
ON_CLAIMS = frozenset({"support", "reference", "citations"})
"""Tasks that judge claims, and so need them extracted."""


class Twice(BaseModel):
    """Answers judged a second time: what a judge says once it need not say again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sample: PositiveInt = Field(description="answers, drawn by question id")


class _Judge(Chat):
    """What every judge is asked."""

    BESIDE: ClassVar[frozenset[str]] = frozenset({"prompts", "twice", "calibration"})

    max_completion_tokens: PositiveInt = Field(2048, description="of one reply")
    tasks: list[TaskName] = Field(
        list(TASKS), min_length=1, description="what is judged, where it applies"
    )
    prompts: dict[TaskName, str] = Field({}, description="task → a prompt file of your own")
    twice: Twice | None = None
    calibration: list[str] = Field([], description="records that `judge calibrate` wrote")

    @model_validator(mode="after")
    def _asks_with_its_prompts(self) -> Self:
        if unused := sorted(set(self.prompts) - set(self.asked)):
            raise ValueError(f"prompts.{unused[0]}: that is none of the tasks: {self.asked}")
        return self

    @property
    def asked(self) -> list[TaskName]:
        """The tasks in order; claims are extracted where others judge them."""
        wanted = set(self.tasks) | ({"claims"} if ON_CLAIMS & set(self.tasks) else set())
        return [name for name in TASKS if name in wanted]

    def loaded(self) -> Mapping[str, Prompt]:
        """Task → its prompt. Raises ConfigError for a prompt file that is none."""
        return {name: prompts.load(name, self.prompts.get(name)) for name in self.asked}

    def identity(self) -> dict[str, Any]:
        """What decides the verdicts: the model, the tasks, and their prompts by content."""
        found = {k: v for k, v in super().identity().items() if k not in self.BESIDE}
        hashes = {name: prompt.hash for name, prompt in self.loaded().items()}
        return {**found, "asked": "judge", "tasks": self.asked, "prompts": hashes}


class OpenAIJudge(_Judge, OpenAI):
    """A judge behind an endpoint that speaks OpenAI's chat protocol."""


class VllmJudge(_Judge, Vllm):
    """A judge in vLLM's own engine on the worker."""


Judge = Annotated[OpenAIJudge | VllmJudge, Field(discriminator="kind")]
