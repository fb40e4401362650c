"""Requests with places to fill in: `{question}` in a URL or in a JSON body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rayeval.errors import ConfigError

_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")
_OUTSIDE = re.compile(r'("(?:[^"\\]|\\.)*")|\{([A-Za-z_]\w*)\}')
"""A JSON string, or a placeholder outside of strings."""


def body_of(body: Any) -> Any:
    """The template as a value; a text is JSON in which `{depth}` may stand unquoted.

    Raises ConfigError if it is no JSON.
    """
    if not isinstance(body, str):
        return body
    try:
        return json.loads(_OUTSIDE.sub(lambda m: m[1] or f'"{{{m[2]}}}"', body))
    except ValueError as error:
        raise ConfigError(f"body is not JSON: {error}") from error


def used(url: str, body: Any, known: Sequence[str]) -> set[str]:
    """The placeholders in a request.

    Raises ConfigError for a body that is no JSON, and for what can only be meant for a placeholder.
    """
    found = set(_PLACE.findall(url))
    for text in _texts(body_of(body)):
        names = _PLACE.findall(text)
        whole = _PLACE.fullmatch(text)
        if whole and whole[1] not in known:
            raise ConfigError(f"body: unknown placeholder {text}; known are {', '.join(known)}")
        found |= set(names)
    strange = sorted(set(_PLACE.findall(url)) - set(known))
    if strange:
        raise ConfigError(f"url: unknown placeholder {{{strange[0]}}}; known: {', '.join(known)}")
    return found & set(known)


def filled_url(url: str, values: Mapping[str, Any]) -> str:
    """`url` with every value in it percent-encoded; lists are joined by commas."""

    def put(match: re.Match[str]) -> str:
        value = values[match[1]]
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        return quote(text, safe="")

    return _PLACE.sub(put, url)


def filled_body(body: Any, values: Mapping[str, Any]) -> Any:
    """`body` (a value) with every placeholder filled in.

    A text that is nothing but a placeholder becomes the value itself, a number or a list too;
    within a text, the value's text is put, JSON where it is none.
    """
    if isinstance(body, dict):
        return {key: filled_body(item, values) for key, item in body.items()}
    if isinstance(body, list):
        return [filled_body(item, values) for item in body]
    if not isinstance(body, str):
        return body
    whole = _PLACE.fullmatch(body)
    if whole and whole[1] in values:
        return values[whole[1]]

    def put(match: re.Match[str]) -> str:
        if match[1] not in values:
            return match[0]
        value = values[match[1]]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _PLACE.sub(put, body)


def _texts(body: Any) -> list[str]:
    if isinstance(body, dict):
        return [text for item in body.values() for text in _texts(item)]
    if isinstance(body, list):
        return [text for item in body for text in _texts(item)]
    return [body] if isinstance(body, str) else []
