"""`rayeval view`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rayeval.cli import options


def view(
    runs: options.Runs = "runs",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="On 127.0.0.1; 0: any that is free.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    json: options.Json = False,
) -> None:
    """Browse a folder of runs: the list, metrics over time, any run, any two compared.

    Only this machine can reach it. Ctrl-C ends it.

    Example: `rayeval view --runs runs --open`
    """
    from rayeval.execution.decide.view import serve

    with serve(runs, port) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        options.print_json({"url": address}) if json else print(address)  # noqa: T201
        sys.stdout.flush()
        if open_:
            typer.launch(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            options.say("ended")
