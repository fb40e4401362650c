"""The golden set's contract as users write it (DESIGN §3); null equals absent in every field."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat
from pydantic_core import PydanticCustomError

from rayeval.golden.config import Split

Origin = Literal["log", "expert", "synthetic", "report", "unknown"]


def _whole(value: Any) -> Any:
    """3.0 is the whole number 3: JSON knows no difference, pandas writes it so."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _moment(value: Any) -> datetime:
    """An ISO 8601 date or time in UTC; one without a zone is UTC already."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime.combine(moment, time())
        if isinstance(moment, datetime):
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("bad_date", "an ISO date or time such as 2026-08-01T09:30:00Z")


def _turn(value: Any) -> Any:
    """A turn of which only the words are known."""
    return {"content": value} if isinstance(value, str) else value


def named(value: Any) -> Any:
    """Ids and versions are names; a whole number is one too, by its decimal digits."""
    return str(value) if type(value) is int else value


Id = Annotated[str, Field(min_length=1), BeforeValidator(named)]
Whole = Annotated[int, BeforeValidator(_whole), Field(ge=-(2**63), lt=2**63)]
Grade = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=3)]


class Part(BaseModel):
    """Unknown fields are refused, and no value is turned into another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Span(Part):
    """Code points [start_char, end_char) of the source's canonical text."""

    start_char: Whole
    end_char: Whole


class Location(Part):
    """One place in a source, in the fields that fit into a spreadsheet's row."""

    source_id: Id | None = None
    revision_id: Id | None = None
    start_char: Whole | None = None
    end_char: Whole | None = None
    quote: str | None = None
    page: Whole | None = None
    element_id: Id | None = None
    cell: Id | None = None
    relevance: Grade | None = None


class Evidence(Location):
    """One piece of evidence."""

    evidence_id: Id | None = None
    group_id: Id | None = None
    aspects: list[str] | None = None
    spans: list[Span] | None = None
    bbox: list[FiniteFloat] | None = None


class Group(Part):
    """Evidence of which any supports one fact."""

    group_id: Id
    alternatives: list[Id]


class Turn(Part):
    """One turn of the conversation before the question."""

    role: str | None = None
    content: str


class Row(Location):
    """One question. Location's fields beside it are its one piece of evidence."""

    question_id: Id | None = None
    question: str | None = None
    history: list[Annotated[Turn, BeforeValidator(_turn)]] | None = None
    language: Id | None = None
    answerable: bool | None = None
    reference_answer: str | None = None
    answer: str | None = None
    evidence: list[Any] | None = None  # each checked on its own, as Evidence
    evidence_groups: list[Group] | None = None
    required_aspects: list[str] | None = None
    slices: list[str] | None = None
    origin: Origin | None = None
    created_from: str | None = None
    validated: bool | None = None
    labels: Literal["none", "partial", "complete"] | None = None
    split: Split | None = None
    cluster: Id | None = None
    asked_at: Annotated[datetime, BeforeValidator(_moment)] | None = None
    principals: list[str] | None = None
    label_version: Id | None = None
