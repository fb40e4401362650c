"""The handbook's files, read without rayeval: a fault in its loaders can't hide one in the sample."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HANDBOOK = Path(__file__).parents[2] / "rayeval" / "samples" / "handbook"
AS_OF = date(2026, 8, 1)
SPLITS = ("train", "dev", "test")


class Document(NamedTuple):
    path: Path
    text: str
    meta: dict[str, Any]

    @property
    def started(self) -> bool:
        return self.meta["valid_from"] <= AS_OF

    @property
    def deleted(self) -> bool:
        return self.meta.get("deleted_at", date.max) <= AS_OF


def read_documents() -> dict[str, dict[str | None, Document]]:
    """Revisions by source."""
    found: dict[str, dict[str | None, Document]] = defaultdict(dict)
    for path in sorted((HANDBOOK / "docs").rglob("*.*")):
        text = path.read_bytes().decode("utf-8")
        meta = yaml.safe_load(text.split("---\n", 2)[1])
        source = meta.get("source_id", path.relative_to(HANDBOOK / "docs").as_posix())
        assert meta.get("revision_id") not in found[source], path
        found[source][meta.get("revision_id")] = Document(path, text, meta)
    return dict(found)


SOURCES = read_documents()
DOCUMENTS = [document for revisions in SOURCES.values() for document in revisions.values()]
CURRENT = {
    source: max((d for d in revisions.values() if d.started), key=lambda d: d.meta["valid_from"])
    for source, revisions in SOURCES.items()
}
CURRENT = {source: document for source, document in CURRENT.items() if not document.deleted}
QUESTIONS = [
    json.loads(line) for line in (HANDBOOK / "golden.jsonl").read_text("utf-8").splitlines()
]
ALL_EVIDENCE = [(q["question_id"], e) for q in QUESTIONS for e in q["evidence"]]


def count(**wanted: Any) -> int:
    """Questions whose fields have these values; `slices` asks for one slice."""
    return sum(
        all(
            value in q[key] if key == "slices" else q[key] == value for key, value in wanted.items()
        )
        for q in QUESTIONS
    )


def document_of(evidence: dict[str, Any]) -> Document:
    source = evidence["source_id"]
    revision = evidence.get("revision_id")
    return CURRENT[source] if revision is None else SOURCES[source][revision]


def places(evidence: dict[str, Any]) -> set[str]:
    """The sources in which the evidence lies."""
    if "source_id" in evidence:
        return {evidence["source_id"]}
    return {source for source, document in CURRENT.items() if evidence["quote"] in document.text}


def gold_groups(question: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Evidence of relevance 2 and 3 by group."""
    named = {
        alternative: group["group_id"]
        for group in question.get("evidence_groups", [])
        for alternative in group["alternatives"]
    }
    groups = defaultdict(list)
    for number, evidence in enumerate(question["evidence"], 1):
        own = evidence.get("evidence_id", f"e{number}")
        if evidence["relevance"] >= 2:
            groups[evidence.get("group_id") or named.get(own, own)].append(evidence)
    return list(groups.values())


def cell(text: str, element_id: str, name: str) -> str:
    """A cell of a Markdown table: tables count from 1, rows from the header row, 1."""
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    rows = tables[int(element_id.removeprefix("table-")) - 1].splitlines()
    del rows[1]
    row, column = map(int, re.fullmatch(r"r(\d+)c(\d+)", name).groups())  # type: ignore[union-attr]
    return rows[row - 1].split("|")[column].strip()
