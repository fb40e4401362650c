"""LegalBench-RAG: a benchmark's `tests[]`, each with snippets of files.

Mapping. Every snippet's `span` is gold in the source `file_path`, in code points, and a group of
its own: all are needed; its `answer`, where given, is the quote. Text files below a folder among
the files are documents, called by their path below it; their line ends become "\n", as the spans
count them. Queries that are there again with other snippets are questions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rayeval.errors import Problem
from rayeval.files import is_folder
from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.reading import records, text_files
from rayeval.interop.records import Record, RefusedError

NAME = "legalbench"
FILES = "LegalBench-RAG benchmark .json files, and the corpus folder"
NOTES = (
    "each snippet is gold, and a group of its own (all are needed)",
    "docs.jsonl has the line ends that spans count by; those of the folder's files may be longer",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold spans, and the corpus where its folder is among the files."""
    folders = [path for path in paths if is_folder(path)]
    tables = [path for path in paths if path not in folders]
    found = imported(lambda problems: _tests(tables, problems), _parts, notes=NOTES)
    documents = (
        {"source_id": name, "text": _as_read(text)}
        for path in folders
        for name, text in text_files(path)
    )
    return replace(found, documents=documents if folders else None)


def _as_read(text: str) -> str:
    """As Python's `open` reads it, which wrote the benchmark: every line end is one character."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _tests(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """Every test; a query's further ones with `again`: how many came before it."""
    asked: dict[str, list[Any]] = {}
    for record in records(paths, problems, kinds=[".json"]):
        try:
            for test in record.objects("tests"):
                before = asked.setdefault(str(test.get("query")), [])
                snippets = test.get("snippets")
                if snippets not in before:
                    yield replace(test, value={**test.value, "again": len(before)})
                    before.append(snippets)
        except RefusedError as error:
            problems.append(record.problem(error))


def _parts(record: Record) -> Parts:
    question = record.words("query")
    evidence: list[Row] = []
    for snippet in record.objects("snippets"):
        span = snippet.items("span")
        if len(span) != 2:
            raise snippet.wrong("span", span, "[start, end]")
        place = snippet.inner({"start": span[0], "end": span[1]}, f"{snippet.path}span")
        entry: Row = {
            "source_id": snippet.id("file_path"),
            "start_char": place.whole("start"),
            "end_char": place.whole("end"),
        }
        quote = snippet.text("answer")
        evidence.append(entry if quote is None else {**entry, "quote": quote})
    again = record.whole("again")
    name = made_question_id(question) + (f"-{again + 1}" if again else "")
    return Parts(question={"question_id": name, "question": question, "evidence": evidence})
