"""The two reports that every run carries: `summary.md` and `report.html`."""

from __future__ import annotations

from functools import cache

import jinja2
import polars as pl

from rayeval.report.overview import overview
from rayeval.report.question import question_json
from rayeval.report.tables import Tables
from rayeval.report.terminal import number

MOST_QUESTIONS = 300
"""Failed questions that the page shows in full; the tables hold all of them."""


def write_report(run: Tables) -> dict[str, bytes]:
    """File name → content."""
    facts = overview(run)
    failed = run.failures.filter(pl.col("status") == "failed")["question_id"].to_list()
    shown = failed[:MOST_QUESTIONS] if run.trace.height else []  # else the hits are not here
    questions = [question_json(run, name) for name in shown]
    page = _templates().get_template("report.html.jinja")
    text = _templates().get_template("summary.md.jinja")
    shared = {"facts": facts, "run": run}
    return {
        "report.html": page.render(questions=questions, failed=len(failed), **shared).encode(),
        "summary.md": text.render(**shared).encode(),
    }


@cache
def _templates() -> jinja2.Environment:
    """HTML is escaped; Markdown is what the user's own names make it."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rayeval.report"),
        autoescape=jinja2.select_autoescape(enabled_extensions=("html.jinja",)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["cell"] = cell
    return environment


def cell(text: str) -> str:
    """Text safe inside a Markdown table's cell; a name like <b> is read, not obeyed."""
    line = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return line.replace("\\", "\\\\").replace("|", "\\|")
