"""Scoring what other systems found."""
