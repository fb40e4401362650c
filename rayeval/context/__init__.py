"""What is handed to the generator: the best hits, by count or within a token budget."""
