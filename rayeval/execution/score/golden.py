"""The questions of a file that some tool wrote together with its hits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from rayeval import files
from rayeval.errors import ConfigError, DataError
from rayeval.execution.progress import Watcher
from rayeval.execution.score.spool import hashed, importer
from rayeval.golden.records import FORMATS
from rayeval.interop.trec import is_beir, names_in
from rayeval.packed import extension


def refuse_beir(golden: str) -> None:
    """Raises ConfigError for what can be no golden set as it is: a folder, or BEIR's judgements."""
    if not files.exists(golden):
        return
    folder = golden.rstrip("/") if files.is_folder(golden) else None
    if folder is None and is_beir(golden):
        folder = str(PurePosixPath(golden).parent.parent)
    if folder is None:
        return
    if files.exists(f"{folder}/queries.jsonl"):
        raise ConfigError(
            f"golden: {golden} is BEIR's, which a score reads in our form: say `rayeval golden "
            f"import beir {folder} --out DIR`, then --golden DIR/golden.jsonl"
        )
    if files.is_folder(golden):
        raise ConfigError(f"golden: {golden} is a folder; name a file of questions in it")


def refuse_ours(golden: str) -> None:
    """Raises ConfigError for what the TREC convention can't read as judgements: a golden set of
    ours, or a folder."""
    if files.is_folder(golden):
        raise ConfigError(f"golden: {golden} is a folder; name the judgements in it")
    if files.exists(golden) and _asks(golden):
        raise ConfigError(
            f"golden: {golden} holds questions, as golden sets of rayeval's do; --convention trec "
            "scores on TREC's judgements (qrels), `query 0 document grade` a line, or BEIR's .tsv. "
            "Score on it without --convention; `rayeval export RUN --format trec --out DIR` then "
            "writes its judgements and the run's hits, which --convention trec takes"
        )


def _asks(path: str) -> bool:
    """Whether the file has a column, or begins with an object, as golden sets do."""
    kind = extension(path)
    if kind == ".parquet":
        return "question" in names_in(path)
    with files.reading(path) as stream:
        begin = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return bool(begin.startswith(b"{") or (kind == ".csv" and b"question" in begin.split(b"\n")[0]))


def golden_file(
    golden: str, trace: Sequence[str], format_: str | None, root: str, watcher: Watcher
) -> tuple[str, int | None]:
    """Where the golden set lies: as it is, or written into the store by the format's mapping.

    Returns also from which relevance evidence is gold by the format's own convention, if by any.

    A file that is both golden set and trace, or that has none of our extensions, is not in our
    contract: its format says which fields are which, and what it decided is said.
    """
    ours = golden not in trace and extension(golden) in FORMATS
    if format_ is None or ours:
        return golden, None
    imported = importer(format_).read([golden])
    if imported.questions is None:
        raise ConfigError(f"{golden}: the format {format_} holds no questions; name a golden set")
    notes = imported.of_gold if golden in trace else [*imported.of_gold, *imported.notes]
    for note in notes:
        watcher.say(f"note  {note}")
    rows = list(imported.questions)
    if wrong := [problem for problem in imported.problems if not problem.warning]:
        raise DataError(wrong)
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    path = f"{files.absolute(root)}/golden/{hashed([golden])[:32]}.{format_}.jsonl"
    files.write_bytes(path, lines.encode())
    return path, imported.relevant
