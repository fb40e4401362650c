"""TREC."""
