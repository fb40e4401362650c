"""What was imported, as our own files: golden, docs, trace and trace-SYSTEM, all .jsonl."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from rayeval.errors import ConfigError, DataError, InfrastructureError, Problem
from rayeval.files import discard, exists, is_uri, open_fs
from rayeval.folders import unwritten
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Row, compact
from rayeval.interop.records import Record
from rayeval.interop.spill import Spill

Check = Callable[[str, Mapping[str, Record]], Sequence[Problem]]
"""(path of a golden set, question_id → where the foreign files have it) → what is wrong."""
GOLDEN, DOCUMENTS, TRACE = "golden.jsonl", "docs.jsonl", "trace.jsonl"


def write_imported(imported: Imported, folder: str, check: Check | None = None) -> dict[str, int]:
    """Writes a file for every part that has rows, all of them or none.

    check: finds what is wrong with the golden set before it is called by its name.
    Returns the rows of each file.
    Raises DataError with every problem, ConfigError if such a file is there already.
    """
    parts: dict[str, Iterable[Row]] = {
        GOLDEN: imported.questions or (),
        DOCUMENTS: imported.documents or (),
        TRACE: trace_rows(imported.trace or (), imported.answers or ()),
        **{_trace_of(name): rows for name, rows in imported.systems.items()},
    }
    _check_free(folder, parts)
    fs, inner = open_fs(folder)
    rows: dict[str, int] = {}
    made = _missing(fs, inner)
    try:
        fs.create_dir(inner, recursive=True)
        for name, part in parts.items():
            rows[name] = _write(fs, _temporary(inner, name), part)
        _check(imported, rows, folder, check)
        for name in [name for name, count in rows.items() if count]:
            fs.move(_temporary(inner, name), f"{inner}/{name}")
    except OSError as error:
        raise unwritten(folder, folder, error, local=not is_uri(folder)) from error
    finally:
        for name in parts:
            discard(fs, _temporary(inner, name))
        _remove_empty(fs, made)
    return {name: count for name, count in rows.items() if count}


def _check(imported: Imported, rows: dict[str, int], folder: str, check: Check | None) -> None:
    """Raises DataError for what could not be mapped, or is no golden set; ConfigError for nothing.

    rows: of each file, as it lies below its temporary name.
    """
    if imported.problems:
        raise DataError(imported.problems, foreign=True)
    if not any(rows.values()):
        raise ConfigError("there is nothing in the files: no question, document or hit")
    wrong = check(_temporary(folder, GOLDEN), imported.places) if check and rows[GOLDEN] else ()
    if wrong:
        raise DataError(wrong, foreign=True)


def _trace_of(system: str) -> str:
    """The name of its file: letters, digits, `.`, `-` and `_` as they are."""
    plain = re.sub(r"[^\w.-]", "_", system)
    return f"trace-{plain}.jsonl"


def _check_free(folder: str, names: Iterable[str]) -> None:
    """Raises ConfigError where a golden set, documents or a trace would be overwritten."""
    for name in names:
        if exists(f"{folder}/{name}"):
            raise ConfigError(f"{folder} has {name} already; name another folder, or move it away")


def _missing(fs: pafs.FileSystem, folder: str) -> list[str]:
    """The folders on the way to `folder` that aren't there yet, the innermost first."""
    found = []
    while folder and fs.get_file_info(folder).type == pafs.FileType.NotFound:
        found.append(folder)
        folder = folder.rpartition("/")[0]
    return found


def _remove_empty(fs: pafs.FileSystem, folders: Iterable[str]) -> None:
    """Removes what a failed import made, as far as nothing lies there."""
    for folder in folders:
        if not fs.get_file_info(pafs.FileSelector(folder, allow_not_found=True)):
            with suppress(OSError):
                fs.delete_dir(folder)


def _temporary(folder: str, name: str) -> str:
    return f"{folder}/.{name}.tmp"


def _write(fs: pafs.FileSystem, path: str, rows: Iterable[Row]) -> int:
    count = 0
    with fs.open_output_stream(path) as stream:
        for count, line in enumerate(_lines(rows), start=1):  # noqa: B007 - it is what is left
            stream.write(line)
    return count


def _lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """The rows as JSON; the files that they come from are read meanwhile."""
    try:
        for row in rows:
            yield (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except OSError as error:
        raise InfrastructureError(f"can't read the files to import: {error}") from error


def trace_rows(trace: Iterable[pa.Table], answers: Iterable[pa.Table]) -> Iterator[Row]:
    """A row per question of the trace, with its first answer; other answers have their own rows."""
    kept = Spill[Row]()
    replies = {
        (row["question_id"], row.pop("repeat") or 0): kept.add(row)
        for table in answers
        for row in table.to_pylist()
    }
    again: dict[str, list[int]] = {}
    for name, repeat in replies:
        again.setdefault(name, []).append(repeat)
    for name, stages in _questions(trace):
        place = replies.pop((name, 0), None)
        first = {} if place is None else kept.at(place)
        yield {"question_id": name, "stages": stages, **_reply(first, stages)}
        for repeat in again.get(name, ()):
            if repeat:
                reply = _reply(kept.at(replies.pop((name, repeat))), stages)
                yield {"question_id": name, "stages": {}, **reply, "repeat": repeat}
    for (name, repeat), place in replies.items():
        extra: Row = {"repeat": repeat} if repeat else {}
        yield {"question_id": name, "stages": {}, **_reply(kept.at(place), {}), **extra}


def _reply(reply: Row, stages: dict[str, Any]) -> Row:
    """An answer; of what the model was sent, the last stage's hits that stand in it."""
    if not reply:
        return {}
    sent = reply["context"]
    last: Row = stages[next(reversed(stages))] if stages else {}
    hits = last.get("hits") or ()
    texts = [text for text in sent or () if text]
    found = [hit for hit in hits if hit.get("text") and any(hit["text"] in t for t in texts)]
    known = bool(found) or (sent == [] and not hits)
    return compact({**reply, "context": list(map(_brief, found)) if known else None})


def _brief(hit: Row) -> Row | str:
    """A hit that is nothing but text as that text."""
    return hit["text"] if set(hit) == {"text"} else hit


def _questions(trace: Iterable[pa.Table]) -> Iterator[tuple[str, dict[str, Any]]]:
    name, stages = None, dict[str, Any]()
    for table in trace:
        for row in table.to_pylist():
            if row["question_id"] != name:
                if name is not None:
                    yield name, stages
                name, stages = row["question_id"], {}
            hits = row["hits"] and [compact(hit) for hit in row["hits"]]
            stage = {"hits": hits, "latency_ms": row["latency_ms"], "error": row["error"]}
            stages[row["stage"]] = compact(stage)
    if name is not None:
        yield name, stages
