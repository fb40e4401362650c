"""The one vLLM engine that a process has: found, started, ended."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from typing import Any

from rayeval.chat.config import Vllm
from rayeval.errors import InfrastructureError, MissingExtraError, ModelError

SETTINGS = {
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is for what a command was asked for
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",  # its processes talk to each other on this machine alone
}
"""Of the environment: vLLM reads them when it is imported. The user's own win."""

COMPACT = {"backend": "guidance", "disable_any_whitespace": True}
"""JSON may hold any white space, and a small model fills a whole reply with it."""


def library() -> Any:
    """The package vllm. Raises MissingExtraError if it is absent."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import vllm
        import vllm.exceptions
        import vllm.sampling_params
        import vllm.v1.engine.exceptions
    except ImportError as error:
        raise MissingExtraError.of("vllm", "vllm", why="the chat model vllm") from error
    return vllm


_running: list[tuple[dict[str, Any], Any]] = []
"""This process's engine and what it was started with: answers, brackets and judge of one model
share it. A GPU has room for one, so another model's takes its place."""


def running(library: Any, config: Vllm) -> Any:
    """The engine for this model, started unless it runs already.

    Raises ModelError if the model can't be loaded, InfrastructureError if the engine can't start.
    """
    settings = {
        "model": config.located()[0],
        "dtype": config.dtype,
        "max_model_len": config.max_model_len,
        "gpu_memory_utilization": config.gpu_memory_utilization,
        "enforce_eager": config.enforce_eager,
    }
    if not _running or _running[0][0] != settings:
        end()
        _running.append((settings, _started(library, settings)))
        atexit.register(end)  # now, so that it comes before what vLLM's own modules registered
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


def end() -> None:
    """Ends the engine's processes, which free their memory."""
    for _, engine in _running:
        engine.llm_engine.engine_core.shutdown()
    _running.clear()
