"""Runs whose answers are judged: one scripted endpoint answers and judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import answer_runs
from faulty import Endpoint
from judge_model import TASKS, task_of, verdict

from rayeval.execution.runs import Run

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


def recorded(path: Path, run: Run, **changes: Any) -> Path:
    """A record of the run's judge in both languages of its questions."""
    pins = run.manifest["judge"]
    judge = {"model": pins["model"], "revision": pins["revision"], "task": "support",
             "prompt": pins["prompts"]["support"]["hash"]}  # fmt: skip
    one = {"n": 100, "clusters": 20, "kappa": 0.7, "kappa_quadratic": None, "agreement": 0.9,
           "sensitivity": 0.9, "specificity": 0.8, "alpha": 0.7, "prevalence_human": 0.8,
           "intervals": {"kappa": [0.5, 0.8]}, "floor": 0.4, "labels_sha256": {}, "made": "now"}  # fmt: skip
    judge |= {name: changes.pop(name) for name in [*changes] if name in judge}
    languages = changes.pop("languages", ["ko", None])
    records = [{**one, **changes, "judge": {**judge, "language": name}} for name in languages]
    path.write_text(json.dumps({"records": records}))
    return path
