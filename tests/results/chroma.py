"""Chroma's chunking_evaluation data (MIT) as documents and a golden set.

All references of a question are needed, so each is a group of its own. Offsets are checked against
the quotes when the run locates them.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

CORPORA = ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")


def write(source: Path, target: Path) -> int:
    """Writes `docs/*.md` and `golden.jsonl` below `target`; returns the number of questions.

    source: the folder with `questions_df.csv` and a Markdown file per corpus.
    """
    (target / "docs").mkdir(parents=True, exist_ok=True)
    for name in CORPORA:
        (target / "docs" / f"{name}.md").write_bytes((source / f"{name}.md").read_bytes())
    with (source / "questions_df.csv").open(newline="", encoding="utf-8") as file:
        rows = [_question(number, row) for number, row in enumerate(csv.DictReader(file))]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (target / "golden.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(rows)


def _question(number: int, row: dict[str, str]) -> dict[str, object]:
    return {
        "question_id": f"chroma-{number:03d}",
        "question": row["question"],
        "language": "en",
        "evidence": [
            {
                "source_id": f"{row['corpus_id']}.md",
                "start_char": reference["start_index"],
                "end_char": reference["end_index"],
                "quote": reference["content"],
            }
            for reference in json.loads(row["references"])
        ],
        "slices": [row["corpus_id"]],
        "created_from": "synthetic, filtered by people",
        "validated": True,
    }
