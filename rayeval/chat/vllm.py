"""vLLM's own engine on the worker (`kind: vllm`): a call's requests are one batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from jinja2 import TemplateError

from rayeval.chat.budget import Account
from rayeval.chat.config import Vllm
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.chat.record import digest, known, reply
from rayeval.chat.running import end, library, running
from rayeval.errors import InfrastructureError, text_of
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN

WHOLE = ("stop", "length")
"""How a reply ends that is all the model would say, or was let say."""

Batch = Sequence[tuple[str, Request]]
"""Requests by their digests."""
Outcome = dict[str, Any] | Failed
"""A record of the log, or why there is none."""


class VllmEngine:
    """One model on this worker, loaded when the first request comes that the log doesn't know.

    Each worker counts its budget by itself.
    Raises MissingExtraError if vLLM is absent, ModelError if there is no such model.
    """

    def __init__(self, config: Vllm, log: Log, scope: str = "") -> None:
        self._library = library()
        _, revision = config.located()
        self._config, self._log = config.model_copy(update={"revision": revision}), log
        self._account = Account(config, log, scope)

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        """Per request what was said, or why nothing was; equal requests are computed once.

        Raises ModelError if the model can't be loaded, InfrastructureError if the engine dies.
        """
        self._account.begin()
        names = [digest(self._config, request) for request in requests]
        found = self._all(dict(zip(names, requests, strict=True)))
        return [
            one if isinstance(one, Failed) else reply(one, name, self._config.prices)
            for name in names
            for one in (found[name],)
        ]

    def _all(self, requests: Mapping[str, Request]) -> dict[str, Outcome]:
        """In order; where the budget lets in only some, their cost decides about the next."""
        found: dict[str, Outcome] = {}
        batch: list[tuple[str, Request]] = []
        spent = False
        for name, request in requests.items():
            kept = known(self._log.get(name))
            if kept is not None:
                self._account.charge(name, request, kept)
                found[name] = kept
                continue
            if not spent and not self._account.takes(name, request):
                found |= self._settled(batch)
                batch = []
                spent = not self._account.takes(name, request)
            if spent:
                found[name] = Failed("budget", f"the budget is spent{AGAIN}", name)
            else:
                batch.append((name, request))
        return found | self._settled(batch)

    def _settled(self, batch: Batch) -> dict[str, Outcome]:
        """The outcomes of a batch, which are in the log and in the account when this returns."""
        found = dict(self._computed(batch)) if batch else {}
        for name, request in batch:
            record = found[name]
            self._account.settle(name, request, record if isinstance(record, dict) else None)
        return found

    def _computed(self, batch: Batch) -> Iterator[tuple[str, Outcome]]:
        """vLLM refuses a whole batch for one request in it, so a refused batch is halved."""
        messages = [_messages(request) for _, request in batch]
        sampling = [self._sampling(request) for _, request in batch]
        try:
            engine = running(self._library, self._config)
            outputs = engine.chat(messages, sampling, use_tqdm=False)
        except self._library.v1.engine.exceptions.EngineDeadError as error:
            end()
            raise InfrastructureError(f"vLLM's engine died: {error}") from error
        except (self._library.exceptions.VLLMClientError, ValueError, TemplateError) as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                yield from self._computed(batch[:middle])
                yield from self._computed(batch[middle:])
                return
            yield self._failed(
                *batch[0], f"vLLM can't take the request: {text_of(error, named=False)}"
            )
            return
        for (name, request), output in zip(batch, outputs, strict=True):
            if output.outputs[0].finish_reason in WHOLE:
                record = {**self._asked(request), **_record(output)}
                self._log.put(name, record)
                yield name, record
            else:
                reason = f"vLLM broke the reply off: {output.outputs[0].finish_reason}{AGAIN}"
                yield self._failed(name, request, reason)

    def _failed(self, name: str, request: Request, reason: str) -> tuple[str, Failed]:
        row = {"note": "failed", "of": name, **self._asked(request), "said": reason}
        self._log.note(row)
        return name, Failed("failed", reason, name)

    def _asked(self, request: Request) -> dict[str, Any]:
        """What the log says of a request."""
        body = {"messages": _messages(request), "schema": request.schema, "repeat": request.repeat}
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"attempt": 1, "at": at, "body": json.dumps(body, ensure_ascii=False)}

    def _sampling(self, request: Request) -> Any:
        config, params = self._config, self._library.sampling_params
        schema = request.schema
        return params.SamplingParams(
            temperature=config.temperature,
            top_p=config.top_p,
            seed=None if config.seed is None else config.seed + request.repeat,
            max_tokens=config.max_completion_tokens,
            structured_outputs=schema and params.StructuredOutputsParams(json=dict(schema)),
        )


def _messages(request: Request) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in request.messages]


def _record(output: Any) -> dict[str, Any]:
    """What vLLM said, written as an endpoint would."""
    said = output.outputs[0]
    prompt, completion = len(output.prompt_token_ids), len(said.token_ids)
    response = {
        "choices": [{"message": {"content": said.text}, "finish_reason": said.finish_reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion},
    }
    return {
        "response": json.dumps(response, ensure_ascii=False),
        "latency_ms": 1000 * (output.metrics.last_token_ts - output.metrics.queued_ts),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }
