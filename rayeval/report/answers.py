"""The answers to one question: what was said, on what it says it rests, and what it took."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from rayeval.report.repeats import folded
from rayeval.report.tables import Tables

Answer = Mapping[str, Any]

WIDTH = 88


def answers_json(run: Tables, question_id: str) -> list[dict[str, Any]]:
    """Every answer, by variant and repeat; `source_id` is where a cited chunk lies."""
    rows = run.answers.filter(pl.col("question_id") == question_id).drop("question_id").to_dicts()
    cited = {one["chunk_id"] for row in rows for one in row["citations"] or []}
    passages = run.passages.filter(pl.col("chunk_id").is_in(list(cited - {None})))
    places = dict(passages.select("chunk_id", "source_id").iter_rows())
    for row in rows:
        for one in row["citations"] or []:
            one["source_id"] = places.get(one["chunk_id"])
    return rows


def answer_lines(answers: Sequence[Answer]) -> list[str]:
    """The same, to be read: a block for each variant, equal repeats once."""
    lines: list[str] = []
    last = None
    for which, alike in folded(answers, _said):
        if alike[0]["variant"] != last:
            last = alike[0]["variant"]
            lines += ["", f"{last}:"]
        lines += _lines(alike, f"{which}. " if which else "")
    return lines


def _said(answer: Answer) -> Hashable:
    cited = tuple((one["mark"], one["chunk_id"]) for one in answer["citations"] or ())
    return answer["error"], answer["abstained"], answer["answer"], cited


def _lines(alike: Sequence[Answer], number: str) -> list[str]:
    """Answers that say the same."""
    answer = alike[0]
    said = answer["error"] and f"error: {answer['error']}"
    said = said or ("abstained" if answer["abstained"] else answer["answer"] or "")
    whole = Text(" ".join(f"{number}{said}".split())).wrap(Console(), WIDTH)
    lines = [f"  {line.plain.rstrip()}" for line in whole]
    if cited := answer["citations"]:
        lines.append(f"      cites {', '.join(map(_cited, cited))}")
    took = list(dict.fromkeys(filter(None, map(_took, alike))))
    each = " each" if len(took) == 1 and len(alike) > 1 else ""
    lines += [f"      {one}{each}" for one in took]
    return lines


def _cited(one: Mapping[str, Any]) -> str:
    if one["chunk_id"] is None:
        return f"{one['mark']} (no such evidence)"
    return f"{one['mark']} ({one['source_id'] or one['chunk_id']})"


def _took(answer: Answer) -> str:
    """Tokens and dollars, where they are known."""
    tokens = ((answer["prompt_tokens"], "read"), (answer["completion_tokens"], "written"))
    known = [f"{count:,} tokens {what}" for count, what in tokens if count is not None]
    known += [] if answer["cost_usd"] is None else [f"${answer['cost_usd']:.6f}"]
    return ", ".join(known)
