"""Two real runs that were answered and judged by script, with all that can be read of an answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / room) for room in ("answer", "chat", "judge")]

import answer_runs
import judge_runs
from answer_runs import asked, told
from faulty import Fault, serving
from pages_runs import HOSTILE

from rayeval.execution.decide.comparison import Comparison, Options, compare_runs, write_comparison
from rayeval.execution.runs import Run

FACTS = {
    "leave": ("how many days of paid leave", "Every employee has 25 days of paid leave."),
    "it": ("장비 신청은 며칠 걸리나요", "장비 신청은 포털에서 하며 5일이 걸린다."),
    "vpn": ("when do VPN tokens expire", "VPN tokens expire after 90 days."),
    "desk": ("when does the service desk open", "The service desk opens at nine."),
    "badge": ("what does a lost badge cost", "A lost badge costs twenty euros."),
    "train": ("which class on the train", "Trains are booked in second class."),
    "hostile": ("zebra markup", f"A zebra says {HOSTILE.replace(chr(0x2028), ' ')} here."),
    "broken": ("how long are backups kept", "Backups are kept for thirty days."),
}
"""Question id → question, and the sentence that answers it."""
UNANSWERABLE = {"moon": "is there a moon base", "mars": "who runs the mars office"}
OLD: dict[str, Any] = {
    "leave": "Every employee has 25 days of paid leave. [E1]",
    "it": "장비 신청은 포털에서 하며 5일이 걸린다. 그리고 팀장이 승인한다. [E1, E2]",
    "vpn": "VPN tokens expire after 90 days. They are renewed by post. [E1][E9]",
    "desk": None,
    "badge": "A lost badge costs ten euros. [E1]",
    "train": "Trains are booked in second class. [E1]",
    "hostile": f"<b>Bold</b> {HOSTILE} [E1] [E7]",
    "broken": "no JSON",
    "moon": None,
    "mars": "The mars office is run by nobody. [E1]",
}
"""What the first model says; null refuses. Every other time it is wrong about trains."""
NEW = OLD | {
    "leave": "Every employee has 30 days of paid leave. [E1]",
    "desk": "The service desk opens at nine. [E1]",
    "mars": None,
}


def script(said: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """Answers, and judges word for word, except that the support of the badge is never judged."""
    questions = {text: name for name, (text, _) in FACTS.items()}
    questions |= {text: name for name, text in UNANSWERABLE.items()}

    def rule(body: dict[str, Any]) -> Any:
        if judge_runs.judging(body):
            support = "numbered passages" in body["messages"][0]["content"]
            return '{"verdicts": []}' if support and "badge costs ten" in str(body) else (
                judge_runs.rule(body)
            )  # fmt: skip
        name = questions[asked(body).strip()]
        answer = said[name]
        if name == "broken":
            return Fault(status=400) if "evidence mark" in str(body) else answer
        if not answer_runs.evidence(body):
            return told(True)
        if name == "train" and body.get("seed", 0) % 2:
            answer = "Trains are booked in first class. [E1]"
        return told(answer is None, answer or "")

    return rule


def questions() -> list[dict[str, Any]]:
    """Of the golden set; by turns of two splits and two slices."""
    rows: list[dict[str, Any]] = [
        {"question_id": name, "question": text, "reference_answer": sentence,
         "evidence": [{"source_id": f"{name}.md", "quote": sentence}],
         "language": "ko" if name == "it" else "en",
         "slices": ["office" if number % 2 else "people"], "split": ("dev", "test")[number % 2]}
        for number, (name, (text, sentence)) in enumerate(FACTS.items())
    ]  # fmt: skip
    return rows + [
        {"question_id": name, "question": text, "answerable": False, "split": "dev"}
        for name, text in UNANSWERABLE.items()
    ]


def made(folder: Path, said: dict[str, Any], *sets: str) -> Run:
    """A run in which the model says `said`."""
    folder.mkdir(parents=True)
    with serving(script(said)) as server:
        settings = {"bracket": ["closed_book", "gold_context"], "repeats": 2,
                    "prices": {"input_per_million": 150, "output_per_million": 600}}  # fmt: skip
        path = judge_runs.project(
            folder, server.url, {"twice": {"sample": 6}}, answer=settings,
            chunk={"kind": "fixed", "size": 200}, context={"kind": "top_k", "depth": 3},
        )  # fmt: skip
        for old in (folder / "docs").iterdir():
            old.unlink()
        for name, (_, sentence) in FACTS.items():
            (folder / "docs" / f"{name}.md").write_text(f"{sentence}\nCall 1234 for help.\n")
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in questions())
        (folder / "golden.jsonl").write_text("".join(lines))
        return answer_runs.run(path, *sets)


def answered_pair(folder: Path) -> tuple[Run, Run, Comparison]:
    """The first run, the second, and their comparison beside the second."""
    base, new = made(folder / "old", OLD), made(folder / "new", NEW, "answer.revision=2")
    found = compare_runs(base, new, Options(replicates=200))
    return base, new, write_comparison(found, str(folder / "new" / "runs"))


if __name__ == "__main__":
    print(made(Path(sys.argv[1]), OLD).path)
