"""A record of a golden set as a row of tables.QUESTIONS, and all that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from rayeval.golden.contract import Origin, Row
from rayeval.golden.evidence import evidence_of
from rayeval.golden.ids import id_of
from rayeval.golden.problems import Record, Report, shown
from rayeval.golden.slices import AUTOMATIC
from rayeval.golden.validate import fitted
from rayeval.tables import UNLABELLED

_ORIGIN = re.compile(rf"\s*({'|'.join(get_args(Origin))})(?![^\W_])", re.IGNORECASE)


def question_row(value: Any, line: int, report: Report, *, relevant: int) -> dict[str, Any] | None:
    """The row, without what is wrong with it; None where there is no question to be asked.

    relevant: evidence of this relevance or more is gold.
    """
    record = report.at(line, id_of(value))
    row, unfit = fitted(Row, value, record)
    if row is None:
        return None
    evidence, complete = evidence_of(row, unfit, record)
    best = max((entry["relevance"] for entry in evidence), default=0)
    for kind, message in _faults(row, unfit, best=best, complete=complete, relevant=relevant):
        record.problem(kind, message)
    if not (row.question or "").strip() or record.question_id is None:
        return None
    return {
        **_fields(row, record),
        "question_id": record.question_id,
        "answerable": None if _unsaid(row) else row.answerable is not False,
        "evidence": evidence,
        "labels": _labels(row, below=0 < best < relevant),
        "file": report.file,
        "line": line,
    }


def _unsaid(row: Row) -> bool:
    """Whether nobody has said if there is an answer, be it by evidence."""
    return row.labels == UNLABELLED and row.answerable is None


def _faults(
    row: Row, unfit: set[str], *, best: int, complete: bool, relevant: int
) -> Iterator[tuple[str, str]]:
    """What is wrong with a row whose fields fit one by one, as (kind, message).

    best: the highest relevance of its evidence, 0 without any.
    """
    gold = best >= relevant
    if row.question is None and "question" not in unfit:
        yield "missing_field", "`question` is missing"
    if row.question is not None and not row.question.strip():
        yield "empty_question", "the question is empty; fill it in or drop the row"
    if row.answer is not None and row.reference_answer is not None:
        yield "field_twice", "`answer` and `reference_answer` are one field; keep one"
    yield from _slice_faults(row)
    needed = f"evidence of relevance {relevant} or more"
    if gold and row.answerable is False:
        fix = "if that answers it, drop `answerable: false`; if not, drop it or grade it lower"
        fix += ", or say that gold begins above it (`metrics.relevant`, --relevant)" * (best < 3)
        yield "unanswerable_with_gold", f"unanswerable, yet there is {needed}: {fix}"
    if row.labels == UNLABELLED:
        if gold:
            yield "labelled", f"`labels` is none, yet there is {needed}; say `labels: partial`"
        if row.answerable is False:
            yield "labelled", "unanswerable, and so not to be labelled; leave `labels` out"
    elif not best and complete and row.answerable is not False and "answerable" not in unfit:
        fix = "add some, say `labels: none` to add it later, or `answerable: false`"
        yield "answerable_without_evidence", f"answerable, yet there is no {needed}; {fix}"


def _labels(row: Row, *, below: bool) -> str:
    """How far it is labelled. Where evidence is all `below` gold, nobody knows what is gold, and
    where that begins is not for the question to say: it is no more unanswerable than unlabelled."""
    return UNLABELLED if below and row.answerable is not False else row.labels or "partial"


def _slice_faults(row: Row) -> Iterator[tuple[str, str]]:
    """Slices without a name, and automatic ones of which the question isn't."""
    own = {"language": row.language, "split": row.split, "origin": row.origin}
    own["answerable"] = str(row.answerable is not False).lower()
    stated = {f"{field}:{value}" for field, value in own.items()}
    for name in row.slices or []:
        if not name.strip():
            yield "empty_slice", "a slice's name is empty; leave it out or fill it in"
        elif AUTOMATIC.fullmatch(name) and name not in stated:
            said = f"{shown(name)} in `slices` is the name of a slice that rayeval fills by itself"
            yield "reserved_slice", f"{said}; set the field that it is made of, or rename it"


def _fields(row: Row, record: Record) -> dict[str, Any]:
    """The fields that go into the table as they are, or with a default."""
    return {
        "question": row.question,
        "history": [turn.model_dump() for turn in row.history or []],
        "language": row.language,
        "reference_answer": row.answer if row.reference_answer is None else row.reference_answer,
        "required_aspects": row.required_aspects or [],
        "slices": row.slices or [],
        "origin": row.origin or _origin(row.created_from, record),
        "created_from": row.created_from,
        "validated": row.validated or False,
        "split": row.split,
        "cluster": row.cluster,
        "asked_at": row.asked_at,
        "principals": row.principals or [],
        "label_version": row.label_version,
    }


def _origin(created_from: str | None, record: Record) -> str:
    """The origin whose name `created_from` begins with (DESIGN §3)."""
    if created_from is None:
        return "unknown"
    begins = _ORIGIN.match(created_from)
    if begins:
        return begins[1].lower()
    message = (
        f"`created_from` is {created_from[:80]!r}, which begins with none of "
        f"{', '.join(get_args(Origin))}: taken as unknown; set `origin`"
    )
    record.problem("unknown_origin", message, warning=True)
    return "unknown"
