"""Golden sets that grow: a question from a report, a grade for a hit that nobody judged."""
