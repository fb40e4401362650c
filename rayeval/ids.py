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


MADE = r"^q-[0-9a-f]{12}$"
"""What an id that was made looks like."""


def made_question_id(question: str) -> str:
    """The id of a question that was given none: the same wherever its text is, after NFC and
    without the white space around it."""
    text = unicodedata.normalize("NFC", question).strip()
    return f"q-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
