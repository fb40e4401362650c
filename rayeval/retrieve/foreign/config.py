"""Settings of arms that ask a live system."""

from __future__ import annotations

from typing import Any

from pydantic import Field, PositiveInt

from rayeval.live.config import Http, Python


class HttpArm(Http):
    """A search service; `fields` says where in an item are the keys of a hit, which
    [live-systems.md](live-systems.md#the-format) lists."""

    depth: PositiveInt = Field(100, description="hits kept per question, and {depth} in a request")


class PythonArm(Python):
    """Code of the user's own: called with a batch table, it gives every question's hits."""

    depth: PositiveInt = Field(100, description="hits kept per question")

    def identity(self) -> dict[str, Any]:
        """As of any code, under a name that no other stage's identity has."""
        return {**super().identity(), "asked": "search"}
