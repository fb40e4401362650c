"""Answers from selected evidence, with citations, or none where it doesn't suffice."""
