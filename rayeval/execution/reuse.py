"""Vectors are computed once per (model revision, text), whichever chunking asks for them.

Every finished output of an embedding step is registered under its model; a later step looks its
texts up by digest and computes only those that no registered output has. The look-up holds about
32 bytes per stored text and takes outputs until it holds `LIMIT` texts.
"""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.execution.step import Step
from rayeval.execution.store import Output, read
from rayeval.tables import conform

LIMIT = 50_000_000
DIGEST = pa.binary(16)


def register(root: str, step: Step) -> None:
    """Makes the finished output of `step` known to later steps of the same model."""
    if step.reuse is not None:
        files.write_json(f"{root}/reuse/{step.reuse}/{step.key}.json", {"key": step.key})


def digests(texts: pa.ChunkedArray) -> pa.Array:
    """The first 16 bytes of every text's sha256."""
    values = [hashlib.sha256(text.encode()).digest()[:16] for text in texts.to_pylist()]
    return pa.array(values, DIGEST)


class Known:
    """The rows that earlier outputs of one model have, by the digest of their text."""

    def __init__(self, root: str, step: Step) -> None:
        self.schema = step.schema
        self.paths: list[str] = []
        frames = [pl.DataFrame(schema={"digest": pl.Binary, "path": pl.Int64, "row": pl.Int64})]
        total = 0
        for path in _outputs(root, step):
            table = read(path, ["text_digest", "error"])
            frame = _index(table, len(self.paths))
            self.paths.append(path)
            frames.append(frame)
            total += frame.height
            if total > LIMIT:
                break
        self.index = pl.concat(frames).unique("digest", keep="first", maintain_order=True)

    def rows(self, wanted: pa.Array) -> pa.Table:
        """The known rows among `wanted`, distinct digests, in any order."""
        asked = pl.DataFrame({"digest": pl.Series(wanted.to_pylist(), dtype=pl.Binary)})
        hits = asked.join(self.index, on="digest")
        found = [
            read(self.paths[path]).take(part["row"].to_arrow())
            for (path,), part in hits.sort("path", "row").group_by("path", maintain_order=True)
        ]
        return pa.concat_tables(found) if found else self.schema.empty_table()


def spread(table: pa.Table, wanted: pa.Array, schema: pa.Schema) -> pa.Table:
    """A row of `table`, one per digest, for every digest of `wanted`."""
    place = {digest: row for row, digest in enumerate(table["text_digest"].to_pylist())}
    rows = np.array([place[digest] for digest in wanted.to_pylist()], dtype=np.int64)
    return conform(table.take(pa.array(rows)), schema)


def _outputs(root: str, step: Step) -> list[str]:
    """The files of every other registered output of the step's model."""
    folder = f"{root}/reuse/{step.reuse}"
    keys = [name.removesuffix(".json") for name in files.list_files(folder) if name[0] != "."]
    outputs = [Output(root, key) for key in keys if key != step.key]
    whole = [output for output in outputs if output.manifest() is not None]
    return [path for output in whole for path in output.paths()]


def _index(table: pa.Table, path: int) -> pl.DataFrame:
    """Digest → row of one file, for the rows without an error."""
    frame = pl.DataFrame(
        {
            "digest": pl.Series(table["text_digest"].to_pylist(), dtype=pl.Binary),
            "path": pl.Series([path] * table.num_rows, dtype=pl.Int64),
            "row": pl.Series(range(table.num_rows), dtype=pl.Int64),
        }
    )
    healthy = pl.Series(table["error"].is_null().to_numpy(zero_copy_only=False))
    return frame.filter(healthy)
