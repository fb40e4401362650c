"""What people read of a run: in the terminal, as Markdown, as one HTML page."""
