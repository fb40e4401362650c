"""DESIGN §5 word by word, in sets of characters: slow, plain, and without any code of rayeval's."""

from __future__ import annotations

import math
from typing import Any

FULL, PARTIAL, RELEVANT = 0.8, 0.2, 2
Place = tuple[str, int]
"""A character: (source, offset)."""


def characters(source: str, spans: list[dict[str, int]]) -> set[Place]:
    return {(source, at) for s in spans for at in range(s["start_char"], s["end_char"])}


class Question:
    """A question's evidence, as the golden set states it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.complete = row.get("labels") == "complete"
        self.evidence = [
            (
                one.get("group_id") or f"own-{number}",
                one.get("relevance", 3),
                characters(one["source_id"], [one]),
                one["source_id"],
            )
            for number, one in enumerate(row["evidence"])
        ]
        ids = dict.fromkeys(group for group, *_ in self.evidence)
        self.every = {g: [e for e in self.evidence if e[0] == g] for g in ids}
        self.groups = {
            g: [e for e in members if e[1] >= RELEVANT]
            for g, members in self.every.items()
            if any(e[1] >= RELEVANT for e in members)
        }

    def grade(self, group: str) -> int:
        return max(e[1] for e in self.every[group])

    def counting(self, group: str) -> list[tuple[str, int, set[Place], str]]:
        """The evidence that finds the group: gold, or in a group without gold any of grade 1."""
        return self.groups.get(group) or [e for e in self.every[group] if e[1] >= 1]


def covers(held: set[Place], evidence: set[Place], share: float) -> bool:
    return len(held & evidence) >= share * len(evidence) - 1e-9


def rank_of(hits: list[set[Place]], members: list[Any]) -> int | None:
    """The first hit that alone covers enough of one of the members."""
    for rank, held in enumerate(hits, start=1):
        if any(covers(held, e[2], FULL) for e in members):
            return rank
    return None


def positions(question: Question, hits: list[set[Place]], groups: list[str]) -> dict[str, int]:
    ranks = {g: rank_of(hits, question.counting(g)) for g in groups}
    order = sorted(
        (g for g in groups if ranks[g] is not None), key=lambda g: (ranks[g], -question.grade(g), g)
    )
    placed: dict[str, int] = {}
    last = 0
    for group in order:
        last = max(ranks[group] or 0, last + 1)
        placed[group] = last
    return placed


def measured(
    row: dict[str, Any], hits: list[dict[str, Any]], cutoff: int | str
) -> dict[str, float]:
    """Every metric of one question at one cutoff; hits: in order, with place and tokens."""
    question = Question(row)
    if isinstance(cutoff, str):
        budget, taken = int(cutoff.removesuffix("tok")), []
        for hit in hits:
            if sum(h["tokens"] for h in taken) + hit["tokens"] > budget:
                break
            taken.append(hit)
        size, last = len(taken), math.inf
    else:
        taken, size, last = hits[:cutoff], cutoff, cutoff
    held = [characters(hit["source_id"], hit["spans"]) for hit in taken]
    values = {} if not question.groups else _of_gold(question, taken, held, size, last)
    graded = [g for g in question.every if question.grade(g) >= 1]
    if graded:
        gains = {g: 2 ** question.grade(g) - 1 for g in graded}
        placed = positions(question, held, graded)
        found = sum(gains[g] / math.log2(p + 1) for g, p in placed.items() if p <= last)
        best = sorted(gains.values(), reverse=True)
        ideal = sum(g / math.log2(i + 1) for i, g in enumerate(best, start=1) if i <= last)
        values["ndcg"] = found / ideal
    if taken:
        labelled = sum(any(h & e[2] for e in question.evidence) for h in held)
        values["judged"] = 1.0 if question.complete else labelled / len(taken)
    return values


def of_context(row: dict[str, Any], hits: list[dict[str, Any]]) -> dict[str, float]:
    """The metrics of the selected context alone."""
    if not hits:
        return {}
    question = Question(row)
    held = [characters(hit["source_id"], hit["spans"]) for hit in hits]
    union: set[Place] = set().union(*held)
    total, tokens = sum(map(len, held)), sum(hit["tokens"] for hit in hits)
    gold = set().union(*(e[2] for members in question.groups.values() for e in members))
    values = {"duplicate_ratio": (total - len(union)) / total, "context_tokens": float(tokens)}
    if union & gold:
        values["tokens_per_gold_char"] = tokens / len(union & gold)
    return values


def _of_gold(
    question: Question, taken: list[Any], held: list[set[Place]], size: int, last: float
) -> dict[str, float]:
    groups, n = question.groups, len(question.groups)
    union: set[Place] = set().union(*held)
    gold: set[Place] = set().union(*(e[2] for members in groups.values() for e in members))
    found = {g for g, members in groups.items() if rank_of(held, members)}
    best = {g: max((share(h, e) for h in held for e in ms), default=0) for g, ms in groups.items()}
    finding = [h for h in held if any(rank_of([h], members) for members in groups.values())]
    firsts = [rank_of(held, members) or math.inf for members in groups.values()]
    sets = {frozenset(e[3] for e in members) for members in groups.values()}
    sources = {hit["source_id"] for hit in taken}
    placed = positions(question, held, list(groups))
    order = sorted(placed.values())
    return {
        "hit": float(bool(found)),
        "recall": len(found) / n,
        "all_groups": float(len(found) == n),
        "joint_recall": sum(any(covers(union, e[2], FULL) for e in ms) for ms in groups.values())
        / n,
        "partial": sum(PARTIAL - 1e-9 <= b < FULL - 1e-9 for b in best.values()) / n,
        "source_recall": sum(bool(s & sources) for s in sets) / len(sets),
        "precision": len(finding) / size if size else 0.0,
        "precision_returned": len(finding) / len(taken) if taken else 0.0,
        "mrr": 1 / min(firsts),
        "map": sum(i / p for i, p in enumerate(order, start=1) if p <= last) / n,
        "char_recall": len(union & gold) / len(gold),
        "char_precision": len(union & gold) / len(union) if union else 0.0,
        "char_iou": len(union & gold) / len(union | gold),
    }


def share(held: set[Place], evidence: Any) -> float:
    return len(held & evidence[2]) / len(evidence[2])
