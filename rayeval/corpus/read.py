"""Documents from folders, JSON Lines and Parquet, in partitions, with every problem on the way.

Canonical text is exactly what a file decodes to as UTF-8: U+FEFF, front matter and CRLF are kept,
nothing is normalised, so that offsets stay what other tools count in the same file. Of PDF and DOCX
it is what the extractor gives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set

import pyarrow as pa
import yaml

from rayeval import files
from rayeval.corpus import fields, rows
from rayeval.corpus.extract import EXTRACTED, extract
from rayeval.corpus.fields import Findings, Row
from rayeval.corpus.front import front_matter
from rayeval.corpus.units import FORMATS, Unit, extension, fingerprint, units
from rayeval.errors import InfrastructureError, Problem
from rayeval.tables import DOCUMENTS

__all__ = ["PARTITION_CHARS", "Unit", "fingerprint", "read_documents", "units"]

PARTITION_CHARS = 262_144
PARTITION_ROWS = 4_096
"""For documents that are tiny or gone: a partition is bounded in both."""


def read_documents(unit: Unit) -> Iterator[tuple[pa.Table, list[Problem]]]:
    """The unit's documents, of schema DOCUMENTS, partition by partition, with their problems.

    A partition has at most PARTITION_CHARS characters, unless it is a single document. A document
    with a problem (that is not a warning) is not in it. Nothing stops at the first problem.
    Raises InfrastructureError if a file can't be read at all.
    """
    waiting: list[Row] = []
    problems: list[Problem] = []
    chars = 0
    for row, found in _records(unit):
        problems += found
        if row is None:
            continue
        more = len(row["text"] or "")
        if waiting and (chars + more > PARTITION_CHARS or len(waiting) == PARTITION_ROWS):
            yield pa.Table.from_pylist(waiting, schema=DOCUMENTS), problems
            waiting, problems, chars = [], [], 0
        waiting.append(row)
        chars += more
    if waiting or problems:
        yield pa.Table.from_pylist(waiting, schema=DOCUMENTS), problems


def _records(unit: Unit) -> Iterator[tuple[Row | None, list[Problem]]]:
    for name in unit.names:
        path = unit.path(name)
        try:
            match extension(name):
                case ".parquet":
                    yield from rows.from_parquet(path)
                case ".jsonl" | ".ndjson":
                    yield from rows.from_json_lines(path)
                case other if other in EXTRACTED:
                    yield _extracted(path, name, EXTRACTED[other])
                case other:
                    yield _from_file(path, name, FORMATS[other])
        except OSError as error:
            raise InfrastructureError(f"can't read {path}: {error}") from error


def _from_file(path: str, name: str, format_: str) -> tuple[Row | None, list[Problem]]:
    found = Findings(path)
    text = rows.decoded(files.read_bytes(path), found)
    if text is None:
        return None, found.problems
    found.front = text
    try:
        told, start = front_matter(text)
    except yaml.YAMLError as error:
        found.add("invalid_front_matter", _fault(error), name="---")
        return None, found.problems
    ours = {key: value for key, value in told.items() if key in fields.FRONT_MATTER}
    _hint(told.keys() - ours.keys(), found)
    raw = {"source_id": name, "format": format_} | ours | {"text": text}
    return fields.document(raw, found, start=start), found.problems


def _extracted(path: str, name: str, format_: str) -> tuple[Row | None, list[Problem]]:
    """A revision is known by the file's bytes: another version of the extractor changes nothing."""
    found = Findings(path)
    data = files.read_bytes(path)
    draft = extract(format_, data, found)
    if draft is None:
        return None, found.problems
    revision = "sha-" + hashlib.sha256(data).hexdigest()[:12]
    raw = {"source_id": name, "revision_id": revision, "title": draft.title, "text": draft.text}
    row = fields.document(raw, found, start=0)
    if row is not None:
        row |= {"format": format_, "layout": [element.row() for element in draft.elements]}
    return row, found.problems


def _hint(others: Set[str], found: Findings) -> None:
    """Documents carry metadata of their own, so a foreign field is at most a warning."""
    for name in sorted(others):
        if near := fields.nearest(name, fields.FRONT_MATTER, cutoff=0.8):
            message = f"front matter has {name!r}, which is ignored; did you mean {near!r}?"
            found.add("unknown_field", message, name=name, warning=True)


def _fault(error: yaml.YAMLError) -> str:
    words = " ".join(str(error).split())
    return (
        f"the block between the first two --- is not YAML: {words}; "
        "mend it, or begin with an empty line if it is meant as text between two rules"
    )
