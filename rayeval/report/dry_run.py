"""What a run would compute and ask, before it does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rayeval.report.terminal import headed, listed, rendered, titled

BOUNDED = (
    "Requests of a judge: from what is asked if every answer is refused, to every task of all.\n"
    "Tokens and cost are upper bounds: a token in every two bytes, replies as long as may be, as\n"
    "many claims as fit in one, no request twice. What the log has costs nothing; where it is ?,\n"
    "what will be asked is not known yet, and the log may have some of it."
)
TOKENS = ("prompt_tokens", "completion_tokens")
COUNTS = ("requests_least", "requests", *TOKENS)
Row = Mapping[str, Any]


def dry_run_text(rows: Sequence[Row], asked: Sequence[Row] = (), notes: Sequence[str] = ()) -> str:
    """What a run would compute, what it would ask of chat models, and what is odd about it."""
    table = headed("step", "state", "partitions", "rows", "MB stored")
    for row in rows:
        parts = "?" if row["partitions"] is None else row["partitions"]
        done = f"{row['partitions_stored']}/{parts}"
        size = f"{row['bytes_stored'] / 1e6:.1f}" if row["bytes_stored"] else ""
        rows_known = "?" if row["rows"] is None else f"{row['rows']:,}"
        table.row(row["step"], row["state"], done, rows_known, size)
    shown: list[RenderableType] = [titled("What would be computed", table)]
    if any(row["partitions"] is None or row["rows"] is None for row in rows):
        shown.append(Text("\n? is known once the steps before it are stored"))
    if asked:
        shown += [titled("Requests to chat models", _asked(asked)), Text(BOUNDED)]
    if said := [*over_budget(asked), *notes]:
        shown.append(listed("Warnings", said))
    return rendered(shown)


def total(asked: Sequence[Row]) -> dict[str, Any]:
    """All steps together; no cost where a step has no prices."""
    costs = [row["cost_usd"] for row in asked]
    sums = {name: sum(row[name] for row in asked) for name in COUNTS}
    return {**sums, "cost_usd": None if None in costs else math.fsum(costs)}


def over_budget(asked: Sequence[Row]) -> Iterator[str]:
    """A line for every step that may come to more than its budget."""
    for row in asked:
        usd, tokens, most = row["cost_usd"], sum(row[name] for name in TOKENS), row["max_tokens"]
        over = []
        if row["max_cost_usd"] is not None and usd is not None and usd > row["max_cost_usd"]:
            over.append(f"${usd:,.2f}, and its budget is ${row['max_cost_usd']:,.2f}")
        if most is not None and tokens > most:
            over.append(f"{tokens:,} tokens, and its budget is {most:,}")
        if over:
            yield (
                f"{row['step']} may come to {', '.join(over)}: where that is spent, what is left "
                "becomes errors"
            )


def _asked(rows: Sequence[Row]) -> Table:
    columns = ("requests", "in the log", "tokens read ≤", "tokens written ≤", "cost ≤", "budget")
    table = headed("step", *columns)
    for row in rows:
        logged = "?" if row["logged"] is None else f"{row['logged']:,}"
        table.row(row["step"], _range(row), logged, *_bounds(row), _budget(row))
    if len(rows) > 1:
        whole = total(rows)
        table.row("in all", _range(whole), "", *_bounds(whole), "")
    return table


def _range(row: Row) -> str:
    least, most = row["requests_least"], row["requests"]
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _bounds(row: Row) -> tuple[str, ...]:
    cost = "no prices" if row["cost_usd"] is None else f"${row['cost_usd']:,.2f}"
    return (*(f"{row[name]:,}" for name in TOKENS), cost)


def _budget(row: Row) -> str:
    usd, tokens = row["max_cost_usd"], row["max_tokens"]
    parts = [f"${usd:,.2f}"] if usd is not None else []
    parts += [f"{tokens:,} tokens"] if tokens is not None else []
    return ", ".join(parts) or "none"
