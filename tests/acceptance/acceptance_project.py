"""Small projects on disk, run through the commands as their users run them."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from rayeval.cli.main import run_command

BM25 = {"kind": "bm25", "analyzer": {"kind": "whitespace"}, "depth": 20}
CONFIG: dict[str, Any] = {
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "docs.jsonl"},
    "chunk": {"kind": "fixed", "size": 100_000},  # a document is a chunk
    "retrieve": {"arms": {"bm25": BM25}},
}


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code, its one JSON document, and its messages."""

    code: int
    json: Any
    err: str


def command(*arguments: str | Path) -> Said:
    """`rayeval … --json`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command([*map(str, arguments), "--json"])
    return Said(code, json.loads(out.getvalue()), err.getvalue())


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def project(
    folder: Path,
    documents: list[dict[str, Any]] | dict[str, str],
    questions: list[dict[str, Any]],
    **config: Any,
) -> Path:
    """Writes documents (rows of JSON Lines, or name → text of files), questions, configuration."""
    values = {**CONFIG, **config}
    if isinstance(documents, dict):
        values["corpus"] = {**values["corpus"], "path": "docs"}
        for name, text in documents.items():
            place = folder / "docs" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
    else:
        jsonl(folder / "docs.jsonl", documents)
    jsonl(folder / "golden.jsonl", questions)
    path = folder / "rayeval.yaml"
    path.write_text(yaml.safe_dump(values, allow_unicode=True, sort_keys=False))
    return path


class Finished:
    """A committed run: what the command said, and the tables as they lie on disk."""

    def __init__(self, said: Said) -> None:
        assert said.code == 0, said.err
        self.said, self.json = said, said.json
        self.path = Path(said.json["path"])
        self.manifest = json.loads((self.path / "manifest.json").read_text())

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.path / f"{name}.parquet")

    def value(self, metric: str, question_id: str = "q", stage: str = "bm25") -> float:
        rows = self.table("per_query").filter(question_id=question_id, stage=stage)
        return float(rows[metric].item())

    def failure(self, question_id: str = "q") -> dict[str, Any]:
        (row,) = self.table("failures").filter(question_id=question_id).to_dicts()
        return row

    def hits(self, question_id: str = "q", stage: str = "bm25") -> list[dict[str, Any]]:
        """A stage's hits in order, each with its place."""
        (row,) = self.table("trace").filter(question_id=question_id, stage=stage).to_dicts()
        places = {p["chunk_id"]: p for p in self.table("passages").to_dicts()}
        return [{**places[hit["chunk_id"]], **hit} for hit in row["hits"]]

    def sources(self, question_id: str = "q", stage: str = "bm25") -> list[str]:
        return [hit["source_id"] for hit in self.hits(question_id, stage)]


def finish(config: Path, *arguments: str) -> Finished:
    """`rayeval run CONFIG …`, in runs and a store beside the configuration."""
    return Finished(command("run", config, "--runs", config.parent / "runs", *arguments))


def ranked(*names: str, words: int = 12) -> list[dict[str, str]]:
    """Documents that the question `QUERY` ranks in this order: each has one of its words less."""
    asked = QUERY.split()
    rows = []
    for number, name in enumerate(names):
        kept = asked[: len(names) - number]
        rest = [f"{name.lower()}{i}" for i in range(words - len(kept))]
        rows.append({"source_id": name, "text": " ".join([*kept, *rest])})
    return rows


QUERY = "one two three four five six seven eight nine ten"
