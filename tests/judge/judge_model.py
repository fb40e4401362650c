"""A judge by rule, for tests: it reads what is between the fences and finds claims word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rayeval.chat.engine import Failed, Reply, Request

Messages = Sequence[tuple[str, str]]
TASKS = {"You split": "claims", "You check claims against numbered": "support",
         "You check claims against a text": "reference", "You judge whether": "correctness",
         "You check whether": "citations", "You grade": "relevance"}  # fmt: skip


def task_of(messages: Messages) -> str:
    return next(name for start, name in TASKS.items() if messages[0][1].startswith(start))


def blocks(messages: Messages) -> list[tuple[str, str]]:
    """(heading, text) of everything that the user's message fences in."""
    fence = re.search(r"<<<([0-9a-f]{12}) and", messages[0][1])[1]
    pattern = rf"^([^\n]*):\n<<<{fence}\n(.*?)\n{fence}>>>$"
    return re.findall(pattern, messages[-1][1], re.DOTALL | re.MULTILINE)


def verdict(messages: Messages, schema: Mapping[str, Any]) -> Any:
    said = blocks(messages)
    given = {name.removeprefix("The ").removeprefix("question that the text answers"): text
             for name, text in said}  # fmt: skip
    claims = [(name, text) for name, text in said if name.startswith("Claim")]
    passages = {n.removeprefix("Passage "): text for n, text in said if n.startswith("Passage")}
    match task_of(messages):
        case "claims":
            return {"claims": [_claim(one, schema) for one in _sentences(given["text"])]}
        case "support":
            return {"verdicts": [_support(text, passages) for _, text in claims]}
        case "reference":
            return {
                "verdicts": [_against(text, given["text"], "not_in_text") for _, text in claims]
            }
        case "correctness":
            whole = _bare(given["reference answer"]) in _bare(given["answer to judge"])
            return {"verdict": "correct" if whole else "incorrect"}
        case "citations":
            return {"verdicts": [_cited(name, text, passages) for name, text in claims]}
        case _:
            return {
                "grades": [3 if _shares(given["question"], p) else 0 for p in passages.values()]
            }


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.。])\s*(?=[^\[\s])", text) if part.strip()]


def _bare(text: str) -> str:
    return re.sub(r"\s*\[[^\]]*\]", "", text).strip().rstrip(".。")


def _claim(sentence: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    marks = re.findall(r"E\d+", " ".join(re.findall(r"\[[^\]]*\]", sentence)))
    marked = "citations" in schema["properties"]["claims"]["items"]["properties"]
    return {"text": _bare(sentence), **({"citations": marks} if marked else {})}


def _support(claim: str, passages: Mapping[str, str]) -> dict[str, Any]:
    holding = [mark for mark, text in passages.items() if claim in text]
    if holding:
        return {"verdict": "supported", "evidence": holding}
    against = [mark for mark, text in passages.items() if claim.replace(" not", "") in text]
    if against:
        return {"verdict": "contradicted", "evidence": against}
    return {"verdict": "not_in_context", "evidence": []}


def _against(claim: str, text: str, absent: str) -> str:
    if claim in _bare(text) or claim in text:
        return "supported"
    return "contradicted" if claim.replace(" not", "") in text else absent


def _cited(name: str, claim: str, passages: Mapping[str, str]) -> str:
    marks = name.partition("which cites ")[2].split(", ")
    return "supported" if any(claim in passages[mark] for mark in marks) else "unsupported"


def _shares(question: str, passage: str) -> bool:
    return any(word.strip("?") in passage for word in question.split() if len(word) > 2)


class Model:
    """An engine that judges by rule, or as `fault` says of a request. `asked` has every request."""

    def __init__(self, fault: Callable[[str, Request], Any] = lambda task, request: None) -> None:
        self.fault, self.asked, self.calls = fault, [], 0

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        self.asked += requests
        self.calls += 1
        return [self._one(request) for request in requests]

    def tasks(self) -> list[str]:
        return [task_of(request.messages) for request in self.asked]

    def _one(self, request: Request) -> Reply | Failed:
        found = self.fault(task_of(request.messages), request)
        if isinstance(found, Failed):
            return found
        value = verdict(request.messages, request.schema or {})
        text = found if isinstance(found, str) else json.dumps(value, ensure_ascii=False)
        return Reply(text, "length" if text.endswith("…") else "stop", 10, 5, None, 1.0, "r")
