"""Settings of the answer stage: a chat model, and how it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from rayeval.chat import prompt as prompts
from rayeval.chat.config import OpenAI, Vllm
from rayeval.chat.prompt import Prompt
from rayeval.stage import StageConfig

Bracket = Literal["closed_book", "gold_context"]
Variant = Literal["answer", "closed_book", "gold_context"]

PLACES = frozenset({"question", "history", "language", "evidence"})
"""What a prompt may name: `history` is a list of turns with `role` and `content`, `evidence` one of
pieces with `mark` (`E1`) and `text`; `language` may be none."""


class _Answer(StageConfig):
    VERSION: ClassVar[int] = 2

    prompt: str | None = Field(
        None, description="file with the prompt; default: the built-in one, answer 1"
    )
    repeats: PositiveInt = Field(1, description="answers to every question, each asked for anew")
    bracket: list[Bracket] = Field(
        [], description="the same questions once more without context, and with gold's"
    )
    depth: PositiveInt = Field(5, description="hits handed over where no `context` is configured")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.bracket)) < len(self.bracket):
            raise ValueError(f"bracket: named twice: {', '.join(self.bracket)}")
        return self

    @property
    def variants(self) -> tuple[Variant, ...]:
        """What every question is asked as."""
        return ("answer", *self.bracket)

    def prompt_of(self, variant: Variant) -> Prompt:
        """The variant's prompt; without evidence it is always the built-in one.

        Raises ConfigError if it is no prompt.
        """
        own = Path(__file__).with_name("prompts")
        if variant == "closed_book":
            return prompts.load(str(own / "closed_book.md"), PLACES, "question")
        return prompts.load(self.prompt or str(own / "answer.md"), PLACES, "question")

    def identity_of(self, variant: Variant) -> dict[str, Any]:
        """What decides the answers but for the question and its evidence."""
        chat = {k: v for k, v in self.identity().items() if k not in _Answer.model_fields}
        prompt = self.prompt_of(variant).identity()
        return {**chat, "variant": variant, "prompt": prompt, "repeats": self.repeats}


class OpenAIAnswer(_Answer, OpenAI):
    """Answers from an endpoint that speaks OpenAI's chat protocol: vLLM, Ray Serve LLM, a hosted
    one."""


class VllmAnswer(_Answer, Vllm):
    """Answers from vLLM's own engine on the worker, on a GPU where placement has one."""


Answer = Annotated[OpenAIAnswer | VllmAnswer, Field(discriminator="kind")]
