"""Help that lists other tools' formats."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from typer.core import TyperCommand


class FormatsCommand(TyperCommand):
    """Lists the formats in its help, which are looked up only then."""

    @property
    def shown(self) -> Collection[str] | None:
        """The names of those that it takes; None: all."""
        return None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As every command's, with the formats at the end."""
        from rayeval.interop.formats import formats

        known = {name: importer.FILES for name, importer in formats().items()}
        names = known if self.shown is None else self.shown
        rows = [f"- `{name}`: {known[name]}" for name in names]
        self.epilog = "\n".join(["**Formats**", "", *rows])
        super().format_help(ctx, formatter)


class HitsCommand(FormatsCommand):
    """Lists the formats that hold hits."""

    @property
    def shown(self) -> Collection[str]:
        """What `score` reads."""
        from rayeval.interop.own import WITH_HITS

        return WITH_HITS
