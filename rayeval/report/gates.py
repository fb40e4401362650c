"""Verdicts in the terminal, for a CI's step summary, and as JUnit XML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol
from xml.etree import ElementTree as ET

from rich.text import Text

from rayeval.gates.verdicts import Verdict, Word
from rayeval.report.plain import printable
from rayeval.report.terminal import headed, number, rendered
from rayeval.report.write import cell
from rayeval.words import percent, plural

DASH = "–"
LEVELS = (
    "low, high: each a one-sided limit at its level, by cluster bootstrap (where all values are 0, "
    "or all 1, exact binomial by clusters). At 95% that is 90% between them, narrower than the "
    "two-sided 95% interval of `rayeval compare`; gates use no p."
)


class Verdicts(Protocol):
    """What a report of gates reads."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def baseline(self) -> str | None:
        """The run it is held against."""
        ...

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Of every limit."""
        ...

    @property
    def verdict(self) -> Word:
        """Of all together."""
        ...

    @property
    def questions(self) -> int:
        """Of the run."""
        ...

    @property
    def clusters(self) -> int:
        """Of those questions."""
        ...

    @property
    def look(self) -> str | None:
        """Which comparison on the test split it is, where it is one."""
        ...


def gates_text(judged: Verdicts) -> str:
    """A line for every limit, and what such a set can tell."""
    table = headed("gate", "limit", "value", "low", "high", "level", "n", "verdict")
    for each in judged.verdicts:
        figures = (number(value) for value in (each.value, each.low, each.high))
        table.row(each.name, _limit(each), *figures, _level(each), str(each.n), _word(each))
    reasons = [f"{each.name}: {each.reason}" for each in judged.verdicts if each.verdict != "pass"]
    against = f" against {judged.baseline}" if judged.baseline else ""
    head = Text(f"{judged.verdict.upper()}: {judged.run_id}{against}", style="bold")
    notes = [
        Text(line)
        for line in [*reasons, *([""] if reasons else []), *_look(judged), LEVELS, reach(judged)]
    ]
    return rendered([head, table, Text(""), *notes])


def reach(judged: Verdicts) -> str:
    """What a set of that size can and cannot tell, in words."""
    share = 1.96 * (0.25 / max(1, judged.clusters)) ** 0.5
    return (
        f"{plural(judged.questions, 'question')} in {plural(judged.clusters, 'cluster')}: a share "
        f"near 50% is known to "
        f"about ±{percent(share)} for questions like these. Gates of scope `set` speak of these "
        f"questions alone."
    )


def step_summary(judged: Verdicts) -> str:
    """For GitHub's step summary."""
    lines = [
        f"### rayeval: {judged.verdict}",
        "",
        f"Run `{judged.run_id}`" + (f" against `{judged.baseline}`" if judged.baseline else ""),
        "",
        "| gate | limit | value | one-sided limits | level | n | verdict | why |",
        "|---|---|---:|---|---:|---:|---|---|",
    ]
    for each in judged.verdicts:
        interval = f"{number(each.low)} … {number(each.high)}"
        row = (each.name, _limit(each), number(each.value), interval, _level(each), str(each.n))
        lines.append("| " + " | ".join(map(cell, (*row, _word(each), each.reason))) + " |")
    return "\n".join([*lines, "", *_look(judged), LEVELS, "", reach(judged), ""])


def junit(judged: Verdicts) -> str:
    """A test case for every limit: failure, error where inconclusive, skipped where that is
    only a warning."""
    counts = [_outcome(each) for each in judged.verdicts]
    suite = ET.Element(
        "testsuite",
        name="rayeval gates",
        tests=str(len(counts)),
        failures=str(counts.count("failure")),
        errors=str(counts.count("error")),
        skipped=str(counts.count("skipped")),
    )
    for each, outcome in zip(judged.verdicts, counts, strict=True):
        name = printable(f"{each.name}: {_limit(each)}")
        case = ET.SubElement(suite, "testcase", classname="rayeval.gates", name=name)
        if outcome:
            said = printable(f"{each.reason} (value {number(each.value)}, n {each.n})")
            ET.SubElement(case, outcome, message=said)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _look(judged: Verdicts) -> list[str]:
    return [f"{judged.look[0].upper()}{judged.look[1:]}.", ""] if judged.look else []


def _outcome(each: Verdict) -> str:
    if each.verdict == "pass":
        return ""
    if each.verdict == "fail":
        return "failure"
    return "error" if each.blocks else "skipped"


def _level(each: Verdict) -> str:
    return DASH if math.isnan(each.low) else f"{100 * each.confidence:g}%"


def _limit(each: Verdict) -> str:
    return f"{each.limit_kind} {each.limit:g}"


def _word(each: Verdict) -> str:
    warned = each.verdict == "inconclusive" and not each.blocks
    return f"{each.verdict} (warning)" if warned else each.verdict
