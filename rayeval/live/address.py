"""Addresses and headers as a configuration states them: what no request could be sent with is said
before anything is."""

from __future__ import annotations

import re
from collections.abc import Mapping

SECRET = re.compile(r"authorization|cookie|key|token|secret|password|credential", re.IGNORECASE)
"""Names of headers whose values belong in the environment, not in a file."""
VARIABLE = re.compile(r"\$\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
FRAMING = frozenset(
    {"content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect"}
)
"""Headers that say where a message ends, which only who sends it knows."""
LAST_PORT = 65535


def address(url: str) -> str:
    """`url`, if something may be behind it. Raises ValueError where no request could go there."""
    import httpx

    try:
        parsed = httpx.URL(url)
        host, port = parsed.host, parsed.port
    except (httpx.InvalidURL, ValueError) as error:  # IDNA's errors are ValueErrors
        raise ValueError(f"{url!r} is no address: {error}; e.g. http://127.0.0.1:8000/v1") from None
    if not host or re.search(r"\s", url):
        raise ValueError(f"{url!r} is no address: {'a blank in it' if host else 'no host'}")
    if port is not None and not 0 < port <= LAST_PORT:
        raise ValueError(f"{url!r} is no address: ports are 1 to {LAST_PORT}")
    return url


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises ValueError for what no header can be, and for a secret that stands in the file."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"headers: {name!r} is no header's name; expected ASCII, as in X-Team")
        if name.lower() in FRAMING:
            raise ValueError(f"headers.{name}: what is sent decides that; leave it out")
        if SECRET.search(name) and "${" not in value:
            raise ValueError(f"headers.{name}: write ${{NAME}}, and set NAME in the environment")
        rest = VARIABLE.sub("", value)
        if "${" in rest:
            raise ValueError(f"headers.{name}: {value!r} is not ${{NAME}}: letters, digits and _")
        if not (rest.isascii() and rest.isprintable()) or value != value.strip():
            raise ValueError(
                f"headers.{name}: {value!r}: expected printable ASCII, without blanks around it"
            )
