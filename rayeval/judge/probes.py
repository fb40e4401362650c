"""Whether verdicts stay as they are where they should: asked for again, with everything that is
listed in another order, and with what is judged said twice over.

Source: Zheng et al. 2023, arXiv:2306.05685, §3.3 (position and verbosity); padding by repetition
needs no words of any language and adds nothing that could be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

from rayeval.chat.engine import Engine
from rayeval.chat.prompt import Prompt
from rayeval.judge.agreement import verdicts
from rayeval.judge.asking import Asker
from rayeval.judge.item import Item, Passage
from rayeval.judge.tasks import EVERY

Kind = Literal["again", "position", "verbosity"]
KINDS: tuple[Kind, ...] = ("again", "position", "verbosity")


@dataclass(frozen=True)
class Probed:
    """Verdicts before and after; how often they were others."""

    n: int
    """Verdicts that were given both times."""
    better: int
    worse: int
    lost: int
    """Verdicts that were given at first, and not when asked for this way."""


def probed(
    items: Sequence[Item],
    task: str,
    scale: Sequence[Any],
    engine: Engine,
    prompts: Mapping[str, Prompt],
) -> dict[Kind, Probed]:
    """What each kind of probe does to the verdicts of one task.

    items: answers with the verdicts that they had. scale: the verdicts, the worst first.
    `position` leaves out answers of which nothing stands in a list of two or more.
    """
    [asked] = [one for one in EVERY if one.name == task]
    found: dict[Kind, Probed] = {}
    for kind in KINDS:
        mine = [item for item in items if kind != "position" or _can_be_turned(item, task)]
        changed = [_changed(item, task, kind) for item in mine]
        repeat = int(kind == "again")
        Asker(engine, asked.part_of, prompts, repeat).ask(changed, [asked])
        pairs = [
            pair
            for was, now in zip(mine, changed, strict=True)
            for pair in _pairs(was, now, task, turned=kind == "position")
        ]
        found[kind] = _counted(pairs, scale)
    return found


def _counted(pairs: Iterable[tuple[Any, Any]], scale: Sequence[Any]) -> Probed:
    """pairs: (verdict before, verdict after), the latter None where there is none."""
    given = [(was, now) for was, now in pairs if was is not None]
    both = [(scale.index(was), scale.index(now)) for was, now in given if now is not None]
    better, worse = (sum(sign * (now - was) > 0 for was, now in both) for sign in (1, -1))
    return Probed(len(both), better, worse, len(given) - len(both))


def _pairs(was: Item, now: Item, task: str, *, turned: bool) -> Iterable[tuple[Any, Any]]:
    before, after = verdicts(was.judged(), task), verdicts(now.judged(), task)
    if not after:  # nothing usable came back
        after = [None] * len(before)
    return zip(before, after[::-1] if turned else after, strict=True)


def _can_be_turned(item: Item, task: str) -> bool:
    shown = len(item.passages or ()) if task != "reference" else 0
    claims = len(item.claims or ()) if task != "relevance" else 0
    return task != "correctness" and max(shown, claims) > 1


def _changed(item: Item, task: str, kind: Kind) -> Item:
    """The item without the task's verdicts, changed by the probe."""
    bare = replace(
        item,
        claims=[{"text": one["text"], "citations": one["citations"]} for one in item.claims or ()],
        reference_claims=None,
        correctness=None,
        relevance=None,
        outcomes=[],
    )
    match kind:
        case "position":
            return _turned(bare)
        case "verbosity":
            return _padded(bare, task)
        case _:
            return bare


def _turned(item: Item) -> Item:
    """Claims and passages the other way round; the first passage is [E1] again."""
    passages = tuple(
        Passage(f"E{n}", one.chunk_id, one.text)
        for n, one in enumerate(reversed(item.passages or ()), 1)
    )
    claims = deepcopy(item.claims or [])[::-1]
    return replace(item, passages=passages, claims=claims)


def _padded(item: Item, task: str) -> Item:
    """What is judged, twice: the passages, the answer, or its claims."""
    if task == "relevance":
        passages = (replace(one, text=_twice(one.text)) for one in item.passages or ())
        return replace(item, passages=tuple(passages))
    if task == "correctness":
        return replace(item, text=_twice(item.text or ""))
    claims = [{**claim, "text": _twice(claim["text"])} for claim in item.claims or ()]
    return replace(item, claims=claims)


def _twice(text: str) -> str:
    return f"{text}\n\n{text}"


def with_verdicts(items: Sequence[Item], judged: Sequence[Mapping[str, Any]]) -> None:
    """Notes on each item the verdicts that it had; judged: rows of JUDGED, in their order."""
    for item, row in zip(items, judged, strict=True):
        for name in ("claims", "reference_claims", "correctness", "relevance"):
            setattr(item, name, row[name])
