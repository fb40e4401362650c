"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer


def _named(value: str) -> str:
    """An empty folder name, as of an unset shell variable, would mean the file system's root."""
    if not value:
        raise typer.BadParameter("it is empty; name a folder")
    return value


Config = Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML configuration.")]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id below --runs, or its path.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
Runs = Annotated[
    str, typer.Option("--runs", metavar="DIR", help="The folder of runs.", callback=_named)
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting; repeatable, dotted keys."),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR",
        show_default="RUNS/.store",
        help="Where what was computed is kept, and taken from again.",
    ),
]
Ray = Annotated[bool, typer.Option("--ray", help="Run on a Ray started for this command.")]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", metavar="A", help="Run on that Ray cluster (`auto`: this one)."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="How many compute at once; overrides placement.workers."),
]


def print_json(document: Any) -> None:
    """The command's one document on stdout, in whatever encoding that has."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, allow_nan=False)
    print(text)  # noqa: T201


def one_screen() -> bool:
    """Whether what is said on stderr stands above what is printed."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def say(text: str) -> None:
    """A message for people, on stderr."""
    from rayeval.report.lines import tell

    tell(text)
