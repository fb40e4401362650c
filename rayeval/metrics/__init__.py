"""Spans → relevance → per-question numbers; first failure (DESIGN §§5, 6)."""
