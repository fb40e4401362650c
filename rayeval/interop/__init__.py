"""Other tools' files in and out: one small module per format."""

from rayeval.interop.formats import formats

__all__ = ["formats"]
