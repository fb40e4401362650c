"""A trace in JSON Lines: parsed and checked line by line, its hits as columns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired

import pyarrow as pa
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from rayeval import files
from rayeval.encoded import odd_line, refuse_wide
from rayeval.errors import Problem
from rayeval.interop.own.flat import staged
from rayeval.interop.own.keys import key_twice
from rayeval.interop.own.said import other_member, said
from rayeval.interop.own.torn import is_torn, torn_note
from rayeval.scalars import plain_all
from rayeval.tables import ANSWERS, FOREIGN

ROWS = 512
"""Lines that become one table."""
BOM = b"\xef\xbb\xbf"
STRICT = ConfigDict(strict=True, extra="forbid")

Text = Annotated[str, Field(min_length=1)]
Id = Text | int
Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=0, lt=2**63)]


class Span(TypedDict):
    """Code points [start_char, end_char)."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    start_char: Whole
    end_char: Whole


class Hit(TypedDict):
    """One hit as users write it."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    chunk_id: NotRequired[Id | None]
    source_id: NotRequired[Id | None]
    revision_id: NotRequired[Id | None]
    spans: NotRequired[list[Span] | None]
    start_char: NotRequired[Whole | None]
    end_char: NotRequired[Whole | None]
    text: NotRequired[str | None]
    score: NotRequired[Number | None]


class Stage(TypedDict):
    """What one stage found."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    hits: NotRequired[list[Text | Hit] | None]
    latency_ms: NotRequired[Annotated[Number, Field(ge=0)] | None]
    error: NotRequired[str | None]


Found = Annotated[Stage | list[Text | Hit], Field(union_mode="left_to_right")]
"""A stage, or its hits alone."""


