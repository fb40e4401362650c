"""What the log keeps of a completed conversation, and the reply that it is read as."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rayeval.chat.config import Chat, Prices
from rayeval.chat.engine import Failed, Reply, Request

ENGINE = ("kind", "url", "model", "revision", "temperature", "top_p", "seed",
          "max_completion_tokens", "dtype", "max_model_len")  # fmt: skip
"""The settings that decide what is said."""

MOST_TOKENS = 2**40
"""A count above that is none; sums of smaller ones fit a table's whole numbers."""
NO_COMPLETION = "it answered with something that is no chat completion"


def digest(config: Chat, request: Request) -> str:
    """Under which the log keeps a request: engine, model, parameters, prompt, input, repeat."""
    recipe = {
        "engine": {name: getattr(config, name, None) for name in ENGINE},
        "messages": request.messages,
        "prompt": request.prompt,
        "schema": request.schema,
        "repeat": request.repeat,
    }
    text = json.dumps(recipe, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Said:
    """A completed conversation, as both engines give it."""

    text: str | None
    refusal: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None


def said(body: str) -> Said:
    """A chat completion's body, read. Raises ValueError if it is none."""
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        message, usage = choice["message"], value.get("usage") or {}
        text, refusal = message.get("content"), message.get("refusal")
        reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(NO_COMPLETION) from error
    if not isinstance(text, str | None) or not isinstance(refusal, str | None):
        raise ValueError("it answered with a message whose content is no text")
    reason = _whole(reason) if isinstance(reason, str) else None
    refusal = _whole(refusal) if refusal else None
    if text is None and refusal is None and reason is None:  # one that thought to its limit has one
        raise ValueError("it answered with a message without content")
    tokens = (_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))
    return Said(text, refusal, reason, *tokens)


def known(record: Any) -> dict[str, Any] | None:
    """What a log has of a request; None where that can't be read: it is asked for again then."""
    try:
        said(record["response"])
        return record if math.isfinite(record["latency_ms"]) else None
    except (ValueError, LookupError, TypeError):
        return None


def reply(record: Mapping[str, Any], name: str, prices: Prices | None) -> Reply | Failed:
    """What a record of the log says: `{"response", "latency_ms", …}`."""
    found = said(record["response"])
    if found.refusal is not None or found.finish_reason == "content_filter":
        return Failed("refused", found.refusal or "the endpoint's filter held the reply back", name)
    return Reply(
        text=found.text or "",
        finish_reason=found.finish_reason,
        prompt_tokens=found.prompt_tokens,
        completion_tokens=found.completion_tokens,
        cost_usd=cost_usd(prices, found.prompt_tokens, found.completion_tokens),
        latency_ms=record["latency_ms"],
        request=name,
    )


def cost_usd(prices: Prices | None, prompt: int | None, completion: int | None) -> float | None:
    """What tokens cost; None without prices or counts."""
    if prices is None or prompt is None or completion is None:
        return None
    return (prompt * prices.input_per_million + completion * prices.output_per_million) / 1_000_000


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _whole(text: str) -> str:
    """`text` without halves of characters, which no table can hold."""
    return text.encode("utf-8", "replace").decode()
