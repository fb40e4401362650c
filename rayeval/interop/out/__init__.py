"""Files that we and other tools can read."""
