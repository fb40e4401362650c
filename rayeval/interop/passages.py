"""Passages that come without an id."""

from __future__ import annotations

import hashlib


def passage_id(title: str, text: str) -> str:
    """The title and a hash of the text: titles repeat, and so do passages."""
    return f"{title}#{hashlib.sha256(text.encode()).hexdigest()[:12]}"
