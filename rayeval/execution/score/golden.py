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
from rayeval.packed import extension


def refuse_beir(golden: str) -> None:
    """Raises ConfigError for what can be no golden set as it is: a folder, or BEIR's judgements."""
    if not files.exists(golden):
        return
    folder = golden.rstrip("/") if files.is_folder(golden) else None
    if folder is None and golden.lower().endswith(".tsv") and _judges(golden):
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


def _judges(path: str) -> bool:
    """Whether the file begins as BEIR's judgements do."""
    fs, inner = files.open_fs(path)
    with fs.open_input_stream(inner) as stream:
        return bool(stream.read(64).lstrip(b"\xef\xbb\xbf").startswith(b"query-id\tcorpus-id"))


def golden_file(
    golden: str, trace: Sequence[str], format_: str | None, root: str, watcher: Watcher
) -> str:
    """Where the golden set lies: as it is, or written into the store by the format's mapping.

    A file that is both golden set and trace, or that has none of our extensions, is not in our
    contract: its format says which fields are which, and what it decided is said.
    """
    ours = golden not in trace and extension(golden) in FORMATS
    if format_ is None or ours:
        return golden
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
    return path
