"""Reranking: candidates scored together with their question."""
