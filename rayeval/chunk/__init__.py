"""Documents and their elements become chunks, and chunks are looked up."""
