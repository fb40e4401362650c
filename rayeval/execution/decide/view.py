"""A folder of runs in the browser, served to this machine alone.

It only reads: every address is answered to GET, comparisons are computed and shown but not written.
A request that names another host than this machine is refused, so that no page of the web reaches
it under a name of its own (DNS rebinding).
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import polars as pl

from rayeval import files
from rayeval.errors import RayevalError
from rayeval.execution.decide.comparison import FACTS, Options, compare_runs
from rayeval.execution.decide.listing import listed
from rayeval.execution.decide.reports import page_of
from rayeval.execution.runs import Run
from rayeval.report.page.comparison import comparison_page
from rayeval.report.page.folder import folder_page, message_page
from rayeval.report.page.run import run_page

HOSTS = ("127.0.0.1", "localhost")


def serve(runs: str, port: int) -> ThreadingHTTPServer:
    """A server of the folder `runs` on 127.0.0.1; port 0: any that is free.

    Raises RunError if there is no such folder.
    """
    listed(runs)
    pages = Pages(runs)

    class Handler(_Handler):
        answer = staticmethod(pages.answer)

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


class Pages:
    """What is at each address."""

    def __init__(self, runs: str) -> None:
        self.runs = runs.rstrip("/")
        self._compared = lru_cache(maxsize=16)(self._compare)
        self._run = lru_cache(maxsize=16)(lambda name: run_page(Run(f"{self.runs}/{name}")))

    def answer(self, address: str) -> tuple[HTTPStatus, bytes]:
        """The page at an address; what went wrong is a page too."""
        try:
            parts = urlsplit(address)
        except ValueError as error:
            return HTTPStatus.BAD_REQUEST, message_page("That is no address", str(error))
        try:
            return self._answer(parts)
        except Exception as error:  # noqa: BLE001 - one page's fault is no reason to hang up
            said = f"{type(error).__name__}: {error}"
            return HTTPStatus.INTERNAL_SERVER_ERROR, message_page("That can't be shown", said)

    def _answer(self, parts: SplitResult) -> tuple[HTTPStatus, bytes]:
        path, asked = unquote(parts.path), parse_qs(parts.query).get("run", [])
        kind, _, name = path.strip("/").partition("/")
        try:
            match kind:
                case "":
                    return HTTPStatus.OK, self._folder()
                case "run" if name in self._ids():
                    return HTTPStatus.OK, self._run(name)
                case "comparison" if name in self._comparisons():
                    return HTTPStatus.OK, page_of(name, self.runs)[1]
                case "compare" if len(asked) == 2 and set(asked) <= set(self._ids()):
                    return HTTPStatus.OK, self._compared(*asked)
        except RayevalError as error:
            return HTTPStatus.CONFLICT, message_page("That can't be shown", str(error))
        return HTTPStatus.NOT_FOUND, message_page("There is nothing here", "The list is at /.")

    def _ids(self) -> list[str]:
        """The sound runs, the newest first: what is not in this list is not opened."""
        return [row["run_id"] for row in listed(self.runs) if row["problem"] is None]

    def _comparisons(self) -> list[str]:
        names = (path.split("/") for path in files.list_files(f"{self.runs}/comparisons"))
        return sorted(parts[0] for parts in names if parts[1:] == [FACTS])

    def _folder(self) -> bytes:
        rows = listed(self.runs)
        return folder_page(
            self.runs,
            [{**row, "metrics": self._metrics(row)} for row in rows],
            self._comparisons(),
        )

    def _metrics(self, row: dict[str, Any]) -> dict[str, dict[str, float]] | None:
        """Stage → metric → mean of a sound run."""
        if row["problem"] is not None:
            return None
        data = files.read_bytes(f"{self.runs}/{row['run_id']}/aggregate.parquet")
        found: dict[str, dict[str, float]] = {}
        table = pl.read_parquet(io.BytesIO(data), columns=["stage", "metric", "mean"])
        for stage, metric, mean in table.iter_rows():
            if mean is not None and not math.isnan(mean):
                found.setdefault(stage, {})[metric] = mean
        return found

    def _compare(self, first: str, second: str) -> bytes:
        """The older run is the baseline."""
        order = self._ids()
        base, new = sorted((first, second), key=order.index, reverse=True)
        before, after = Run(f"{self.runs}/{base}"), Run(f"{self.runs}/{new}")
        return comparison_page(compare_runs(before, after, Options()))


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of this machine's own browsers."""

    answer: Callable[[str], tuple[HTTPStatus, bytes]]
    server: ThreadingHTTPServer

    def do_GET(self) -> None:
        """The page."""
        self._send(body=True)

    def do_HEAD(self) -> None:
        """The page's length."""
        self._send(body=False)

    def _send(self, *, body: bool) -> None:
        status, data = HTTPStatus.FORBIDDEN, b"This server answers only to 127.0.0.1.\n"
        if self.headers.get("Host") in {f"{host}:{self.server.server_port}" for host in HOSTS}:
            status, data = self.answer(self.path)
        self.send_response(status)
        kind = "text/plain" if status is HTTPStatus.FORBIDDEN else "text/html"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Says nothing: who looks at which run is nobody's business."""
