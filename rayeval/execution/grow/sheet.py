"""A sheet of hits to fill in, and what its rows say of the hits that they are of."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval import files
from rayeval.encoded import CARRIAGE, bare_returns
from rayeval.errors import InputError
from rayeval.execution.grow.session import Session
from rayeval.execution.grow.sources import Row
from rayeval.golden.anchor import normal
from rayeval.interop.whole import decoded
from rayeval.strict_json import loads

NEEDED = ("question_id", "chunk_id", "grade")
SHEET = (*NEEDED, "group", "question", "groups", "source_id", "place", "text", "revision_id",
         "sheet_of")  # fmt: skip
"""Nothing of which run found a hit, nor at which rank: grading is blind. `sheet_of` is the same in
every row: the runs whose hits they are."""
APART = " | "
_SPOILT = re.compile(r"#[A-Z/0-9]+[?!]?|Err:[0-9]+")
"""What a spreadsheet makes of a text that begins like a formula: "- item" is `#NAME?`."""


def write_sheet(session: Session, items: pl.DataFrame, path: str) -> None:
    """The items as CSV with empty columns `grade` and `group`, which `rows` takes back."""
    questions = session.golden.questions
    asked = dict(
        zip(questions["question_id"].to_pylist(), questions["question"].to_pylist(), strict=True)
    )
    runs = [run.run_id for run in (session.run, session.against) if run is not None]
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, SHEET, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    for item in items.iter_rows(named=True):
        name = item["question_id"]
        known = session.groups(name)
        more = {
            "question": asked[name],
            "groups": APART.join(_group(*group) for group in known.items()),
            "place": _place(item),
            "sheet_of": APART.join(sorted(runs)),
        }
        writer.writerow({**item, **more})
    files.write_bytes(path, b"\xef\xbb\xbf" + sink.getvalue().encode())


def _group(group_id: str, evidence: list[Row]) -> str:
    quote = next((entry["quote"] for entry in evidence if entry["quote"]), None)
    text = " ".join((quote or evidence[0]["source_id"] or "").split())
    return f"{group_id}: {text[:80]}"


def _place(item: Mapping[str, Any]) -> str:
    """Its spans; with a hyphen a spreadsheet would read 3-27 as a day in March."""
    spans = item["spans"] or []
    return ", ".join(f"{span['start_char']}–{span['end_char']}" for span in spans)


def runs_of(path: str) -> tuple[str, ...]:
    """The ids of the runs whose hits a filled sheet has; none where it doesn't say."""
    said = next((_said(row, "sheet_of") for _, row in rows(path)), "")
    return tuple(filter(None, said.split(APART)))


def meant(row: Mapping[str, Any], hits: Sequence[Row]) -> Row:
    """The one of `hits`, which runs call alike, that a row is of.

    hits: at least one. Raises InputError if what the row says of it is true of none, or of several.
    """
    first = [_contradiction(row, hit) for hit in hits]
    fitting = [hit for hit, wrong in zip(hits, first, strict=True) if wrong is None]
    if not fitting:
        raise InputError(
            f"{first[0]}: no run has such a hit; keep chunk_id, source_id, place and text of a row "
            "together as --sheet wrote them"
        )
    if len(fitting) > 1:
        raise InputError(
            f"each run calls another passage {row['chunk_id']!r}; say which is meant by the "
            "columns source_id, revision_id, place and text of --sheet"
        )
    return fitting[0]


def _contradiction(row: Mapping[str, Any], hit: Row) -> str | None:
    """The first thing that a row says of a hit and that isn't so; what it leaves out is none."""
    for name in ("source_id", "revision_id"):
        if _said(row, name) not in ("", hit[name]):
            return f"the row says {name} {_said(row, name)!r}, the hit's is {hit[name]!r}"
    place, text = _said(row, "place"), _said(row, "text")
    if place and _numbers(place) != _numbers(_place(hit)):
        there = _place(hit) or "nowhere in particular"
        return f"the row says place {place}, the hit stands at {there}"
    if text and not _SPOILT.fullmatch(text) and normal(text) != normal(hit["text"] or ""):
        return f"the row says {_shown(text)}, the hit's text is {_shown(hit['text'] or '')}"
    return None


def _said(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()


def _numbers(place: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\W0-9]+", place)


def _shown(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 40 else f"{flat[:39]}…")


def rows(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, row) of a file of grades."""
    if not files.exists(path) or files.is_folder(path):
        raise InputError(f"no file of grades at {path}; --sheet writes one to fill in")
    text = decoded(files.read_bytes(path), path, None).removeprefix("\ufeff")
    if path.lower().endswith((".jsonl", ".ndjson")):
        yield from _json_rows(text, path)
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    lacking = [name for name in NEEDED if name not in (reader.fieldnames or ())]
    if lacking:
        raise InputError(f"{path} has no column {', '.join(lacking)}; --sheet writes one with them")
    before = reader.line_num
    try:
        for row in reader:
            yield before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{path}:{before + 1} is not CSV: {error}") from error


def _json_rows(text: str, path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, record in enumerate(text.split("\n"), start=1):
        if record.strip():
            try:
                row = loads(record)
            except ValueError as error:
                said = CARRIAGE if bare_returns(record.encode()) else error
                raise InputError(f"{path}:{line} is not JSON: {said}") from error
            if not isinstance(row, dict):
                raise InputError(f"{path}:{line} is not an object with question_id and chunk_id")
            yield line, row
