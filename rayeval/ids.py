"""Ids that are made of what they name: the same in every run and on every machine."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence


def chunk_id(
    source_id: str | None,
    revision_id: str | None,
    spans: Sequence[tuple[int, int]],
    text: str | None,
    *further: object,
) -> str:
    """The same for the same text at the same place of the same revision, in every run.

    further: what else tells apart passages that are not known to lie anywhere.
    """
    value = [source_id, revision_id, spans, text, *further]
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def made_question_id(question: str) -> str:
    """The id of a question that was given none: the same wherever its words (NFC) are the same."""
    text = unicodedata.normalize("NFC", question)
    return f"q-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
