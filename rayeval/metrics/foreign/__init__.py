"""Another tool's hits as what metrics and first failures read."""
