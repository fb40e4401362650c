"""A chat model by script, and a small project whose questions it answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.runs import Run

DOCUMENTS = {
    "leave.md": "# Leave\n\nEvery employee has 25 days of paid leave.\n\nCall 1234 for help.\n",
    "it.md": "# 장비\n\n장비 신청은 포털에서 하며 5일이 걸린다.\n\nCall 1234 for help.\n",
    "vpn.md": "VPN tokens expire after 90 days. 😀 Ask the service desk for one.\n",
}
QUESTIONS = [
    {"question_id": "q-leave", "question": "how many days of paid leave",
     "evidence": [{"source_id": "leave.md", "quote": "Every employee has 25 days of paid leave."}]},
    {"question_id": "q-it", "question": "장비는 며칠?", "language": "ko",
     "history": [{"role": "user", "content": "안녕하세요"}, {"role": "assistant", "content": "네"}],
     "evidence": [{"source_id": "it.md", "quote": "5일이 걸린다"}]},
    {"question_id": "q-vpn", "question": "when do tokens expire, and who to ask",
     "evidence": [{"source_id": "vpn.md", "quote": "VPN tokens expire after 90 days."},
                  {"source_id": "vpn.md", "quote": "Ask the service desk"}]},
    {"question_id": "q-moon", "question": "is there a moon base", "answerable": False},
]  # fmt: skip
CONFIG: dict[str, Any] = {
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "docs"},
    "chunk": {"kind": "fixed", "size": 60},
    "retrieve": {"arms": {"bm25": {"kind": "bm25", "analyzer": {"kind": "char_ngram", "n": 2}}}},
    "context": {"kind": "top_k", "depth": 2},
    "metrics": {"cutoffs": [1, 3]},
}


def told(abstained: bool, answer: str = "") -> str:
    return json.dumps({"abstained": abstained, "answer": answer}, ensure_ascii=False)


def asked(body: dict[str, Any]) -> str:
    """What a prompt's last line asks."""
    return str(body["messages"][-1]["content"]).rpartition("Question: ")[2]


def evidence(body: dict[str, Any]) -> dict[str, str]:
    """Mark → text of the evidence in a request."""
    found = re.findall(
        r'<evidence mark="(.*?)">\n(.*?)\n</evidence>', body["messages"][-1]["content"], re.DOTALL
    )
    return dict(found)


def first_piece(body: dict[str, Any]) -> str:
    """Repeats the first piece of evidence; knows nothing by heart, nor of the moon."""
    pieces = evidence(body)
    if not pieces or "moon" in asked(body):
        return told(True)
    return told(False, f"{pieces['E1'].strip()} [E1]")


def project(folder: Path, url: str, **changes: Any) -> Path:
    """Documents, questions and a configuration in `folder`; `answer` changes within its part."""
    for name, text in DOCUMENTS.items():
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS)
    (folder / "golden.jsonl").write_text(lines)
    answer = {"kind": "openai", "model": "scripted", "url": url, "retries": 0}
    values = {**CONFIG, **changes, "answer": {**answer, **changes.get("answer", {})}}
    path = folder / "rayeval.yaml"
    path.write_text(yaml.safe_dump(values, allow_unicode=True, sort_keys=False))
    return path


def run(path: Path, *sets: str, **options: Any) -> Run:
    where = Options(**{"runs": str(path.parent / "runs"), **options})
    return run_config(load_config(str(path), sets), where, Silent())
