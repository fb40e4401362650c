"""One question in full: its gold, and what every stage made of it."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.errors import RunError
from rayeval.report.plain import printable
from rayeval.report.tables import Tables

TOP = 5

Spans = Sequence[Mapping[str, int]]


def question_json(run: Tables, question_id: str) -> dict[str, Any]:
    """Everything that the run knows of one question."""
    question = _row(run.questions, question_id, run.run_id)
    failure = run.failures.filter(pl.col("question_id") == question_id).to_dicts()
    rows = run.trace.filter(pl.col("question_id") == question_id).to_dicts()
    passages = _passages(run.passages, rows)
    gold = [item for item in question["evidence"] if item["gold"]]
    return {
        "question_id": question_id,
        "question": question["question"],
        "reference_answer": question["reference_answer"],
        "answerable": question["answerable"],
        "slices": question["slices"],
        "failure": failure[0] if failure else None,
        "evidence": [_evidence(item) for item in question["evidence"]],
        "filter": _filter(rows),
        "stages": {
            row["stage"]: _stage(row, passages, gold) for row in rows if row["stage"] != "filter"
        },
    }


def question_text(run: Tables, question_id: str) -> str:
    """The same, to be read."""
    facts = question_json(run, question_id)
    lines = [f"{question_id}  {facts['question']}"]
    if facts["reference_answer"]:
        lines.append(f"answer    {facts['reference_answer']}")
    lines.append(f"slices    {', '.join(facts['slices'])}")
    lines.append(f"status    {_status(facts['failure'])}")
    lines += [f"          {line}" for line in _contributing(facts["failure"])]
    for item in facts["evidence"]:
        lines.append(f"evidence  {_evidence_line(item)}")
    for name, stage in facts["stages"].items():
        lines += ["", f"{name}: {_stage_line(stage)}"]
        lines += [_hit_line(hit) for hit in stage["hits"][:TOP]]
    return printable("\n".join(lines))


def _row(questions: pl.DataFrame, question_id: str, run_id: str) -> dict[str, Any]:
    found = questions.filter(pl.col("question_id") == question_id).to_dicts()
    if not found:
        near = difflib.get_close_matches(question_id, questions["question_id"].to_list(), n=3)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise RunError(f"run {run_id} has no question {question_id!r}{hint}")
    return found[0]


def _passages(passages: pl.DataFrame, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    ids = {hit["chunk_id"] for row in rows for hit in row["hits"] or []}
    found = passages.filter(pl.col("chunk_id").is_in(list(ids)))
    return {row["chunk_id"]: row for row in found.to_dicts()}


def _evidence(item: Mapping[str, Any]) -> dict[str, Any]:
    names = ("evidence_id", "group_id", "source_id", "revision_id", "spans", "quote", "relevance")
    return {name: item[name] for name in (*names, "gold", "visible", "found")}


def _filter(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    for row in rows:
        if row["stage"] == "filter":
            return {name: row[name] for name in row if name.startswith("removed_")}
    return None


def _stage(
    row: Mapping[str, Any], passages: Mapping[str, Any], gold: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    hits = []
    for rank, hit in enumerate(row["hits"] or [], start=1):
        passage = passages[hit["chunk_id"]]
        covers = {g["evidence_id"]: coverage(passage, g) for g in gold}
        place = {name: passage[name] for name in ("source_id", "revision_id", "spans", "text")}
        hits.append(
            {"rank": rank, **hit, **place, "covers": {k: v for k, v in covers.items() if v}}
        )
    return {"error": row["error"], "hits": hits}


def coverage(passage: Mapping[str, Any], evidence: Mapping[str, Any]) -> float:
    """The share of the evidence's characters that the passage holds."""
    same = all(passage[name] == evidence[name] for name in ("source_id", "revision_id"))
    total = sum(span["end_char"] - span["start_char"] for span in evidence["spans"])
    if _stated(passage, evidence, same=same):
        return 1.0
    if not same or not total or not passage["spans"]:
        return 0.0
    return float(sum(_shared(a, b) for a in passage["spans"] for b in evidence["spans"]) / total)


def _stated(passage: Mapping[str, Any], evidence: Mapping[str, Any], *, same: bool) -> bool:
    """Whether a whole document is the evidence's, or a text that nobody located has its quote."""
    if passage["spans"] is not None and not passage["spans"]:
        return same
    quote = _normal(evidence["quote"] or "")
    placed = passage["spans"] and evidence["spans"]
    return bool(not placed and quote and quote in _normal(passage["text"] or ""))


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _shared(a: Mapping[str, int], b: Mapping[str, int]) -> int:
    low, high = max(a["start_char"], b["start_char"]), min(a["end_char"], b["end_char"])
    return max(0, high - low)


def _status(failure: Mapping[str, Any] | None) -> str:
    if failure is None:
        return "unanswerable"
    if failure["status"] != "failed":
        return str(failure["status"])
    return f"failed: {failure['code']} at {failure['stage']} (group {failure['group_id']})"


def _contributing(failure: Mapping[str, Any] | None) -> list[str]:
    lines = []
    for item in (failure or {}).get("contributing") or []:
        rank = "" if item["rank"] is None else f"; its true rank is {item['rank']:,}"
        depth = "" if item["depth"] is None else f" (depth {item['depth']})"
        lines.append(f"{item['stage']}: {item['code']}{rank}{depth}")
    return lines


def _evidence_line(item: Mapping[str, Any]) -> str:
    spans = ", ".join(f"{s['start_char']}–{s['end_char']}" for s in item["spans"])
    revision = "" if item["revision_id"] is None else f"@{item['revision_id']}"
    where = f"{item['source_id'] or 'any source'}{revision}[{spans}]"
    mark = "gold" if item["gold"] else f"relevance {item['relevance']}"
    quote = f" “{shortened(item['quote'])}”" if item["quote"] else ""
    return f"{item['evidence_id']} ({item['group_id']}, {mark}) {where}{quote}"


def _stage_line(stage: Mapping[str, Any]) -> str:
    if stage["error"]:
        return f"error: {stage['error']}"
    ranks = [str(hit["rank"]) for hit in stage["hits"] if hit["covers"]]
    found = f"gold at {', '.join(ranks[:6])}" if ranks else "no gold"
    return f"{len(stage['hits'])} hits, {found}"


def _hit_line(hit: Mapping[str, Any]) -> str:
    covers = " ".join(f"{name} {share:.0%}" for name, share in hit["covers"].items())
    mark = f"  ◀ {covers}" if covers else ""
    score = " " * 9 if hit["score"] is None else f"{hit['score']:>9.4f}"
    lines = [f"  {hit['rank']:>3} {score}  {hit['source_id'] or hit['chunk_id']}{mark}"]
    if hit["text"]:
        lines.append(f"                 {shortened(hit['text'])}")
    return "\n".join(lines)


def shortened(text: str, most: int = 80) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
