"""Runs by name: `main` is whichever run was promoted to it last."""

from __future__ import annotations

import getpass
import json
import re
from dataclasses import asdict, dataclass

from rayeval import files
from rayeval.errors import RunError
from rayeval.execution.lock import held
from rayeval.execution.manifest import now
from rayeval.execution.runs import Run, load

LOG = "baselines.jsonl"
"""Every promotion, the oldest first; the last of a name holds."""
_NAME = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True)
class Promotion:
    """A run that got a name."""

    name: str
    run_id: str
    was: str | None
    """The run that had the name before: promote it again to go back."""
    by: str
    at: str


def promotions(runs: str) -> list[Promotion]:
    """The whole log."""
    path = f"{runs.rstrip('/')}/{LOG}"
    if not files.exists(path):
        return []
    try:
        lines = files.read_bytes(path).decode().removesuffix("\n").split("\n")
        return [Promotion(**json.loads(line)) for line in lines]
    except (ValueError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error}; expected a promotion on every line") from error


def promote(run: Run, name: str, runs: str) -> Promotion:
    """Gives `run` the name; what had it before stays in the log."""
    if not _NAME.fullmatch(name):
        raise RunError(f"{name!r} can't name a baseline; expected a word such as main")
    with held(runs, wait=True):  # of two at once the later would forget the other
        log = promotions(runs)
        made = Promotion(name, run.run_id, current(log).get(name), _who(), now())
        lines = [json.dumps(asdict(each), ensure_ascii=False) for each in [*log, made]]
        files.write_bytes(f"{runs.rstrip('/')}/{LOG}", ("\n".join(lines) + "\n").encode())
    return made


def current(log: list[Promotion]) -> dict[str, str]:
    """Name → run id."""
    return {each.name: each.run_id for each in log}


def baseline(name: str, runs: str) -> Run:
    """The run that has the name, or that the name itself is."""
    named = current(promotions(runs))
    if name in named:
        return load(named[name], runs)
    try:
        return load(name, runs)
    except RunError as error:
        known = ", ".join(sorted(named)) or "none"
        raise RunError(
            f"{error}; nor is it a baseline's name (there are: {known}; "
            f"`rayeval runs promote RUN --as {name}` makes one)"
        ) from error


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
