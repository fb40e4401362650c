"""The two reports that every run carries: `summary.md` and `report.html`."""

from __future__ import annotations

from functools import cache

import jinja2

from rayeval.report.overview import overview
from rayeval.report.page.run import run_page
from rayeval.report.tables import Tables
from rayeval.report.terminal import number


def write_report(run: Tables) -> dict[str, bytes]:
    """File name → content."""
    facts = overview(run)
    text = _templates().get_template("summary.md.jinja")
    return {
        "report.html": run_page(run, facts),
        "summary.md": text.render(facts=facts, run=run).encode(),
    }


@cache
def _templates() -> jinja2.Environment:
    """Markdown is what the user's own names make it."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rayeval.report"),
        autoescape=False,  # noqa: S701 - Markdown
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
