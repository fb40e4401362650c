"""PDF and DOCX: their canonical text, and the elements in it, as a named extractor gives them."""

from rayeval.corpus.extract.readers import EXTRACTED, extract, extractors

__all__ = ["EXTRACTED", "extract", "extractors"]
