"""Which extractor reads which format, and at which version."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePosixPath

from rayeval.corpus.extract import docx, pdf
from rayeval.corpus.extract.draft import Draft
from rayeval.corpus.fields import Findings
from rayeval.errors import MissingExtraError

EXTRACTED = {".pdf": "pdf", ".docx": "docx"}
"""A file whose text an extractor gives, by its extension in any case."""

VERSION = 1
"""Raised when the extractors' code gives other texts or elements."""
_READERS = {"pdf": pdf.read, "docx": docx.read}
_PACKAGES = {"pdf": ("pdfplumber", "pdfminer.six"), "docx": ("python-docx",)}


def extract(format_: str, data: bytes, found: Findings) -> Draft | None:
    """The text and the elements of a file of this format; None where a problem says why not.

    Raises MissingExtraError if its extractor is not installed.
    """
    extractor(format_)
    return _READERS[format_](data, found)


def extractors(names: Iterable[str]) -> dict[str, str]:
    """What reads each format that an extractor is needed for, of the files with these names."""
    suffixes = {PurePosixPath(name).suffix.lower() for name in names}
    return {
        format_: extractor(format_)
        for suffix, format_ in sorted(EXTRACTED.items())
        if suffix in suffixes
    }


def extractor(format_: str) -> str:
    """Packages and their versions, with that of the code around them: it decides every offset.

    Raises MissingExtraError if one is not installed.
    """
    try:
        packages = [f"{name} {version(name)}" for name in _PACKAGES[format_]]
    except PackageNotFoundError as error:
        why = f"a .{format_} document"
        raise MissingExtraError.of(_PACKAGES[format_][0], "documents", why=why) from error
    return f"{', '.join(packages)}, layout {VERSION}"
