"""Runs whose answers are judged: one scripted endpoint answers and judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import answer_runs
from faulty import Endpoint
from judge_model import TASKS, task_of, verdict

REFERENCES = {"q-leave": "Every employee has 25 days of paid leave.", "q-it": "5일이 걸린다."}


def messages(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["role"], one["content"]) for one in body["messages"]]


def judging(body: dict[str, Any]) -> bool:
    return any(body["messages"][0]["content"].startswith(start) for start in TASKS)


def rule(body: dict[str, Any]) -> str:
    """Answers with the first piece of evidence; judges word for word."""
    if not judging(body):
        return answer_runs.first_piece(body)
    schema = body["response_format"]["json_schema"]["schema"]
    return json.dumps(verdict(messages(body), schema), ensure_ascii=False)


def judged_requests(server: Endpoint) -> list[str]:
    return [task_of(messages(body)) for body in server.seen if judging(body)]


def project(folder: Path, url: str, judge: dict[str, Any] | None = None, **changes: Any) -> Path:
    judge = {"kind": "openai", "model": "scripted-judge", "url": url, "retries": 0, **(judge or {})}
    path = answer_runs.project(folder, url, judge=judge, **changes)
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text().splitlines()]
    for row in rows:
        row["reference_answer"] = REFERENCES.get(row["question_id"])
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "golden.jsonl").write_text(text)
    return path
