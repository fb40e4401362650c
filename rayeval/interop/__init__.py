"""Other tools' files in and out: one small module per format."""
