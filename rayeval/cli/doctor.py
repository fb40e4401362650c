"""`rayeval doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import EXIT_INVALID, EXIT_PASS


def doctor(
    config: Annotated[
        str | None, typer.Argument(metavar="[CONFIG]", help="What this one would need.")
    ] = None,
    sets: options.Sets = None,
    json: options.Json = False,
) -> int:
    """Say what is installed, what clashes, and what a configuration would need.

    Example: `rayeval doctor configs/quickstart.yaml`
    """
    from rayeval.execution.doctor import examine

    findings = examine(config, sets or ())
    if json:
        options.print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            print(f"{finding.state:<8} {finding.name:<22} {finding.detail}")  # noqa: T201
    lacking = any(finding.needed for finding in findings)
    return EXIT_INVALID if lacking else EXIT_PASS