class Line(TypedDict):
    """One question (DESIGN §3)."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    question_id: Id
    stages: NotRequired[dict[Text, Found] | None]
    hits: NotRequired[list[Text | Hit] | None]
    context: NotRequired[list[Text | Hit] | None]
    answer: NotRequired[str | None]
    abstained: NotRequired[bool | None]
    citations: NotRequired[list[Id] | None]
    repeat: NotRequired[Whole | None]
    error: NotRequired[str | None]


LINE: TypeAdapter[Line] = TypeAdapter(Line)
ID = re.compile(rb'"question_id"\s*:\s*"((?:[^"\\]|\\.)*)"')
IDS = ("chunk_id", "source_id", "revision_id")
ANSWERED = ("answer", "abstained", "citations")


class Lines:
    """Reads files of lines; what is wrong with them gathers in `problems`."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.notes: list[str] = []
        self._torn: list[str] = []
        self._answers: list[dict[str, Any]] = []
        self._seen: dict[str, str] = {}

    def read(self, path: str) -> Iterator[pa.Table]:
        """Tables of schema FOREIGN, in the file's order."""
        files.check_file(path, "trace")
        yield from self._tables(path, _lines(path))

    def checked(self, rows: Iterable[Any]) -> Iterator[Line]:
        """Rows at hand as they would stand in a file, those that could."""
        for number, row in enumerate(rows, start=1):
            try:
                value = _valid(row)
            except ValidationError as error:
                self._refuse("trace", number, row, error)
                continue
            key = f"{value['question_id']}\0{value.get('repeat') or 0}"
            if not self._twice(key, str(value["question_id"]), f"trace:{number}"):
                yield value

    def _tables(self, path: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[pa.Table]:
        rows: list[dict[str, Any]] = []
        for number, line in lines:
            try:
                value = LINE.validate_json(line)
            except ValidationError as error:
                if is_torn(line):
                    self._torn.append(f"{path}:{number} [{_name(line) or '?'}]")
                else:
                    self._refuse(path, number, line, error)
                continue
            if twice := key_twice(line, value):
                self.problems.append(Problem(path, number, _name(line), "field_twice", twice))
                continue
            rows += self._rows(value, f"{path}:{number}")
            if len(rows) >= ROWS:
                yield _table(rows)
                rows = []
        if rows:
            yield _table(rows)

    def answers(self) -> Iterator[pa.Table]:
        """What was answered, once the lines are read; and of those that were torn, a note."""
        if self._torn:
            self.notes.append(torn_note(self._torn))
        if self._answers:
            yield pa.Table.from_pylist(self._answers, schema=ANSWERS)

    def _rows(self, value: Line, place: str) -> Iterator[dict[str, Any]]:
        """A row per stage; of a repeated question only its answer counts."""
        name, repeat = str(value["question_id"]), value.get("repeat") or 0
        if self._twice(f"{name}\0{repeat}", name, place):
            return
        if any(value.get(field) is not None for field in ANSWERED):
            self._answers.append(_answer(value, name, repeat))
        if repeat:
            return
        stages, wrong = staged(value)
        if wrong is not None:
            path, _, number = place.rpartition(":")
            self.problems.append(Problem(path, int(number), name, "contradiction", wrong))
            return
        for stage, found in stages.items():
            yield {"question_id": name, "stage": stage, **found}
        if value.get("error") is not None:
            yield {"question_id": name, "stage": None, "error": value["error"]}

    def _twice(self, key: str, name: str, place: str) -> bool:
        first = self._seen.setdefault(key, place)
        if first == place:
            return False
        path, _, number = place.rpartition(":")
        message = f"this question stands at {first} already; keep one line, or number them `repeat`"
        self.problems.append(Problem(path, int(number), name, "duplicate_question", message))
        return True

    def _refuse(self, path: str, number: int, line: Any, error: ValidationError) -> None:
        name = _name(line)
        if isinstance(line, bytes) and (odd := odd_line(line)):
            self.problems.append(Problem(path, number, name, *odd))
            return
        every = [one for one in error.errors(include_url=False) if not other_member(one)]
        for kind, message in dict.fromkeys(map(said, every)):
            self.problems.append(Problem(path, number, name, kind, message))


def _valid(row: Any) -> Line:
    """A row at hand, whatever library its numbers are of."""
    try:
        return LINE.validate_python(row)
    except ValidationError:
        return LINE.validate_python(plain_all(row))


def _name(line: Any) -> str | None:
    """The question of a line that can't be read as a whole."""
    if isinstance(line, bytes):
        found = ID.search(line)
        return found[1].decode(errors="replace") if found else None
    return str(line["question_id"]) if isinstance(line, dict) and "question_id" in line else None


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Every line with something in it, numbered from 1."""
    with files.reading(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            if number == 1:
                refuse_wide(path, line)
            text = line.removeprefix(BOM) if number == 1 else line
            if text.strip():
                yield number, text


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """FOREIGN; plain text as hits, and ids that are numbers, only where there are some."""
    try:
        return pa.Table.from_pylist(list(rows), schema=FOREIGN)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        plain = [{**row, "hits": _plain(row.get("hits"))} for row in rows]
        return pa.Table.from_pylist(plain, schema=FOREIGN)


def _plain(hits: Sequence[Any] | None) -> list[dict[str, Any]] | None:
    return None if hits is None else [_hit(hit) for hit in hits]


def _hit(hit: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(hit, str):
        return {"text": hit}
    named = {name: str(hit[name]) for name in IDS if hit.get(name) is not None}
    return {**hit, **named}


def _named(hit: Any) -> str | None:
    """A hit by its id, else by what it says."""
    if isinstance(hit, str):
        return hit
    name: str | None = hit.get("text") if hit.get("chunk_id") is None else str(hit["chunk_id"])
    return name


def _answer(value: Line, name: str, repeat: int) -> dict[str, Any]:
    """What the line doesn't say is null: an empty list is a statement."""
    context, cited = value.get("context"), value.get("citations")
    return {
        "question_id": name,
        "repeat": repeat,
        "answer": value.get("answer"),
        "abstained": value.get("abstained"),
        "citations": None if cited is None else [str(one) for one in cited],
        "context": None if context is None else [_named(hit) for hit in context],
    }
