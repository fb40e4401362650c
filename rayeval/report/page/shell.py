"""The file around the data: styles and scripts inlined, nothing fetched, no user's text obeyed.

The page's policy lets only these very scripts run, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

SCRIPTS = ("dom", "data", "route", "summary", "metrics", "charts", "meanings", "answers", "worth",
           "judge", "listing", "matrix", "passage", "hits", "claims", "replies", "answered",
           "question", "folder", "main")  # fmt: skip
_ESCAPED = str.maketrans(
    {c: f"\\u{ord(c):04x}" for c in ("<", ">", "&", "\u2028", "\u2029")}
)  # what would end a script, or a line of one

_AS_THEY_ARE = {str, int, bool, type(None)}
"""Long lists of these, as columns mostly are, need no second look."""


def page(title: str, sentence: str, data: Mapping[str, Any]) -> bytes:
    """The whole file. data: what the scripts draw; NaN becomes null."""
    script = _scripts()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _template()
        .render(
            title=title,
            sentence=sentence,
            style=Markup(_source("page.css")),  # noqa: S704 - our own
            script=Markup(script),  # noqa: S704 - our own
            digest=digest,
            data=Markup(embedded(data)),  # noqa: S704 - escaped
        )
        .encode()
    )


def embedded(data: Any) -> str:
    """JSON that a script element may hold, whatever texts are in it."""
    text = json.dumps(_plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPED)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return value if _AS_THEY_ARE.issuperset(map(type, value)) else [_plain(v) for v in value]
    return value


@cache
def _scripts() -> str:
    """One script, so that the files share their functions."""
    parts = [_source(f"{name}.js") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "\n})();\n"


def _source(name: str) -> str:
    return resources.files("rayeval.report.page").joinpath(name).read_text("utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_source("page.html.jinja"))
