"""Chroma's chunking_evaluation: `questions_df.csv` with `question, references, corpus_id`.

Mapping. Every reference (`content, start_index, end_index`) is gold with its offsets, which Chroma
takes in Python, so in code points, and a group of its own: all are needed. The source is the text
file among the files whose name, with or without extension, is the `corpus_id`; where no text files
are given, the `corpus_id` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, imported
from rayeval.interop.reading import TEXT_FILES, listed, records, text_files
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.whole import broken
from rayeval.packed import extension

NAME = "chroma"
FILES = "questions_df.csv, and its corpora as .md or .txt files"
NOTE = "all references of a question are needed: each is a group of its own"


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold spans, and the corpora that are among the files."""
    texts = dict(
        pair for path in paths if extension(path) in TEXT_FILES for pair in text_files(path)
    )
    tables = [path for path in paths if extension(path) not in TEXT_FILES]
    if not tables:
        raise broken(paths[0], "missing_file", "no questions_df.csv among the files; name it too")
    sources = {PurePosixPath(name).stem: name for name in texts} | {name: name for name in texts}
    notes = [NOTE] if texts else [NOTE, "no text files given: `corpus_id` is the source_id"]
    found = imported(
        lambda problems: records(tables, problems, kinds=[".csv"]),
        lambda record: _parts(record, sources),
        notes=notes,
    )
    documents = [{"source_id": name, "text": text} for name, text in texts.items()]
    return replace(found, documents=documents or None)


def _parts(record: Record, sources: dict[str, str]) -> Parts:
    question, corpus = record.words("question"), record.id("corpus_id")
    if sources and corpus not in sources:
        message = f"`corpus_id` is {corpus!r}, which is none of the text files; name it too"
        raise RefusedError("unknown_source", message)
    cell = record.words("references")
    references = [
        record.inner(item, f"references[{i}]")
        for i, item in enumerate(listed(cell, "references"))
    ]  # fmt: skip
    evidence = [
        {
            "source_id": sources.get(corpus, corpus),
            "start_char": reference.whole("start_index"),
            "end_char": reference.whole("end_index"),
            "quote": reference.text("content"),
        }
        for reference in references
    ]
    name = made_question_id(question)
    return Parts(question={"question_id": name, "question": question, "evidence": evidence})
