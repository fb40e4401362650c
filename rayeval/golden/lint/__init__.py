"""What is wrong with a golden set that is right by its contract: one check per file."""
