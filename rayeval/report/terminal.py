"""A run in the terminal, 100 columns wide."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from typing import cast

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from rayeval.report.judgements import judge_text
from rayeval.report.lines import WIDTH
from rayeval.report.overview import Overview, overview
from rayeval.report.plain import printable
from rayeval.report.shown import Shown
from rayeval.report.tables import Tables
from rayeval.words import percent, plural

WARNINGS = 5
"""Warnings that are shown."""
ABREAST = 6
"""Metrics beside each other in a table."""


def run_text(run: Tables, *, told: bool = False) -> str:
    """The whole overview.

    told: the same screen has its warnings already.
    """
    facts = overview(run)
    parts: list[RenderableType] = [
        Text(f"{facts.title}\n{facts.counts}; {facts.corpus}", style="bold"),
        *(Text(line, style="bold") for line in facts.lacking),
        *(Text(line, style="dim") for line in facts.models),
        *_population(facts),
        *(drawn(table) for table in facts.answers),
        *_waterfall(facts),
        *([Text(facts.denominators, style="dim")] if facts.denominators else []),
        titled(_ended(facts), _failures(facts) if facts.lost else None),
        *_matrix(run, facts),
    ]
    if facts.slices:
        parts.append(titled(f"By slice, at {facts.stages[-1]}", _slices(facts)))
    if judged := tuple(judge_text(run)):
        parts.append(listed("Judge: usable replies by task", judged))
        parts.append(listed("Judge: what people's labels say of it", facts.trust))
    if facts.latency:
        parts.append(titled("Latency in ms", _latency(facts)))
    if facts.warnings:
        parts.append(_warnings(facts.warnings, told=told))
    parts.append(listed("Look at next", facts.next or ("no question was lost",)))
    parts.append(Text(f"\nrayeval show {run.run_id} QUESTION reads one of them; files: {run.path}"))
    return rendered(parts)


def metrics_text(run: Tables) -> str:
    """The metrics by stage alone: `print(run)`."""
    facts = overview(run)
    said = (Text(line, style="dim") for line in facts.unscored)
    return rendered([Text(f"{facts.title}: {facts.counts}"), *_metrics(facts), *said])


def rendered(parts: Iterable[RenderableType]) -> str:
    """Plain text of rich renderables."""
    text = io.StringIO()
    console = Console(
        file=text,
        width=WIDTH,
        highlight=False,
        no_color=True,
        force_terminal=False,
        force_jupyter=False,  # else a notebook is shown the text and `print` nothing
    )
    for part in parts:
        console.print(part)
    lines = [line.rstrip() for line in text.getvalue().rstrip().split("\n")]
    return printable("\n".join(lines))


def number(value: float) -> str:
    """Three decimals; counts whole; a dash where undefined."""
    if math.isnan(value):
        return "–"
    return f"{round(value, 3) + 0.0:.3f}" if value < 100 else f"{value:,.0f}"


class _Plain(Table):
    """Columns of text as it is: nothing in a question's id or a slice's name is markup."""

    def __init__(self, *, headed: bool) -> None:
        super().__init__(box=None, pad_edge=False, show_header=headed)

    def row(self, *cells: str) -> None:
        """Adds a row."""
        self.add_row(*(Text(printable(cell)) for cell in cells))


def headed(*columns: str) -> _Plain:
    """A table of text with these columns, the first to the left."""
    table = _Plain(headed=True)
    for place, name in enumerate(columns):
        justify: JustifyMethod = "left" if place == 0 else "right"
        table.add_column(Text(name), justify=justify, no_wrap=place == 0)
    return table


def titled(title: str, table: Table | None) -> Group:
    """A table, where there is one, below its title."""
    return Group(Text(f"\n{title}", style="bold"), *([table] if table else ()))


def _population(facts: Overview) -> list[RenderableType]:
    """The means of every stage, below what they are of."""
    if not facts.shown:
        return []
    first, *others = _metrics(facts)
    said = (
        f"{plural(facts.more, 'more metric')} in aggregate.parquet; by question, per_query.parquet"
    )
    more = [Text(said, style="dim")] if facts.more else []
    return [titled(facts.population, first), *others, *more]


def _metrics(facts: Overview) -> list[_Plain]:
    """As many metrics to a table as fit beside each other."""
    starts = range(0, len(facts.shown), ABREAST) or range(1)
    return [_some(facts, facts.shown[at : at + ABREAST]) for at in starts]


def _some(facts: Overview, shown: Sequence[str]) -> _Plain:
    table = headed("stage", *shown, "n", "errors")
    for stage in facts.stages:
        cells = [facts.means.get((stage, metric)) for metric in shown]
        n = max((cell.n for cell in cells if cell), default=0)
        errors = max((cell.n_error for cell in cells if cell), default=0)
        values = [number(cell.mean) if cell else "" for cell in cells]
        table.row(stage, *values, str(n), str(errors) if errors else "")
    return table


def drawn(table: Shown) -> Group:
    """A table that says itself what it is."""
    filled = headed(*table.columns) if table.rows else None
    for row in table.rows:
        cells = (cell if isinstance(cell, str) else number(cell) for cell in row.cells)
        cast("_Plain", filled).row(row.name, *cells)
    return Group(titled(table.title, filled), *(Text(printable(line)) for line in table.notes))


def _waterfall(facts: Overview) -> list[Group]:
    if not facts.bounds:
        return []
    table = _Plain(headed=False)
    for stage, count in facts.bounds:
        share = count / facts.answerable if facts.answerable else 0.0
        bar = "█" * round(40 * share)
        table.row(stage, f"{count} of {facts.answerable}", f"{bar:<40}", percent(share))
    return [titled(f"Questions {facts.counted} (upper bounds)", table)]


def _ended(facts: Overview) -> str:
    shown = ", ".join(f"{count} {name}" for name, count in facts.status.items() if count)
    return f"First failures ({shown or 'no question with gold'})"


def _failures(facts: Overview) -> _Plain:
    table = _Plain(headed=False)
    for item in facts.lost:
        ids = " ".join(item.questions[:6]) + (" …" if len(item.questions) > 6 else "")
        table.row(str(len(item.questions)), item.code, item.stage, ids)
    return table


def _slices(facts: Overview) -> _Plain:
    table = headed("slice", "n", *facts.shown[:ABREAST])
    for name, n, values in facts.slices:
        table.row(name, str(n), *(number(value) for value in values[:ABREAST]))
    return table


def _latency(facts: Overview) -> _Plain:
    table = headed("stage", "p50", "p95", "questions", "mode")
    for stage, mode, median, high, n in facts.latency:
        table.row(stage, f"{median:.1f}", f"{high:.1f}", str(n), mode)
    return table


def _warnings(warnings: Sequence[str], *, told: bool) -> RenderableType:
    title = plural(len(warnings), "warning")
    if told:
        return Text(f"\n{title}, said above", style="bold")
    rest = len(warnings) - WARNINGS
    more = [f"… {rest:,} more, in the run's manifest.json"] if rest > 0 else []
    return listed(title, [*warnings[:WARNINGS], *more])


def listed(title: str, lines: Sequence[str]) -> Group:
    """Lines that go on indented below themselves where they are long."""
    grid = Table.grid(padding=(0, 1))
    for line in lines:
        grid.add_row("-", Text(printable(line)))
    return Group(Text(f"\n{title}", style="bold"), grid)


def _matrix(run: Tables, facts: Overview, most: int = 15) -> list[Group]:
    """The failed questions × stages: where gold was still there."""
    failed = run.failures.filter(run.failures["status"] == "failed")
    if failed.is_empty():
        return []
    stages = [stage for stage, _ in facts.bounds]
    table = headed("question", *stages)
    table.padding = (0, 1, 0, 0)
    for column in table.columns:
        column.overflow = "fold"
    for row in failed.head(most).iter_rows(named=True):
        seen = dict.fromkeys(row["observed_stages"], "·")
        seen |= dict.fromkeys(row["reached_stages"], "●")
        table.row(row["question_id"], *(seen.get(stage, "?") for stage in stages))
    shown = f"{min(most, failed.height)} of {failed.height}"
    told = f"{facts.there}, · not" if facts.to_answers else "all gold there, · lost"
    return [titled(f"Failed questions (● {told}), {shown}", table)]
