"""DESIGN §6 once more, slowly and in plain Python, one question at a time."""

from __future__ import annotations

import math
from typing import Any

from metrics_reference import coverage, finds

from rayeval.metrics.pipeline import Pipeline

Row = dict[str, Any]
DEMOTED = {
    "fuse": "FUSION_DEMOTED_GOLD",
    "rerank": "RERANK_DEMOTED_GOLD",
    "context": "CONTEXT_BUDGET_DROPPED_GOLD",
    "unknown": "RETRIEVAL_MISSED_GOLD",
}


class EndError(Exception):
    """The walk ends here."""


class Walker:
    """One question's walk; `end` is (status, code, stage, group)."""

    def __init__(self, row: Row, pipeline: Pipeline, full: str = "0.8") -> None:
        self.row, self.pipeline, self.full = row, pipeline, full
        self.gold = [e for e in row["evidence"] if e["gold"]]
        order = dict.fromkeys(e["group_id"] for e in row["evidence"])
        self.groups = [g for g in order if any(e["group_id"] == g for e in self.gold)]
        self.places = {p["chunk_id"]: p for p in row["passages"]}
        self.chunks = row["gold_chunks"]
        self.split = [
            g
            for g in self.groups
            if not self.one_finds(self.chunks or [], g)
            and any(finds(self.chunks or [], e, self.full, union=True) for e in self.of(g))
        ]
        self.chunked = False
        self.contributing: list[Row] = []
        try:
            self.walk()
            self.end = ("success", None, None, None)
        except EndError as stop:
            self.end = stop.args[0]
        for group in self.split if self.chunked else []:
            if ("CHUNK_GOLD_SPLIT", "chunk", group) != self.end[1:]:
                self.note(group, "chunk", "CHUNK_GOLD_SPLIT")

    def note(self, group: str, stage: str, code: str, rank: Any = None, depth: Any = None) -> None:
        entry = {"stage": stage, "code": code, "rank": rank, "depth": depth, "group_id": group}
        self.contributing.append(entry)

    def of(self, group: str) -> list[Row]:
        return [e for e in self.gold if e["group_id"] == group]

    def one_finds(self, chunks: list[Row], group: str) -> bool:
        return any(finds([c], e, self.full) for c in chunks for e in self.of(group))

    def held(self, chunks: list[Row], group: str) -> bool:
        together = any(finds(chunks, e, self.full, union=True) for e in self.of(group))
        return self.one_finds(chunks, group) or (group in self.split and together)

    def found(self, stage: str) -> list[Row] | None:
        ranking = self.row[stage]
        return None if ranking is None else [self.places[h["chunk_id"]] for h in ranking]

    def lose(self, stage: str, lost: list[tuple[str, str]]) -> None:
        """Ends the walk if groups, with what losing each is called, are lost at a stage."""
        if not lost:
            return
        (first, code), *_ = lost
        blamed = first in self.split and stage not in ("ingest", "parse", "chunk")
        for group, other in lost if blamed else lost[1:]:
            self.note(group, stage, other)
        if blamed:
            stage, code = "chunk", "CHUNK_GOLD_SPLIT"
        raise EndError(("failed", code, stage, first))

    def check(self, stage: str) -> None:
        """Ends the walk if a stage has no row."""
        if self.row.get(f"{stage}.error") is not None:
            raise EndError(("error", None, stage, None))
        if self.row[stage] is None:
            raise EndError(("missing", None, stage, None))

    def walk(self) -> None:
        self.corpus()
        arms = self.pipeline.arms
        for arm in arms:
            self.check(arm.output)
        if arms:
            everything = [c for arm in arms for c in self.found(arm.output)]
            self.retrieve(self.unheld(everything, self.after(-1)))
        for number, later in enumerate(self.pipeline.later):
            self.check(later.name)
            hits = self.found(later.name)
            code = DEMOTED["unknown" if number == 0 and not arms else later.kind]
            unheld = self.unheld(hits, self.after(number))
            self.lose(later.name, [(g, code) for g in unheld])
            if later.kind == "context":
                self.aspects(later.name, hits)

    def after(self, number: int) -> list[str]:
        """The stages after a later one; after the arms for -1."""
        return [later.name for later in self.pipeline.later[number + 1 :]]

    def unheld(self, hits: list[Row], after: list[str]) -> list[str]:
        """Groups that `hits` lack; of a trace of somebody else's, if the stages `after` do too."""
        shown = [self.shown(stage) for stage in after] if self.chunks is None else []
        return [g for g in self.groups if not any(self.held(each, g) for each in (hits, *shown))]

    def searched(self) -> list[list[Row]]:
        """What the arms found together, and what every later stage did."""
        outputs = [arm.output for arm in self.pipeline.arms]
        lists = [[c for stage in outputs for c in self.shown(stage)]]
        whole = all(self.row[s] is not None and not self.row.get(f"{s}.error") for s in outputs)
        return [*(lists if whole else []), *(self.shown(stage) for stage in self.after(-1))]

    def shown(self, stage: str) -> list[Row]:
        """What a stage that went well found."""
        failed = self.row[stage] is None or self.row.get(f"{stage}.error") is not None
        return [] if failed else self.found(stage)

    def corpus(self) -> None:
        def gone(group: str) -> bool:
            return all((e["found"] or "").startswith("missing") for e in self.of(group))

        def code(group: str) -> str:
            kind = self.of(group)[0]["found"] == "missing_revision"
            return "INGESTION_MISSING_" + ("REVISION" if kind else "SOURCE")

        foreign = self.searched() if self.chunks is None else []
        seen = {g for g in self.groups if any(self.held(each, g) for each in foreign)}
        self.lose("ingest", [(g, code(g)) for g in self.groups if gone(g) and g not in seen])
        if any(e["parsed"] is not None for e in self.gold):
            lost = [
                g
                for g in self.groups
                if g not in seen
                and all(
                    e["parsed"] is False or (e["found"] or "").startswith("missing")
                    for e in self.of(g)
                )
            ]
            self.lose("parse", [(g, "PARSE_GOLD_TEXT_LOST") for g in lost])
        if self.chunks is None:
            self.chunked = True
            return
        lost = [g for g in self.groups if not self.held(self.chunks, g)]
        self.lose("chunk", [(g, "CHUNK_GOLD_SPLIT") for g in lost])
        self.chunked = True
        removed = self.row["removed_gold"]
        if removed is not None:
            left = [c for c in self.chunks if c["chunk_id"] not in removed]
            lost = [g for g in self.groups if not self.held(left, g)]
            self.lose("filter", [(g, "FILTER_FALSE_NEGATIVE") for g in lost])

    def wanted(self, group: str) -> list[str]:
        """The chunks that hold a group, of those that the filter leaves."""
        left = [
            c for c in self.chunks or [] if c["chunk_id"] not in (self.row["removed_gold"] or [])
        ]
        if group not in self.split:
            return [c["chunk_id"] for c in left if self.one_finds([c], group)]
        overlap = {
            c["chunk_id"]: max(
                coverage([c], e) * sum(s["end_char"] - s["start_char"] for s in e["spans"])
                for e in self.of(group)
            )
            for c in left
        }
        most = max(overlap.values(), default=0)
        return [c for c, chars in overlap.items() if chars == most > 0]

    def miss(self, arm: Any, group: str) -> tuple[float, str, bool]:
        """(rank, code, severed) of a group that all arms miss, in one arm."""
        wanted = self.wanted(group)
        scores = self.row[f"scores:{arm.name}"]
        known = [
            rank
            for hit, rank in zip(scores or [], self.row[f"ranks:{arm.name}"] or [], strict=True)
            if hit["chunk_id"] in wanted
        ]
        rank = min(known, default=math.inf)
        if arm.kind == "lexical":
            severed = set(self.row[f"severed:{arm.name}"] or []) & set(wanted)
            code = "SPARSE_OUTRANKED" if known else "SPARSE_VOCAB_MISMATCH"
            return rank, "RETRIEVAL_MISSED_GOLD" if scores is None else code, bool(severed)
        if arm.ann is None:
            return rank, "DENSE_SEMANTIC_MISS", False
        for place, hit in enumerate(self.found(arm.exact) or [], 1):
            if self.one_finds([hit], group):
                rank = min(rank, place)
        return rank, "ANN_NEIGHBOR_MISS" if rank <= arm.depth else "DENSE_SEMANTIC_MISS", False

    def retrieve(self, lost: list[str]) -> None:
        if not lost:
            return
        for group in lost:
            for arm in self.pipeline.arms:
                rank, code, _ = self.miss(arm, group)
                code = "CHUNK_GOLD_SPLIT" if group in self.split else code
                self.note(group, arm.output, code, None if rank == math.inf else rank, arm.depth)
        first = lost[0]
        if first in self.split:
            raise EndError(("failed", "CHUNK_GOLD_SPLIT", "chunk", first))
        views = [(arm, *self.miss(arm, first)) for arm in self.pipeline.arms]
        for arm, _, code, _ in views:
            if code == "ANN_NEIGHBOR_MISS":
                raise EndError(("failed", code, arm.output, first))
        for arm, _, _, severed in views:
            if severed:
                raise EndError(("failed", "CHUNK_CONTEXT_SEVERED", arm.output, first))
        arm, _, code, _ = min(views, key=lambda view: view[1] / view[0].depth)
        raise EndError(("failed", code, arm.output, first))

    def aspects(self, stage: str, hits: list[Row]) -> None:
        evidence = [e for e in self.row["evidence"] if e["visible"] and e["relevance"] >= 1]
        lacking = []
        for aspect in self.row["required_aspects"]:
            listing = [
                e
                for e in evidence
                if aspect in e["aspects"]
                or (e["group_id"] == aspect and (e["gold"] or aspect not in self.groups))
            ]
            if listing and not any(self.covers(hits, e) for e in listing):
                lacking += listing
        order = list(dict.fromkeys(e["group_id"] for e in self.row["evidence"]))
        groups = sorted({e["group_id"] for e in lacking}, key=order.index)
        if groups:
            for group in groups[1:]:
                self.note(group, stage, "CONTEXT_ASPECT_UNCOVERED")
            raise EndError(("failed", "CONTEXT_ASPECT_UNCOVERED", stage, groups[0]))

    def covers(self, hits: list[Row], evidence: Row) -> bool:
        if any(finds([hit], evidence, self.full) for hit in hits):
            return True
        return evidence["group_id"] in self.split and finds(hits, evidence, self.full, union=True)

    def reached(self) -> dict[str, bool]:
        """Of every stage of hits that the trace shows: whether all groups are held there."""
        names = self.pipeline.stages
        shown = {
            n: self.found(n)
            for n in names
            if self.row[n] is not None and not self.row.get(f"{n}.error")
        }
        return {n: all(self.held(hits, g) for g in self.groups) for n, hits in shown.items()}
