"""OpenTelemetry's conventions for generative AI, in OpenInference's terms.

| OpenTelemetry | OpenInference |
|---|---|
| `gen_ai.operation.name` `retrieval` | a RETRIEVER |
| `gen_ai.operation.name` `chat`, `generate_content`, `text_completion` | an LLM |
| `gen_ai.retrieval.query.text` | `input.value` |
| `gen_ai.retrieval.documents`: `id`, `score`, `content` | `retrieval.documents` |
| `gen_ai.input.messages`, `gen_ai.output.messages`: `role`, text `parts` | `llm.*_messages` |

Lists may be written as JSON text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.interop.nesting import at, list_of
from rayeval.interop.records import RefusedError

KINDS = {
    "retrieval": "RETRIEVER",
    **dict.fromkeys(("chat", "generate_content", "text_completion"), "LLM"),
}


def openinference(attributes: dict[str, Any]) -> dict[str, Any]:
    """`attributes` with what only `gen_ai` says under OpenInference's names too."""
    kind = KINDS.get(str(at(attributes, "gen_ai.operation.name")))
    if kind is None or at(attributes, "openinference.span.kind") is not None:
        return attributes
    found: dict[str, Any] = {**attributes, "openinference": {"span": {"kind": kind}}}
    if kind == "LLM":
        sides = {f"{side}_messages": _messages(attributes, side) for side in ("input", "output")}
        return {**found, "llm": {**_object(attributes.get("llm")), **sides}}
    query = at(attributes, "gen_ai.retrieval.query.text")
    documents = _list(attributes, "gen_ai.retrieval.documents")
    if query is not None:
        found["input"] = {"value": query}
    if documents is not None:
        found["retrieval"] = {"documents": [{"document": document} for document in documents]}
    return found


def _list(attributes: Mapping[str, Any], path: str) -> list[Any] | None:
    value = list_of(at(attributes, path), path)
    if value is not None and not isinstance(value, list):
        raise RefusedError("wrong_type", f"`{path}` is {str(value)[:60]!r}, expected a list")
    return value


def _messages(attributes: Mapping[str, Any], side: str) -> list[Any]:
    given = _list(attributes, f"gen_ai.{side}.messages") or []
    return [{"message": _message(message)} for message in given if isinstance(message, Mapping)]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    parts: Sequence[Any] = message.get("parts") or []
    texts = [part.get("content") for part in parts if isinstance(part, Mapping)]
    said = [text for text in (*texts, message.get("content")) if isinstance(text, str)]
    return {"role": message.get("role"), "content": "\n".join(said)}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
