"""`golden anchor`: gold found again after its documents changed."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.execution.golden.case import Case
from rayeval.execution.golden.cases import cases
from rayeval.execution.golden.sources import sound_questions, sound_reading
from rayeval.execution.golden.suggestions import suggest, take
from rayeval.execution.job import Options
from rayeval.golden.anchors import (
    EVIDENCE,
    anchors_bytes,
    anchors_path,
    note,
    read_anchors,
    stated,
)
from rayeval.golden.change import Anchoring, Change
from rayeval.golden.file import put
from rayeval.golden.follow import ORDER
from rayeval.golden.moved import Move, moved
from rayeval.golden.records import format_of
from rayeval.golden.rewrite import Row, rewritten


def anchor_golden(
    golden: str,
    corpus: str,
    *,
    was: str | None = None,
    out: str | None = None,
    taken: Collection[str] = (),
    exact: bool = False,
) -> Anchoring:
    """Every piece of evidence in the documents of today.

    was: the documents that the golden set was labelled on; else what an earlier anchoring noted
        beside it, else the quotes alone.
    out: where the golden set is written with what moved, and beside it notes of where all of it
        stands; what is lost or ambiguous stays as it is written. None: nothing is written.
    taken, exact: whose suggestions become what they say, as `suggestions.take` has it.
    Raises DataError if the golden set breaks its contract or a corpus can't be read.
    """
    before = files.read_bytes(golden) if files.exists(golden) else b""
    questions = sound_questions(golden)
    with tempfile.TemporaryDirectory(prefix="rayeval-") as folder:
        options = Options(store=folder)
        notes = _notes(questions, golden, was, options)
        reading = sound_reading(golden, corpus, options)
        found = cases(questions, reading, notes)
        suggest(found, reading)
        take(found, taken, exact=exact)
        if out is not None:
            edited = rewritten(before, format_of(golden), _Edit(found))
            put(golden, out, edited, was=before)
            fresh = _noted(sound_questions(out), out, corpus, options)
            fresh = fresh.join(_unsettled(found), on=EVIDENCE, how="anti")
            kept = notes.join(fresh, on=EVIDENCE, how="anti")
            files.write_bytes(anchors_path(out), anchors_bytes(pl.concat([fresh, kept])))
    counts: dict[str, int] = {
        status: sum(case.outcome.status == status for case in found) for status in ORDER
    }
    told = (case for case in found if case.outcome.status != "kept" or case.move is not None)
    changes = [_change(case) for case in told]
    return Anchoring(golden, counts, changes, out)


def _notes(questions: pa.Table, golden: str, was: str | None, options: Options) -> pl.DataFrame:
    """What is known of the text that evidence was labelled on, as far as it is still as noted."""
    before = read_anchors(anchors_path(golden))
    before = before.join(stated(questions), on=[*EVIDENCE, "stated"], how="semi")
    if was is None:
        return before
    known = _noted(questions, golden, was, options)
    return pl.concat([known, before.join(known, on=EVIDENCE, how="anti")])


def _unsettled(found: Sequence[Case]) -> pl.DataFrame:
    """EVIDENCE that is still about an older text, of which the notes must not be lost."""
    open_ = [
        (case.question_id, case.evidence_id)
        for case in found
        if case.outcome.status in ("lost", "ambiguous")
    ]
    return pl.DataFrame(open_, schema=dict.fromkeys(EVIDENCE, pl.String), orient="row")


def _noted(questions: pa.Table, golden: str, corpus: str, options: Options) -> pl.DataFrame:
    reading = sound_reading(golden, corpus, options)
    return note(questions, reading.questions, reading.documents())


class _Edit:
    """Rows of the file with what moved."""

    def __init__(self, found: Sequence[Case]) -> None:
        self._moves: dict[int, dict[str, Move]] = {}
        for case in found:
            if case.move is not None:
                self._moves.setdefault(case.line, {})[case.evidence_id] = case.move

    def __call__(self, line: int, row: Row) -> Row | None:
        moves = self._moves.get(line)
        return None if moves is None else moved(row, moves)


def _change(case: Case) -> Change:
    outcome = case.outcome
    return Change(
        file=case.file,
        line=case.line,
        question_id=case.question_id,
        evidence_id=case.evidence_id,
        status=outcome.status,
        source_id=case.evidence["source_id"],
        revision_id=case.revision_id,
        was=case.was,
        places=outcome.places,
        old=case.old,
        new=case.new,
        message=outcome.message,
        suggested=case.suggested,
    )
