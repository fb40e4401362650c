"""Two runs side by side: paired differences, what changed, and whether they may be compared."""
