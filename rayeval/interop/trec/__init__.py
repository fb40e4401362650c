"""TREC."""

from rayeval.interop.trec.tables import read_judgements, read_run, repeated

__all__ = ["read_judgements", "read_run", "repeated"]
