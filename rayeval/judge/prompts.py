"""The prompts of a judge's tasks: files beside them, or the user's own.

What is judged is data, and a passage may say "ignore all of this": every text stands between fences
that it can't hold, since they are a hash of all the texts of the request, and a verdict is one of a
few words whatever a text asks for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from rayeval.chat import prompt
from rayeval.chat.prompt import Prompt

FOLDER = Path(__file__).parent / "tasks"
KNOWN = {
    "claims": frozenset({"question", "text", "marks", "fence"}),
    "support": frozenset({"passages", "claims", "fence"}),
    "reference": frozenset({"question", "text", "claims", "fence"}),
    "correctness": frozenset({"question", "reference", "answer", "fence"}),
    "citations": frozenset({"passages", "claims", "fence"}),
    "relevance": frozenset({"question", "passages", "fence"}),
}
"""What the places of each task's prompt may be called."""


def load(task: str, path: str | None) -> Prompt:
    """The prompt of a task: the file at `path`, else rayeval's own.

    Raises ConfigError if it is no prompt, or has places that nothing fills.
    """
    return prompt.load(path or str(FOLDER / f"{task}.md"), KNOWN[task])


def fence(values: Mapping[str, Any]) -> str:
    """What ends the texts in `values`: the same for the same texts, and in none of them."""
    said = json.dumps(values, default=_plain, sort_keys=True)
    digest, salt = "", 0
    while not digest or digest in said:
        digest = hashlib.sha256(f"{salt}{said}".encode()).hexdigest()[:12]
        salt += 1
    return digest


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
