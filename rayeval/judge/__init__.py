"""Judges: what a model makes of answers, and how far people agree with it."""
