"""A corpus in memory and a golden set's way through the room."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rayeval.errors import Problem
from rayeval.golden.evaluate import Evaluate
from rayeval.golden.load import load_questions
from rayeval.golden.locate import Locate
from rayeval.golden.revisions import choose_revisions
from rayeval.tables import CATALOGUE, DOCUMENTS, PARSED, conform

Row = dict[str, Any]


@dataclass
class MemoryShard:
    """Partitions that lie in memory."""

    number: int
    count: int
    partitions: dict[str, list[pa.Table]]
    wholes: dict[str, pa.Table]

    def tables(self, name: str) -> Iterator[pa.Table]:
        return iter(self.partitions[name])

    def table(self, name: str) -> pa.Table:
        return self.wholes[name]


def blocks(text: str) -> list[Row]:
    """Every run of lines as a paragraph, or as a heading where it begins with a hash."""
    found = []
    for number, match in enumerate(re.finditer(r"\S(?:.|\r?\n(?!\r?\n))*", text), start=1):
        kind = "heading" if match[0].startswith("#") else "paragraph"
        found.append({"element_id": f"{kind}-{number}", "kind": kind,
                      "start_char": match.start(), "end_char": match.start() + len(match[0].rstrip())})  # fmt: skip
    return found


class Corpus:
    """Documents with defaults filled in: revision r1, current, parsed into blocks."""

    def __init__(self, *documents: Row) -> None:
        self.rows = []
        for given in documents:
            row = {"revision_id": "r1", "format": "text", "text_start": 0, "access": [], **given}
            row.setdefault("current", row.get("text") is not None)
            row.setdefault("elements", blocks(row["text"]) if row.get("text") else [])
            self.rows.append(row)
        self.rows.sort(key=lambda row: (row["source_id"], row["revision_id"]))

    @property
    def catalogue(self) -> pa.Table:
        rows = [{**row, "tombstone": row.get("text") is None} for row in self.rows]
        return _table(rows, CATALOGUE)

    def shards(self, count: int) -> list[MemoryShard]:
        """One partition per document, dealt out."""
        partitions = [{"documents": [], "elements": []} for _ in range(count)]
        for number, row in enumerate(self.rows):
            partitions[number % count]["documents"].append(_table([row], DOCUMENTS))
            partitions[number % count]["elements"].append(_table([row], PARSED))
        wholes = {"catalogue": self.catalogue}
        return [MemoryShard(n, count, parts, wholes) for n, parts in enumerate(partitions)]

    def evaluate(self, questions: pa.Table, *, shards: int = 1, **settings: Any) -> pa.Table:
        """Questions as evaluated."""
        questions = choose_revisions(questions, self.catalogue)
        locate = Locate()
        parts = [locate.load(shard)(questions) for shard in self.shards(shards)]
        spots = locate.gather(parts)["spots"]
        return Evaluate(self.catalogue, **settings)(questions.append_column("spots", spots))


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    return conform(pa.Table.from_pylist(list(rows), schema=schema), schema)


@pytest.fixture(scope="session")
def make_corpus() -> type[Corpus]:
    return Corpus


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., tuple[pa.Table, list[Problem]]]:
    """Loads rows (or a file's bytes) as a golden set."""

    def loaded(*rows: Any, name: str = "golden.jsonl", **options: Any):
        path = tmp_path / name
        data = rows[0] if rows and isinstance(rows[0], bytes) else None
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows if data is None)
        path.write_bytes(text.encode() if data is None else data)
        return load_questions(str(path), **options)

    return loaded


@pytest.fixture
def evidence_of(load: Callable[..., Any]) -> Callable[..., tuple[list[Row], list[Row]]]:
    """One question's (evidence, problems) as evaluated; the question's fields by name."""

    def evaluated(corpus: Corpus, *evidence: Row, **fields: Any) -> tuple[list[Row], list[Row]]:
        settings = fields.pop("settings", {})
        questions, problems = load({"question": "q", "evidence": list(evidence), **fields})
        assert problems == []
        row = corpus.evaluate(questions, **settings).to_pylist()[0]
        return row["evidence"], row["problems"]

    return evaluated


@pytest.fixture(scope="session")
def moment() -> Callable[[str], datetime]:
    """A day's beginning, UTC."""
    return lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC)
