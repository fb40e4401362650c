"""Comparisons, gates and baselines as files beside the runs."""
