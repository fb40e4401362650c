"""One question in full: its gold, and what every stage made of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.errors import RunError
from rayeval.report.answers import answer_lines, answers_json
from rayeval.report.covered import Covered, covered
from rayeval.report.hit_lines import hit_lines
from rayeval.report.judgements import judgement_lines, judgements_json
from rayeval.report.lines import wrapped
from rayeval.report.passages import stated_text
from rayeval.report.plain import shortened
from rayeval.report.tables import Tables

DETAILS = (("depth", "depth"), ("group", "group_id"))


def question_json(run: Tables, question_id: str) -> dict[str, Any]:
    """Everything that the run knows of one question."""
    question = _row(run.questions, question_id, run.run_id)
    failure = run.failures.filter(pl.col("question_id") == question_id).to_dicts()
    rows = run.trace.filter(pl.col("question_id") == question_id).to_dicts()
    passages = _passages(run.passages, rows)
    removed = _filter(rows)
    rows = [row for row in rows if row["stage"] != "filter"]
    held = covered(run, question_id, [row["stage"] for row in rows])
    full = run.manifest["config"]["metrics"]["full"]
    return {
        "question_id": question_id,
        "question": question["question"],
        "reference_answer": question["reference_answer"],
        "answerable": question["answerable"],
        "slices": question["slices"],
        "failure": failure[0] if failure else None,
        "evidence": [
            _evidence(item, full) | {"text": stated_text(run.passages, item)}
            for item in question["evidence"]
        ],
        "filter": removed,
        "stages": {row["stage"]: _stage(row, passages, held) for row in rows},
        "answers": answers_json(run, question_id),
        "judgements": judgements_json(run, question_id),
    }


def question_text(run: Tables, question_id: str) -> str:
    """The same, to be read."""
    facts = question_json(run, question_id)
    lines = [f"{question_id}  {facts['question']}"]
    if facts["reference_answer"]:
        lines.append(f"reference {facts['reference_answer']}")
    lines.append(f"slices    {', '.join(facts['slices'])}")
    lines.append(f"status    {_status(facts['failure'])}")
    lines += [f"          {line}" for line in _contributing(facts["failure"])]
    for item in facts["evidence"]:
        lines.append(f"evidence  {_evidence_line(item)}")
    for name, stage in facts["stages"].items():
        lines += ["", f"{name}: {_stage_line(stage)}"]
        lines += hit_lines(stage["hits"], {hit["rank"] for hit in stage["hits"] if hit["finds"]})
    lines += answer_lines(facts["answers"])
    lines += judgement_lines(facts["judgements"])
    return wrapped("\n".join(lines))


def _row(questions: pl.DataFrame, question_id: str, run_id: str) -> dict[str, Any]:
    found = questions.filter(pl.col("question_id") == question_id).to_dicts()
    if not found:
        hint = _ids(question_id, questions["question_id"].to_list())
        raise RunError(f"run {run_id} has no question {question_id!r}; {hint}")
    return found[0]


def _ids(question_id: str, known: Sequence[str]) -> str:
    """Ids that may be meant; they are the user's own, or made of the question."""
    near = difflib.get_close_matches(question_id, known, n=3)
    if near:
        return f"near it: {', '.join(near)}"
    more = f" and {len(known) - 6:,} more (questions.parquet)" if len(known) > 6 else ""
    return f"it has {', '.join(known[:6])}{more}"


def _passages(passages: pl.DataFrame, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    ids = {hit["chunk_id"] for row in rows for hit in row["hits"] or []}
    found = passages.filter(pl.col("chunk_id").is_in(list(ids)))
    return {row["chunk_id"]: row for row in found.to_dicts()}


def _evidence(item: Mapping[str, Any], full: float) -> dict[str, Any]:
    """`needed`: the share of it that one chunk must hold to find it."""
    names = ("evidence_id", "group_id", "source_id", "revision_id", "page", "spans", "quote")
    flags = ("element_id", "cell", "relevance", "gold", "visible", "found")
    known = {name: item[name] for name in (*names, *flags)}
    return {**known, "needed": 1.0 if item["whole"] else full}


def _filter(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    for row in rows:
        if row["stage"] == "filter":
            return {name: row[name] for name in row if name.startswith("removed_")}
    return None


def _stage(
    row: Mapping[str, Any], passages: Mapping[str, Any], held: Mapping[str, Covered]
) -> dict[str, Any]:
    hits = []
    for rank, hit in enumerate(row["hits"] or [], start=1):
        passage, own = passages[hit["chunk_id"]], held.get(hit["chunk_id"], Covered())
        names = ("source_id", "revision_id", "pages", "spans", "text")
        place = {name: passage[name] for name in names}
        hits.append({"rank": rank, **hit, **place, "covers": own.shares, "finds": own.finds})
    return {"error": row["error"], "hits": hits}


def _status(failure: Mapping[str, Any] | None) -> str:
    if failure is None:
        return "unanswerable"
    if failure["status"] != "failed":
        return str(failure["status"])
    group = "" if failure["group_id"] is None else f" (group {failure['group_id']})"
    return f"failed: {failure['code']} at {failure['stage']}{group}"


def _contributing(failure: Mapping[str, Any] | None) -> list[str]:
    lines = []
    for item in (failure or {}).get("contributing") or []:
        rank = "" if item["rank"] is None else f"; its true rank is {item['rank']:,}"
        known = [f"{name} {item[key]}" for name, key in DETAILS if item[key] is not None]
        details = f" ({', '.join(known)})" if known else ""
        lines.append(f"{item['stage']}: {item['code']}{rank}{details}")
    return lines


def _evidence_line(item: Mapping[str, Any]) -> str:
    spans = ", ".join(f"{s['start_char']}–{s['end_char']}" for s in item["spans"])
    spans = f"[{spans}]" if spans else ""
    page = "" if item["page"] is None else f" page {item['page']}"
    revision = "" if item["revision_id"] is None else f"@{item['revision_id']}"
    where = f"{item['source_id'] or 'any source'}{revision}{spans}{page}"
    mark = "gold" if item["gold"] else f"relevance {item['relevance']}"
    element = "/".join(filter(None, (item["element_id"], item["cell"])))
    text = item["quote"] or item["text"]
    quote = f"\n          “{shortened(text)}”" if text else ""
    at = f"{where} {element}" if element else where
    return f"{item['evidence_id']} ({item['group_id']}, {mark}) {at}{quote}"


def _stage_line(stage: Mapping[str, Any]) -> str:
    if stage["error"]:
        return f"error: {stage['error']}"
    holding = [hit for hit in stage["hits"] if hit["covers"]]
    found = [hit["rank"] for hit in holding if hit["finds"]]
    parts = [hit["rank"] for hit in holding if hit["rank"] not in found]
    said = [f"gold at {_ranks(found)}"] if found else []
    said += [f"part of gold at {_ranks(parts)}"] if parts else []
    n = len(stage["hits"])
    return f"{n} {'hit' if n == 1 else 'hits'}, {', '.join(said) or 'no gold'}"


def _ranks(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:6])) + (", …" if len(ranks) > 6 else "")
