"""What one worker reads at a time: a file of many documents, or a run of files of one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rayeval import files, packed
from rayeval.corpus.extract import EXTRACTED
from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.folders import dangling
from rayeval.words import plural

FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
}
"""A file whose text is one document, by its extension in any case."""
DOCUMENTS = (*FORMATS, *EXTRACTED)
LINES = (".jsonl", ".ndjson")
TABLES = (*LINES, ".parquet")
"""A file that holds many documents; one of lines may be packed (x.jsonl.gz)."""
FILES_PER_UNIT = 256
EXTRACTED_PER_UNIT = 8
"""Finding the text of a file takes seconds, so that many workers share them out."""
_BLOCK = 1 << 20
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Unit:
    """Files that are read together, by one worker."""

    folder: str
    """As the user wrote it; empty for a lone file given without a folder."""
    names: tuple[str, ...]
    """Below `folder`, sorted: one table of documents, or a run of documents."""

    def path(self, name: str) -> str:
        """Where the file lies, as the user would write it."""
        return f"{self.folder.rstrip('/')}/{name}" if self.folder else name


def units(path: str, include: Sequence[str] | None = None) -> list[Unit]:
    """All that is to be read below `path`, sorted by name.

    path: a folder, or one JSON Lines or Parquet file, or one document; local or a URI.
    include: globs below the folder. Without them: every document; where there is none, every
        table of documents. Names that begin with a dot are read only if a glob has that dot.
    Raises DataError if there is nothing at `path`, nothing to read below it, or a file of
    unknown kind.
    """
    if files.is_folder(path):
        names = files.list_files(path)
        chosen = _chosen(names, include)
        if not chosen:
            raise _refused(path, "empty_corpus", _nothing(names, include))
        _check_names(path, chosen)
        return _split(path, chosen)
    if not files.exists(path):
        raise _refused(path, "missing_file", "there is no such file or folder")
    if extension(path) not in (*DOCUMENTS, *TABLES):
        known = ", ".join((*DOCUMENTS, *TABLES))
        raise _refused(path, "unknown_format", f"expected a folder, or a file ending in {known}")
    folder, slash, name = path.rpartition("/")
    return [Unit(folder or slash, (name,))]


def lost_links(path: str, include: Sequence[str] | None = None) -> list[Problem]:
    """A warning of every link below the folder `path` that leads nowhere.

    Of links that could be of a document or a folder, as `units` takes them.
    """
    links = () if files.is_uri(path) else sorted(dangling(path))
    found = {name: target for name, target in links if not _LONE.search(name + target)}
    globs = [_pattern(glob) for glob in (["**"] if include is None else include)]
    kinds = (*DOCUMENTS, *TABLES, "")
    message = "this link leads nowhere ({}), so nothing is read of it; mend it or remove it"
    return [
        Problem(f"{path.rstrip('/')}/{name}", None, None, "dangling_link", message.format(target),
                warning=True)
        for name, target in found.items()
        if extension(name) in kinds and any(glob.fullmatch(name) for glob in globs)
    ]  # fmt: skip


def fingerprint(unit: Unit) -> str:
    """SHA-256 over the names and the contents of the unit's files, as hex."""
    digest = hashlib.sha256()
    for name in unit.names:
        inner = hashlib.sha256()
        for block in _blocks(unit.path(name)):
            inner.update(block)
        digest.update(hashlib.sha256(name.encode()).digest() + inner.digest())
    return digest.hexdigest()


def extension(name: str) -> str:
    """The last extension with its dot, in lower case; of packed lines the inner one."""
    inner = packed.extension(name)
    return inner if inner in LINES else PurePosixPath(name).suffix.lower()


def _chosen(names: list[str], include: Sequence[str] | None) -> list[str]:
    patterns = [_pattern(glob) for glob in (["**"] if include is None else include)]
    chosen = [name for name in names if any(pattern.fullmatch(name) for pattern in patterns)]
    documents = [name for name in chosen if extension(name) in DOCUMENTS]
    tables = [name for name in chosen if extension(name) in TABLES]
    return documents or tables if include is None else documents + tables


def _check_names(folder: str, names: Sequence[str]) -> None:
    """A file's name is its source_id, which is text."""
    wrong = [ascii(name) for name in names if not name.isascii() and _LONE.search(name)]
    if wrong:
        message = "the name is not UTF-8, so it can't be a source_id; rename the file"
        raise DataError(
            [Problem(f"{folder}/{name}", None, None, "not_utf8", message) for name in wrong]
        )


def _nothing(names: Sequence[str], include: Sequence[str] | None) -> str:
    """Why a folder gives no document."""
    if include is not None:
        return f"corpus.include ({', '.join(include) or 'an empty list'}) matches none of its files"
    known = ", ".join((*DOCUMENTS, *TABLES))
    others = sorted({extension(name) or "no extension" for name in names})
    found = f"{plural(len(names), 'file')} ({', '.join(others[:5])})" if names else "no file"
    return f"the folder has {found}; expected files ending in {known}"


def _pattern(glob: str) -> re.Pattern[str]:
    """As in a shell, a wildcard doesn't stand for a dot that a name begins with; nor for ~$, with
    which Word marks a file that it has open."""
    shown = r"(?!(?<![^/])(?:\.|~\$))"
    folders = f"(?:{shown}[^/]+/)*"
    rules = {
        "**/": folders,
        "**": f"{folders}{shown}[^/]*",
        "*": f"{shown}[^/]*",
        "?": f"{shown}[^/]",
    }
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(rules.get(part) or re.escape(part) for part in parts))


def _split(folder: str, names: list[str]) -> list[Unit]:
    kinds = ((FORMATS, FILES_PER_UNIT), (EXTRACTED, EXTRACTED_PER_UNIT), (TABLES, 1))
    runs: list[tuple[str, ...]] = []
    for kind, size in kinds:
        of_kind = [name for name in names if extension(name) in kind]
        runs += [tuple(of_kind[i : i + size]) for i in range(0, len(of_kind), size)]
    return [Unit(folder, run) for run in sorted(runs)]


def _blocks(path: str) -> Iterator[bytes]:
    fs, inner = files.open_fs(path)
    try:
        with fs.open_input_stream(inner, compression=None) as stream:
            while block := stream.read(_BLOCK):
                yield block
    except OSError as error:
        raise InfrastructureError(f"can't read {path}: {error}") from error


def _refused(path: str, kind: str, message: str) -> DataError:
    return DataError([Problem(path, None, None, kind, message)])
