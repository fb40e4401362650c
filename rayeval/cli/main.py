"""`rayeval`: every command, its errors and exit codes."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Any

import typer

from rayeval import __version__
from rayeval.cli.compare import compare
from rayeval.cli.doctor import doctor
from rayeval.cli.export import export
from rayeval.cli.formats import HitsCommand
from rayeval.cli.gate import gate
from rayeval.cli.golden import golden
from rayeval.cli.heedless import Heedless
from rayeval.cli.init import init
from rayeval.cli.judge import judge
from rayeval.cli.options import print_json
from rayeval.cli.report import report
from rayeval.cli.resume import resume
from rayeval.cli.run import run
from rayeval.cli.runs import runs
from rayeval.cli.score import score
from rayeval.cli.show import show
from rayeval.cli.validate import validate
from rayeval.cli.verify import verify
from rayeval.cli.view import view
from rayeval.errors import (
    EXIT_INFRASTRUCTURE,
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    EXIT_PASS,
    RayevalError,
    text_of,
)
from rayeval.report.lines import tell

UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""Click's base of usage errors; newer versions of typer carry a copy of click of their own."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Prove that a change to a retrieval pipeline helped: for which questions, at which stage.",
    epilog="Exit codes: 0 pass · 1 a gate failed · 2 configuration or data invalid · "
    "3 inconclusive · 4 infrastructure failure · 130 interrupted.",
)
for command in (
    init,
    validate,
    run,
    score,
    show,
    verify,
    resume,
    compare,
    gate,
    report,
    view,
    export,
    doctor,
):
    app.command(cls=HitsCommand if command is score else None)(command)
app.add_typer(runs, name="runs", help="List runs, promote a baseline, see what differs.")
app.add_typer(golden, name="golden", help="Import, check and grow a golden set.")
app.add_typer(judge, name="judge", help="Hold a judge against people.")


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        typer.echo(f"rayeval {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the `rayeval` script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = Heedless(sys.stderr)
    sys.exit(_written(sys.argv[1:] if arguments is None else arguments))


def _written(arguments: list[str]) -> int:
    """The exit code once everything is written; without a word where nobody reads any more."""
    code = EXIT_INFRASTRUCTURE
    try:
        code = run_command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or EXIT_INFRASTRUCTURE
    except OSError as error:
        tell(f"rayeval: can't write to stdout: {error}")
        code = EXIT_INFRASTRUCTURE
    else:
        return code
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def run_command(arguments: list[str]) -> int:
    """Runs one command line; returns the exit code (DESIGN §8)."""
    try:
        result = app(arguments, prog_name="rayeval", standalone_mode=False)
    except RayevalError as error:
        return _fail(arguments, type(error).__name__, str(error), error.exit_code)
    except UsageError as error:
        error.show(file=sys.stderr)
        return _fail(arguments, "UsageError", error.format_message(), EXIT_INVALID, said=True)
    except typer.Abort:  # at a question that it asks
        result = EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # Click exits with 1, which here means a failed gate, when nobody reads any more.
        raise BrokenPipeError from error
    except (OSError, MemoryError) as error:
        return _fail(arguments, "InfrastructureError", text_of(error), 4)
    except BaseException as error:  # noqa: BLE001 - a bug has exit code 4; a panic is no Exception
        traceback.print_exc()
        said = f"unexpected {text_of(error)} (please report it with the lines above)"
        return _fail(arguments, "Unexpected", said, EXIT_INFRASTRUCTURE)
    if result == EXIT_INTERRUPTED:  # typer makes it of a KeyboardInterrupt
        said = "interrupted; `rayeval resume RUN` goes on with a run that had begun"
        return _fail(arguments, "Interrupted", said, EXIT_INTERRUPTED)
    return result if isinstance(result, int) else EXIT_PASS


def _fail(arguments: list[str], kind: str, message: str, code: int, *, said: bool = False) -> int:
    """The message on stderr and, with --json, as the document on stdout."""
    if not said:
        tell(f"rayeval: {message}")
    if "--json" in arguments:
        document: dict[str, Any] = {"error": {"kind": kind, "message": message, "exit_code": code}}
        print_json(document)
    return code
