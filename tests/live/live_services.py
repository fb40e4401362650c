"""A search service on loopback that answers by a script, and a small project that asks it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.runs import Run

DOCUMENTS = {
    "leave.md": "# Leave\n\nEvery employee has 25 days of paid leave.\n\nCall 1234 for help.\n",
    "it.md": "# 장비\n\n장비 신청은 포털에서 하며 5일이 걸린다.\n\nCall 1234 for help.\n",
    "vpn.md": "VPN tokens expire after 90 days.\n",
}
QUESTIONS = [
    {"question_id": "q-leave", "question": "how many days of paid leave",
     "evidence": [{"source_id": "leave.md", "quote": "Every employee has 25 days of paid leave."}]},
    {"question_id": "q-it", "question": '장비는 "며칠"?', "principals": ["hr", "it"],
     "evidence": [{"source_id": "it.md", "quote": "5일이 걸린다"}]},
    {"question_id": "q-vpn", "question": "when do tokens expire",
     "evidence": [{"source_id": "vpn.md", "quote": "90 days"}]},
]  # fmt: skip
CONFIG: dict[str, Any] = {
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "docs"},
    "chunk": {"kind": "fixed", "size": 400},
    "metrics": {"cutoffs": [1, 3]},
}

BODY = {"q": "{question}", "k": "{depth}", "who": "{principals}"}
FIELDS = {"chunk_id": "id", "text": "t", "source_id": "meta.src", "score": "s",
          "start_char": "at.0", "end_char": "at.1"}  # fmt: skip
GOLD = {
    "how many days of paid leave": "Every employee has 25 days of paid leave.",
    '장비는 "며칠"?': "장비 신청은 포털에서 하며 5일이 걸린다.",
    "when do tokens expire": "VPN tokens expire after 90 days.",
}


def arm(server: Server, **settings: Any) -> dict[str, Any]:
    return {"kind": "http", "url": server.url, "body": BODY, "hits": "r.items", "fields": FIELDS,
            **settings}  # fmt: skip


def answered(*items: Any) -> Callable[[dict[str, Any]], Answer]:
    return lambda request: (200, {"r": {"items": list(items)}}, {})


def gold(request: dict[str, Any]) -> Answer:
    return answered({"id": 1, "t": GOLD[request["body"]["q"]], "s": 2.5})(request)


Answer = tuple[int, Any, dict[str, str]]


class Server(ThreadingHTTPServer):
    """`answer(request)` for every request, all of which are kept in `seen`."""

    daemon_threads = True

    def __init__(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self.answer, self.seen, self.times, self.most, self.now = answer, [], [], 0, 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/search"

    def questions(self) -> list[Any]:
        return [request["body"]["q"] for request in self.seen]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        server: Any = self.server
        request = {"path": self.path, "body": body, "headers": dict(self.headers)}
        with server.lock:
            server.seen.append(request)
            server.times.append(time.monotonic())
            server.now += 1
            server.most = max(server.most, server.now)
        status, answer, headers = server.answer(request)
        raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        with server.lock:
            server.now -= 1
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(raw)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(raw)

    do_GET = do_PUT = do_POST  # noqa: N815


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[Server]:
    server = Server(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def project(folder: Path, arms: dict[str, Any], **config: Any) -> Path:
    """Documents, questions and a configuration in `folder`."""
    for name, text in DOCUMENTS.items():
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS)
    (folder / "golden.jsonl").write_text(lines)
    path = folder / "rayeval.yaml"
    values = {**CONFIG, "retrieve": {"arms": arms}, **config}
    path.write_text(yaml.safe_dump(values, allow_unicode=True, sort_keys=False))
    return path


def run(path: Path, *sets: str, **options: Any) -> Run:
    where = Options(**{"runs": str(path.parent / "runs"), **options})
    return run_config(load_config(str(path), sets), where, Silent())


def hits(found: Run, question_id: str, stage: str) -> list[dict[str, Any]]:
    """A stage's hits in order, each with its passage."""
    [row] = found.trace.filter(question_id=question_id, stage=stage).to_dicts()
    places = {p["chunk_id"]: p for p in found.passages.to_dicts()}
    return [{**places[hit["chunk_id"]], **hit} for hit in row["hits"]]


def errors(found: Run, stage: str) -> dict[str, str]:
    rows = found.trace.filter(stage=stage).drop_nulls("error")
    return dict(zip(rows["question_id"], rows["error"], strict=True))


def value(found: Run, question_id: str, stage: str, metric: str) -> float:
    return float(found.per_query.filter(question_id=question_id, stage=stage)[metric].item())
