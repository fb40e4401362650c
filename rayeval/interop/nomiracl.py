"""NoMIRACL's baseline prompts: `LANGUAGE.relevant.jsonl` and `LANGUAGE.non_relevant.jsonl`.

Mapping. The file's name says the language and whether one of the passages answers: questions of
`non_relevant` files are unanswerable. Those of `relevant` files are answerable, but the format does
not say by which passage: they come without evidence (`labels: none`), to be labelled. Question and
passages are taken from the prompt; the passages are documents, and the hits of the stage
`retrieved`. What each model of `results` said is the answer of a trace of its own, to these hits.
Ids get the language in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError, text_of
from rayeval.tables import UNLABELLED
from rayeval.words import plural

NAME = "nomiracl"
FILES = "NoMIRACL prompts: LANGUAGE.relevant.jsonl, LANGUAGE.non_relevant.jsonl"
OF_GOLD = (
    "questions of `non_relevant` files became unanswerable",
    f"`relevant` files don't say which passage answers: {LABEL}",
)
_NAMED = re.compile(r"(\w+)\.(relevant|non_relevant)\.jsonl")
_PROMPT = re.compile(r"QUESTION:\n(.+?)\n\nCONTEXTS:\n(.*)\n\nOUTPUT:\n", re.DOTALL)


def read(paths: Sequence[str]) -> Imported:
    """Questions, their passages as documents and as hits."""
    found = imported(
        lambda problems: records(paths, problems, kinds=[".jsonl"]),
        _parts, of_gold=OF_GOLD, documents=True, trace=True,
    )  # fmt: skip
    pairs = list(_answered(paths))
    models = sorted({name for _, said in pairs for name in said})
    if not models:
        return found
    systems = {model: _trace(pairs, model) for model in models}
    note = f"the outputs of {plural(len(models), 'model')} became trace-MODEL.jsonl"
    return replace(found, systems=systems, notes=[note])


def _answered(paths: Sequence[str]) -> Iterator[tuple[Row, dict[str, str]]]:
    """A row of a trace per question without its answer, and what models said; what is wrong with
    a record is told where its question is read."""
    for record in records(paths, [], kinds=[".jsonl"]):
        try:
            parts, said = _parts(record), _said(record)
        except RefusedError:
            continue
        hits = parts.stages["retrieved"]
        name = parts.question["question_id"] if parts.question else None
        row = {"question_id": name, "stages": {"retrieved": {"hits": hits}}, "context": hits}
        yield row, said


def _trace(pairs: Sequence[tuple[Row, dict[str, str]]], model: str) -> Iterator[Row]:
    return ({**row, "answer": said[model]} for row, said in pairs if model in said)


def _said(record: Record) -> dict[str, str]:
    """Model → its output; none where the file has prompts alone."""
    found = record.get("results") or {}
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise record.wrong("results", found, "an object with a text per model")
    return {model: text_of(text, f"`results` of {model!r}") for model, text in found.items()}


def _parts(record: Record) -> Parts:
    named = _NAMED.fullmatch(PurePosixPath(record.file).name)
    if not named:
        message = "the file's name is not like ko.relevant.jsonl or ko.non_relevant.jsonl"
        raise RefusedError("unknown_format", message)
    _said(record)
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
    ends = [*[start for start, _ in marks], len(text)][1:]
    return [text[begin:end] for (_, begin), end in zip(marks, ends, strict=True)]
