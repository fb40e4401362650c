"""`rayeval init`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.words import plural


def init(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    json: options.Json = False,
) -> None:
    """Write a project to start from: configuration, documents, questions, a CI workflow.

    Example: `rayeval init my-eval && cd my-eval && rayeval run rayeval.yaml`
    """
    from rayeval.execution.init import write_project

    written = write_project(folder)
    if json:
        options.print_json({"path": folder, "files": written})
        return
    print(f"Wrote {plural(len(written), 'file')} to {folder}:")  # noqa: T201
    print("\n".join(f"  {name}" for name in written))  # noqa: T201
    print(f"Next: cd {folder} && rayeval run rayeval.yaml")  # noqa: T201
