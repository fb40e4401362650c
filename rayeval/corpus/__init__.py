"""Sources and their revisions: read, catalogue, parse into elements."""
