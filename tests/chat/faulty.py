"""A chat endpoint on loopback that answers by a script, with every fault that a real one has."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fault:
    """One response that is no plain completion."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    drip_s: float = 0.0
    """Between the bytes of the body."""
    cut: bool = False
    """The connection ends in the middle of the body."""
    reset: bool = False
    """The connection is reset instead of an answer."""


Script = Callable[[dict[str, Any]], "str | dict[str, Any] | Fault"]
"""The request's body → the text of a completion, a whole body, or a fault."""


def completion(text: str | None, **choice: Any) -> dict[str, Any]:
    tokens = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    message = {"role": "assistant", "content": text, "refusal": choice.pop("refusal", None)}
    return {
        "id": "c-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": tokens,
    }


class Endpoint(ThreadingHTTPServer):
    """`script(body)` for every request, all of which are kept in `seen`."""

    daemon_threads = True

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script, self.seen, self.times, self.most, self.now = script, [], [], 0, 0
        self.lock = threading.Lock()
        self.models = Fault(status=404, body=b"{}")
        """What it says to whoever asks for its models."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def counts(self) -> Counter[str]:
        """How often every request came, by its last message and its seed."""
        return Counter(json.dumps([s["messages"], s.get("seed")]) for s in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body["headers"] = dict(self.headers)
        body["path"] = self.path
        with self.server.lock:
            self.server.seen.append(body)
            self.server.times.append(time.monotonic())
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._answer(self.server.script(body))
        with self.server.lock:
            self.server.now -= 1

    def do_GET(self) -> None:
        self._answer(self.server.models)

    def _answer(self, found: str | dict[str, Any] | Fault) -> None:
        if isinstance(found, str):
            found = completion(found)
        if isinstance(found, dict):
            found = Fault(body=json.dumps(found, ensure_ascii=False).encode())
        data = completion_bytes() if found.body is None else found.body
        time.sleep(found.hang_s)
        if found.reset:  # closing at once, with nothing more to send
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        self.send_response(found.status)
        for name, value in {"Content-Type": "application/json", **found.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if found.cut:
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif found.drip_s:
            for byte in data:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(found.drip_s)
        else:
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def completion_bytes() -> bytes:
    return json.dumps(completion("{}")).encode()


@contextmanager
def serving(script: Script, port: int = 0) -> Iterator[Endpoint]:
    server = Endpoint(script, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
