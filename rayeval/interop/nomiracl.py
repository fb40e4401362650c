"""NoMIRACL's baseline prompts: `LANGUAGE.relevant.jsonl` and `LANGUAGE.non_relevant.jsonl`.

Mapping. The file's name says the language and whether one of the passages answers: questions of
`non_relevant` files are unanswerable. Those of `relevant` files are answerable, but the format does
not say by which passage: they come without evidence (`labels: none`), to be labelled. Question and
passages are taken from the prompt; the passages are documents, and the hits of the stage
`retrieved`. What models said is left out. Ids get the language in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.tables import UNLABELLED
from rayeval.words import plural

NAME = "nomiracl"
FILES = "NoMIRACL prompts: LANGUAGE.relevant.jsonl, LANGUAGE.non_relevant.jsonl"
NOTES = (
    "questions of `non_relevant` files became unanswerable",
    f"`relevant` files don't say which passage answers: {LABEL}",
)
_NAMED = re.compile(r"(\w+)\.(relevant|non_relevant)\.jsonl")
_PROMPT = re.compile(r"QUESTION:\n(.+?)\n\nCONTEXTS:\n(.*)\n\nOUTPUT:\n", re.DOTALL)


def read(paths: Sequence[str]) -> Imported:
    """Questions, their passages as documents and as hits."""
    return imported(
        lambda problems: records(paths, problems, kinds=[".jsonl"]),
        _parts, notes=NOTES, documents=True, trace=True,
    )  # fmt: skip


def _parts(record: Record) -> Parts:
    named = _NAMED.fullmatch(PurePosixPath(record.file).name)
    if not named:
        message = "the file's name is not like ko.relevant.jsonl or ko.non_relevant.jsonl"
        raise RefusedError("unknown_format", message)
    language, names = named[1], record.names("docids")
    prompt = _PROMPT.search(record.words("prompt"))
    texts = _passages(prompt[2], len(names)) if prompt else []
    if prompt is None or len(texts) != len(names):
        message = (
            f"`prompt` holds {plural(len(texts), 'passage')}, expected {len(names)} as in `docids`"
        )
        raise RefusedError("wrong_length", message)
    row = {
        "question_id": f"{language}-{record.id('query_id')}",
        "question": prompt[1],
        "language": language,
        "answerable": named[2] == "relevant",
        "labels": UNLABELLED if named[2] == "relevant" else None,
    }
    sources = [f"{language}-{name}" for name in names]
    return Parts(
        question=row,
        documents=[
            {"source_id": source, "text": text, "language": language}
            for source, text in zip(sources, texts, strict=True)
        ],
        stages={"retrieved": [{"source_id": source} for source in sources]},
    )


def _passages(text: str, count: int) -> list[str]:
    """The texts after [1], [2], … [count], in order; what one holds itself is no mark."""
    marks, at = [], 0
    for number in range(1, count + 1):
        mark = f"[{number}] " if number == 1 else f"\n\n[{number}] "
        at = text.find(mark, at)
        if at < 0:
            return []
        marks.append((at, at + len(mark)))
        at += len(mark)
    ends = [start for start, _ in marks[1:]] + [len(text)]
    return [text[begin:end] for (_, begin), end in zip(marks, ends, strict=True)]
