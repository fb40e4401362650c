"""Documents become elements: headings, paragraphs, tables, …, with offsets into the source."""

from rayeval.corpus.parse.stage import Parser, build

__all__ = ["Parser", "build"]
