"""vLLM's own engine on the worker (`kind: vllm`): a call's requests are one batch."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from rayeval.chat.config import Prices, Vllm
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.errors import InfrastructureError, MissingExtraError, ModelError
from rayeval.live.log import Log
from rayeval.models import PACKAGE, model_path

SETTINGS = {
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is for what a command was asked for
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",  # its processes talk to each other on this machine alone
}
"""Of the environment: vLLM reads them when it is imported. The user's own win."""

COMPACT = {"backend": "guidance", "disable_any_whitespace": True}
"""JSON may hold any white space, and a small model fills a whole reply with it."""

WHOLE = ("stop", "length")
"""How a reply ends that is all the model would say, or was let say."""

Asked = Sequence[tuple[str, Request]]
"""Requests by their digests."""


def located(config: Vllm) -> tuple[str, str]:
    """The model's folder, and its revision: the declared one, else a digest of the folder's files.

    Raises ModelError if there is no such model.
    """
    name, declared = config.model, config.revision
    local = name.startswith(PACKAGE) or Path(name).expanduser().exists()
    if declared is not None and not local:
        return model_path(f"{name}@{declared}")
    folder, found = model_path(name)
    return folder, declared or found


class VllmEngine:
    """One model on this worker, loaded when the first request comes that the log doesn't know.

    Raises MissingExtraError if vLLM is absent, ModelError if there is no such model.
    """

    def __init__(self, config: Vllm, log: Log) -> None:
        self._library = _imported()
        self._config, self._log = config, log
        self._folder, self._revision = located(config)

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        """Per request what was said, or why nothing was; in the order of `requests`.

        Raises ModelError if the model can't be loaded, InfrastructureError if the engine dies.
        """
        names = [self._digest(request) for request in requests]
        asked = dict(zip(names, requests, strict=True))
        answers = {name: self._log.get(name) for name in asked}
        new = [(name, request) for name, request in asked.items() if answers[name] is None]
        answers |= self._computed(new) if new else {}
        return [_told(name, answers[name], self._config.prices) for name in names]

    def _computed(self, batch: Asked) -> dict[str, Any]:
        """Per digest the answer, which the log has then, or `{"failed"}`.

        vLLM refuses a batch for one request in it, so a refused batch is halved.
        """
        messages = [[{"role": r, "content": c} for r, c in one.messages] for _, one in batch]
        sampling = [self._sampling(request) for _, request in batch]
        try:
            engine = _engine(self._library, self._config, self._folder)
            outputs = engine.chat(messages, sampling, use_tqdm=False)
        except self._library.v1.engine.exceptions.EngineDeadError as error:
            _end()
            raise InfrastructureError(f"vLLM's engine died: {error}") from error
        except (self._library.exceptions.VLLMClientError, ValueError, TemplateError) as error:
            if len(batch) == 1:
                return {batch[0][0]: {"failed": str(error)}}
            middle = len(batch) // 2
            return self._computed(batch[:middle]) | self._computed(batch[middle:])
        names = [name for name, _ in batch]
        return {name: self._kept(name, one) for name, one in zip(names, outputs, strict=True)}

    def _kept(self, name: str, output: Any) -> dict[str, Any]:
        said = output.outputs[0]
        if said.finish_reason not in WHOLE:
            return {"failed": f"vLLM broke the reply off: {said.finish_reason}"}
        answer = {
            "text": said.text,
            "finish_reason": said.finish_reason,
            "prompt_tokens": len(output.prompt_token_ids),
            "completion_tokens": len(said.token_ids),
            "latency_ms": 1000 * (output.metrics.last_token_ts - output.metrics.queued_ts),
        }
        self._log.put(name, answer)
        return answer

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

    def _digest(self, request: Request) -> str:
        decides = {
            "engine": self._config.identity(),
            "revision": self._revision,
            "prompt": request.prompt,
            "messages": request.messages,
            "schema": request.schema,
            "repeat": request.repeat,
        }
        text = json.dumps(decides, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


_running: list[tuple[dict[str, Any], Any]] = []
"""This process's engine and what it was started with: answers, brackets and judge of one model
share it. A GPU has room for one, so another model's takes its place."""


def _engine(library: Any, config: Vllm, folder: str) -> Any:
    settings = {
        "model": folder,
        "dtype": config.dtype,
        "max_model_len": config.max_model_len,
        "gpu_memory_utilization": config.gpu_memory_utilization,
        "enforce_eager": config.enforce_eager,
    }
    if not _running or _running[0][0] != settings:
        _end()
        _running.append((settings, _started(library, settings)))
    return _running[0][1]


def _started(library: Any, settings: Mapping[str, Any]) -> Any:
    try:
        # The statistics hold the times of every single request.
        return library.LLM(**settings, structured_outputs_config=COMPACT, disable_log_stats=False)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(f"vLLM can't load the model {settings['model']}: {error}") from error
    except RuntimeError as error:
        raise InfrastructureError(
            f"vLLM's engine did not start with the model {settings['model']}: {error} What it "
            "printed before says why. On Ray, placement.gpus is what gives a worker a GPU."
        ) from error


@atexit.register
def _end() -> None:
    """Ends the engine's processes, which free their memory."""
    for _, engine in _running:
        engine.llm_engine.engine_core.shutdown()
    _running.clear()


def _told(name: str, answer: Mapping[str, Any], prices: Prices | None) -> Reply | Failed:
    if "failed" in answer:
        return Failed("failed", answer["failed"], name)
    cost = None
    if prices is not None:
        cost = (
            answer["prompt_tokens"] * prices.input_per_million
            + answer["completion_tokens"] * prices.output_per_million
        ) / 1e6
    return Reply(**answer, cost_usd=cost, request=name)


def _imported() -> Any:
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import vllm
        import vllm.exceptions
        import vllm.sampling_params
        import vllm.v1.engine.exceptions
    except ImportError as error:
        raise MissingExtraError.of("vllm", "gpu", why="the chat model vllm") from error
    return vllm
