"""MTRAG and MTRAG-UN: conversations whose last turn is the question.

Mapping. A task is a question: its last `input` turn, the turns before are the history; its
conversation is the cluster, its answerability and collection are slices. Of ANSWERABLE tasks every
passage in `contexts` is whole-document evidence of relevance 3, of PARTIAL ones of relevance 2,
each a group of its own. UNANSWERABLE, UNDERSPECIFIED and CONVERSATIONAL tasks are unanswerable, and
their passages no evidence. The first target is the reference answer. Passages are documents. Human
evaluations of other systems' answers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.packed import extension

NAME = "mtrag"
FILES = "MTRAG generation tasks (.jsonl) or an analytics file (.json)"
RELEVANCE = {
    "ANSWERABLE": 3, "PARTIAL": 2, "UNANSWERABLE": 0, "UNDERSPECIFIED": 0, "CONVERSATIONAL": 0,
}  # fmt: skip
NOTES = (
    "passages of ANSWERABLE tasks have relevance 3, of PARTIAL ones 2, each a group of its own",
    "UNANSWERABLE, UNDERSPECIFIED and CONVERSATIONAL tasks became unanswerable, without evidence",
    "a conversation is a cluster",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with their history and gold passages, and the passages as documents."""
    return imported(lambda problems: _tasks(paths, problems), _parts, notes=NOTES, documents=True)


def _tasks(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """Tasks, and the documents of an analytics file, which its tasks name by their ids."""
    for record in records(paths, problems, kinds=[".jsonl", ".json"]):
        if extension(record.file) == ".jsonl":
            yield record
            continue
        try:
            yield from record.objects("documents")
            yield from record.objects("tasks")
        except RefusedError as error:
            problems.append(record.problem(error))


def _parts(record: Record) -> Parts:
    if record.get("task_id") is None and record.get("document_id") is not None:
        return Parts(documents=[_document(record)])
    kind = next(iter(record.texts("answerability", "Answerability")), "")
    if kind not in RELEVANCE:
        raise record.wrong("answerability", kind, f"one of {', '.join(RELEVANCE)}")
    turns = [_turn(turn) for turn in record.objects("input")]
    if not turns or turns[-1]["role"] != "user":
        raise record.wrong("input", turns[-1:], "turns of which the last is the user's")
    contexts, relevance = record.objects("contexts"), RELEVANCE[kind]
    name = record.id("task_id")
    row = {
        "question_id": name,
        "question": turns[-1]["content"],
        "history": turns[:-1],
        "answerable": relevance > 0,
        "reference_answer": next((_turn(t)["content"] for t in record.objects("targets")), None),
        "evidence": [
            {"source_id": context.id("document_id"), "relevance": relevance}
            for context in contexts
            if relevance
        ],
        "slices": [kind.lower(), record.words("Collection")],
        "cluster": record.name("conversation_id") or name.partition("<::>")[0],
    }
    return Parts(question=row, documents=[_document(c) for c in contexts if c.get("text")])


def _document(record: Record) -> Row:
    title = record.text("title") or None
    return {"source_id": record.id("document_id"), "title": title, "text": record.given("text")}


def _turn(turn: Record) -> Row:
    role = "assistant" if turn.words("speaker") == "agent" else turn.words("speaker")
    return {"role": role, "content": turn.words("text")}
