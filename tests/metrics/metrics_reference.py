"""DESIGN §5 once more, slowly and in plain Python, one question at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
NAN = math.nan


def characters(item: Row) -> set[tuple[Any, ...]]:
    document = (item["source_id"], item["revision_id"])
    return {
        (*document, at)
        for span in item["spans"]
        for at in range(span["start_char"], span["end_char"])
    }


def same_document(a: Row, b: Row) -> bool:
    return (a["source_id"], a["revision_id"]) == (b["source_id"], b["revision_id"])


def located(evidence: Row) -> bool:
    return not (evidence["found"] or "").startswith("missing")


def coverage(hits: list[Row], evidence: Row) -> Fraction:
    """Share of the evidence that the hits cover together."""
    if not located(evidence):
        return Fraction(0)
    if any(not hit["spans"] and same_document(hit, evidence) for hit in hits):
        return Fraction(1)
    gold = characters(evidence)
    if not gold:
        return Fraction(0)
    return Fraction(len(gold & set().union(*map(characters, hits))), len(gold))


def finds(hits: list[Row], evidence: Row, full: str, *, union: bool = False) -> bool:
    """Whether one hit, or the union of hits, finds the evidence; an element is whole in one."""
    least = Fraction(1) if evidence["whole"] and not union else Fraction(full)
    if coverage(hits, evidence) < least:
        return False
    needs = evidence | {"spans": evidence["needs"], "found": "located"}
    return not evidence["needs"] or coverage(hits, needs) >= Fraction(full)


class Question:
    """One question and one stage's ranking."""

    def __init__(self, row: Row, stage: str, full: str = "0.8", partial: str = "0.2") -> None:
        places = {place["chunk_id"]: place for place in row["passages"]}
        self.ranking = [places[hit["chunk_id"]] for hit in row[stage] or []]
        self.full, self.partial_share = full, partial
        self.labels = row["labels"]
        self.evidence = row["evidence"]
        visible = [e for e in self.evidence if e["visible"]]
        self.grades: dict[str, int] = {}
        for e in visible:
            self.grades[e["group_id"]] = max(self.grades.get(e["group_id"], 0), e["relevance"])
        self.gold = [e for e in visible if e["gold"]]
        self.groups = list(dict.fromkeys(e["group_id"] for e in self.gold))
        self.finders = {
            group: [e for e in self.gold if e["group_id"] == group]
            or [e for e in visible if e["group_id"] == group and e["relevance"] >= 1]
            for group in self.grades
        }

    def taken(self, k: int, tokens: bool) -> list[Row]:
        if not tokens:
            return self.ranking[:k]
        total, taken = 0, []
        for hit in self.ranking:
            total += hit["tokens"]
            if total > k:
                break
            taken.append(hit)
        return taken

    def first(self, group: str, hits: list[Row]) -> int | None:
        for rank, hit in enumerate(hits, 1):
            if any(finds([hit], e, self.full) for e in self.finders[group]):
                return rank
        return None

    def positions(self, groups: list[str], hits: list[Row]) -> list[tuple[int, str]]:
        found = [(self.first(g, hits), -self.grades[g], g) for g in groups]
        position, result = 0, []
        for rank, _, group in sorted(f for f in found if f[0] is not None):
            position = max(rank, position + 1)
            result.append((position, group))
        return result

    def value(self, name: str, k: int, tokens: bool = False, gain: str = "exponential") -> float:
        hits = self.taken(k, tokens)
        if name == "judged":
            return self.judged(hits)
        if name == "ndcg":
            return self.ndcg(hits, None if tokens else k, gain)
        if not self.groups:
            return NAN
        if name.startswith("char_"):
            return self.chars(name, hits)
        size = len(hits) if tokens or name == "precision_returned" else k
        firsts = [self.first(g, hits) for g in self.groups]
        found = [rank for rank in firsts if rank is not None]
        match name:
            case "hit":
                return float(bool(found))
            case "recall":
                return len(found) / len(self.groups)
            case "all_groups":
                return float(len(found) == len(self.groups))
            case "mrr":
                return 1 / min(found) if found else 0.0
            case "precision" | "precision_returned":
                good = [
                    h
                    for h in hits
                    if any(finds([h], e, self.full) for g in self.groups for e in self.finders[g])
                ]
                return len(good) / size if size else 0.0
            case "joint_recall":
                held = [
                    any(finds(hits, e, self.full, union=True) for e in self.finders[g])
                    for g in self.groups
                ]
                return sum(held) / len(self.groups)
            case "partial":
                return sum(self.partly(g, hits) for g in self.groups) / len(self.groups)
            case "source_recall":
                sets = {frozenset(e["source_id"] for e in self.finders[g]) for g in self.groups}
                there = {h["source_id"] for h in hits}
                return sum(bool(s & there) for s in sets) / len(sets)
            case "map":
                at = [p for p, _ in self.positions(self.groups, hits) if tokens or p <= k]
                return sum(i / p for i, p in enumerate(at, 1)) / len(self.groups)
        raise KeyError(name)

    def partly(self, group: str, hits: list[Row]) -> bool:
        if self.first(group, hits) is not None:
            return False
        return any(
            coverage([h], e) >= Fraction(self.partial_share)
            for h in hits
            for e in self.finders[group]
        )

    def ndcg(self, hits: list[Row], k: int | None, gain: str) -> float:
        groups = [g for g, grade in self.grades.items() if grade >= 1]
        if not groups:
            return NAN

        def worth(grade: int) -> int:
            return 2**grade - 1 if gain == "exponential" else grade

        last = math.inf if k is None else k
        found = [
            worth(self.grades[g]) / math.log2(p + 1)
            for p, g in self.positions(groups, hits)
            if p <= last
        ]
        best = sorted((self.grades[g] for g in groups), reverse=True)
        ideal = [worth(g) / math.log2(p + 1) for p, g in enumerate(best, 1) if p <= last]
        return math.fsum(found) / math.fsum(ideal)

    def chars(self, name: str, hits: list[Row]) -> float:
        if self.unmeasured(hits):
            return NAN
        gold = set().union(*map(characters, self.gold))
        retrieved = set().union(*map(characters, hits))
        whole = {"char_recall": gold, "char_precision": retrieved, "char_iou": gold | retrieved}
        return len(gold & retrieved) / (len(whole[name]) or 1)

    def unmeasured(self, hits: list[Row]) -> bool:
        """A document of unknown length is among hits or gold."""
        return any(not item["spans"] for item in (*hits, *filter(located, self.gold)))

    def judged(self, hits: list[Row]) -> float:
        if not hits:
            return NAN
        if self.labels == "complete":
            return 1.0
        return sum(any(coverage([h], e) > 0 for e in self.evidence) for h in hits) / len(hits)

    def duplicate_ratio(self) -> float:
        if not self.ranking or any(not h["spans"] for h in self.ranking):
            return NAN
        every = sum(len(characters(h)) for h in self.ranking)
        return (every - len(set().union(*map(characters, self.ranking)))) / every

    def context_tokens(self) -> float:
        return float(sum(h["tokens"] for h in self.ranking)) if self.ranking else NAN

    def tokens_per_gold_char(self) -> float:
        if self.unmeasured(self.ranking):
            return NAN
        gold = set().union(*map(characters, self.gold)) & set().union(
            *map(characters, self.ranking)
        )
        return self.context_tokens() / len(gold) if gold else NAN
