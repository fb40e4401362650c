"""Settings that every live system has, whatever it is asked for."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from rayeval.errors import ConfigError
from rayeval.live import code, template
from rayeval.live.address import address, check_headers
from rayeval.stage import StageConfig

Version = Annotated[
    str, BeforeValidator(lambda v: str(v) if isinstance(v, int | float | date) else v)
]
"""YAML reads 2 as a number and 2026-08-01 as a date."""


class Http(StageConfig):
    """A service that answers a request with JSON."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset(
        {"rate_per_s", "concurrency", "deadline_s", "retries"}
    )
    PLACEHOLDERS: ClassVar[tuple[str, ...]] = ("question", "question_id", "depth", "principals")
    NEEDED: ClassVar[tuple[str, ...]] = ("question",)
    """One of these must be in the request, else every request is the same."""

    kind: Literal["http"] = "http"
    url: Annotated[str, AfterValidator(address)] = Field(
        pattern=r"^https?://[^@/]+(/|$|\?)", description="may hold {question} and the like"
    )
    method: Literal["GET", "POST", "PUT"] = "POST"
    body: Any = Field(None, description="sent as JSON, with {question} and the like filled in")
    headers: dict[str, str] = Field(
        {}, description="values may hold ${NAME}, which stands in the environment"
    )
    hits: str = Field("hits", description="where the list is in the answer, e.g. result.items")
    fields: dict[str, str] = Field(
        {}, description="our field → where it is in an item, e.g. {text: doc.content}"
    )
    version: Version | None = Field(
        None, description="of what is behind the address; another one is asked anew"
    )
    rate_per_s: PositiveFloat | None = Field(None, description="requests a second, at most")
    concurrency: PositiveInt = Field(4, description="requests under way at once")
    deadline_s: PositiveFloat = Field(30.0, description="for one request, all of its answer")
    retries: int = Field(3, ge=0, description="further tries after 429, 5xx or no answer in time")

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        check_headers(self.headers)
        try:
            used = template.used(self.url, self.body, self.PLACEHOLDERS)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        if not used & set(self.NEEDED):
            raise ValueError(f"neither url nor body holds {{{'} or {'.join(self.NEEDED)}}}")
        return self


class Python(StageConfig):
    """Code of the user's own, built on the worker by `factory(**settings)`."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"folder"})

    kind: Literal["python"] = "python"
    factory: str = Field(
        pattern=r"^[\w.]+:[\w.]+$", description="package.module:factory, importable or in `folder`"
    )
    settings: dict[str, Any] = Field({}, description="what the factory is called with")
    version: Version | None = Field(
        None, description="of the code; default: a hash of the module's source"
    )
    folder: str | None = Field(
        None, description="where the module lies; default: beside the configuration"
    )

    def identity(self) -> dict[str, Any]:
        """With a hash of the module's source where no version is declared."""
        if self.version is not None:
            return super().identity()
        return {**super().identity(), "source": code.digest(self.factory, self.folder)}
