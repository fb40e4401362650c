"""A small project on disk: Korean and English, revisions, access, every evidence form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rayeval.execution.runs import Run

DETERMINISTIC = (
    "questions", "trace", "passages", "per_query", "failures", "aggregate", "slices",
)  # fmt: skip

DOCUMENTS = [
    {"source_id": "leave", "revision_id": "2025", "valid_from": "2025-01-01", "format": "markdown",
     "text": "# Leave\n\nEvery employee has 20 days of paid leave.\n"},
    {"source_id": "leave", "revision_id": "2026", "valid_from": "2026-01-01", "format": "markdown",
     "text": "# Leave\n\nEvery employee has 25 days of paid leave.\n\n## Carry-over\n\n"
             "Five unused days may be taken until March.\n"},
    {"source_id": "it", "format": "markdown",
     "text": "# 장비\n\n장비 신청은 IT 헬프데스크 포털에서 하며 처리에는 영업일 기준 5일이 걸린다.\n\n"
             "| 코드 | 뜻 |\n|---|---|\n| ERR-4012 | 인증서 만료 |\n| ERR-4013 | 시간 초과 |\n"},
    {"source_id": "vpn", "format": "text",
     "text": "VPN access needs a token. Ask the service desk for one.\n\nTokens expire after 90 days."},
    {"source_id": "salary", "format": "text", "access": ["hr"],
     "text": "Salary bands: band four earns between 60 and 70 thousand."},
    {"source_id": "site", "format": "html",
     "text": "<html><body><h1>Visitors</h1><p>Visitors sign in at the <b>front desk</b> &amp; "
             "wear a badge.</p><script>var x = 'badge';</script></body></html>"},
    {"source_id": "old", "format": "text", "deleted_at": "2026-02-01",
     "text": "The cafeteria opens at noon."},
    *({"source_id": f"filler-{n:02d}", "format": "text",
       "text": f"Notes of meeting {n}: the desk, the portal and the days were discussed. " * 6}
      for n in range(12)),
]  # fmt: skip

QUESTIONS = [
    {"question_id": "q-leave", "question": "how many days of paid leave",
     "evidence": [{"source_id": "leave", "quote": "Every employee has 25 days of paid leave."}],
     "slices": ["number_date"], "created_from": "log: chat"},
    {"question_id": "q-ko", "question": "장비 신청하면 며칠 걸리나요", "language": "ko",
     "evidence": [{"source_id": "it", "quote": "영업일 기준 5일이 걸린다"}]},
    {"question_id": "q-code", "question": "ERR-4012",
     "evidence": [{"source_id": "it", "element_id": "table-1", "cell": "r2c2"}],
     "slices": ["exact_identifier"]},
    {"question_id": "q-two", "question": "VPN token expiry and who to ask",
     "evidence": [{"source_id": "vpn", "quote": "Tokens expire after 90 days."},
                  {"source_id": "vpn", "quote": "Ask the service desk for one."}]},
    {"question_id": "q-either", "question": "visitors badge or front desk",
     "evidence": [{"evidence_id": "a", "source_id": "site", "quote": "wear a badge"},
                  {"evidence_id": "b", "source_id": "vpn", "start_char": 0, "end_char": 25}],
     "evidence_groups": [{"group_id": "g", "alternatives": ["a", "b"]}]},
    {"question_id": "q-hr", "question": "band four salary", "principals": ["hr"],
     "evidence": [{"source_id": "salary", "quote": "between 60 and 70 thousand"}]},
    {"question_id": "q-forbidden", "question": "band four salary",
     "evidence": [{"source_id": "salary", "quote": "between 60 and 70 thousand"}]},
    {"question_id": "q-old", "question": "how many days of leave in 2025",
     "evidence": [{"source_id": "leave", "revision_id": "2025", "quote": "20 days"}]},
    {"question_id": "q-gone", "question": "what about the moon base",
     "evidence": [{"source_id": "moon", "quote": "base"}]},
    {"question_id": "q-none", "question": "where is the bicycle shed", "answerable": False},
    {"question_id": "q-vocab", "question": "holiday entitlement",
     "evidence": [{"source_id": "leave", "quote": "Five unused days may be taken until March."}]},
    {"question_id": "q-synthetic", "question": "unused days until March", "created_from":
     "synthetic", "evidence": [{"source_id": "leave", "quote": "Five unused days"}]},
    *({"question_id": f"q-meeting-{n:03d}", "question": f"notes of meeting {n % 12}",
       "evidence": [{"source_id": f"filler-{n % 12:02d}"}]} for n in range(80)),
]  # fmt: skip

CONFIG: dict[str, Any] = {
    "name": "small",
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "documents.jsonl", "as_of": "2026-08-01"},
    "chunk": {"kind": "fixed", "size": 60, "overlap": 10},
    "retrieve": {
        "filter": {"access": True, "current": True},
        "arms": {
            "bm25": {"kind": "bm25", "analyzer": {"kind": "char_ngram", "n": 2}, "depth": 10},
            "dense": {
                "kind": "dense",
                "embedder": {"kind": "hashed", "dim": 64},
                "depth": 10,
                "ann": {"kind": "hnsw", "m": 4, "ef_search": 4, "ef_construction": 8},
            },
        },
    },
    "fuse": {"kind": "rrf", "depth": 8},
    "context": {"kind": "budget", "max_tokens": 60, "depth": 4},
    "metrics": {"cutoffs": [1, 5, "40tok"]},
}


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def contents(run: Run) -> dict[str, bytes]:
    """The bytes of every deterministic table."""
    return {name: Path(run.path, f"{name}.parquet").read_bytes() for name in DETERMINISTIC}
