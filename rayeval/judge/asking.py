"""Tasks put to a judge, all of a batch at once: verdicts, or what came instead of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.chat.engine import Engine, Failed, Reply, Request
from rayeval.chat.prompt import Prompt
from rayeval.chat.structured import Bad, parse
from rayeval.judge.item import Item
from rayeval.judge.prompts import fence
from rayeval.judge.tasks import Task

TOOK = ("prompt_tokens", "completion_tokens", "cost_usd")
"""What a reply tells of its price; nothing where there is none."""


@dataclass(frozen=True)
class Asker:
    """A judge, what it is asked and by which prompts."""

    engine: Engine
    tasks: frozenset[str]
    """Of the configuration."""
    prompts: Mapping[str, Prompt]
    repeat: int = 0
    """Which of several verdicts on the same answer is wanted."""

    def ask(self, items: Sequence[Item], tasks: Iterable[Task]) -> None:
        """Puts every task to every item that it applies to, equal requests once, and notes on the
        items what is said; where nothing is that can be used, the outcome says why."""
        wanted = [task for task in tasks if task.part_of & self.tasks]
        asked = [(i, task) for task in wanted for i in items if task.needs_asking(i)]
        requests = [self.request(item, task) for item, task in asked]
        keys = [json.dumps([r.messages, r.schema], sort_keys=True) for r in requests]
        once = dict(zip(keys, requests, strict=True))
        replies = dict(zip(once, self.engine.complete(list(once.values())), strict=True))
        for (item, task), key, request in zip(asked, keys, requests, strict=True):
            item.outcomes.append(_taken(item, task, request, replies[key]))

    def request(self, item: Item, task: Task) -> Request:
        """What the judge is asked."""
        prompt, values = self.prompts[task.prompt], task.values(item)
        messages = prompt.messages(**values, fence=fence(values))
        return Request(messages, prompt.hash, task.schema(item), self.repeat)


def _taken(item: Item, task: Task, request: Request, reply: Reply | Failed) -> dict[str, Any]:
    """One row of OUTCOME; verdicts that can be used are on `item` then."""
    outcome, reason = "ok", None
    if isinstance(reply, Failed):
        outcome, reason = reply.outcome, reply.reason
    else:
        found = parse(reply, request.schema or {})
        if isinstance(found, Bad):
            outcome, reason = found.outcome, found.reason
        else:
            task.take(item, found)
    took = {name: getattr(reply, name, None) for name in TOOK}
    return {
        "task": task.name, "outcome": outcome, "reason": reason, "request": reply.request, **took,
    }  # fmt: skip
