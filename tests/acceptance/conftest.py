"""An embeddings server on loopback whose vectors stand in the texts themselves."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

VECTOR = re.compile(r"<([^>]*)>")


def vector_of(text: str) -> list[float]:
    """`<0.6 0.8>` somewhere in the text; without one, a null vector of two."""
    found = VECTOR.search(text)
    return [float(part) for part in found[1].split()] if found else [0.0, 0.0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen += body["input"]
        data = [{"index": n, "embedding": vector_of(t)} for n, t in enumerate(body["input"])]
        answer = json.dumps({"data": data, "usage": {"total_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


class Server(ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[str] = []

    def arm(self, **more) -> dict:
        """A dense arm that asks this server."""
        url = f"http://127.0.0.1:{self.server_port}/v1"
        embedder = {"kind": "openai", "base_url": url, "model": "in-the-text", "normalize": False}
        return {"kind": "dense", "embedder": embedder, "depth": 20, **more}


@pytest.fixture(scope="session")
def embeddings():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def tiny_reranker(tmp_path_factory) -> str:
    """A cross-encoder with random weights in a folder: its order means nothing and never changes."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = [f"w{n}" for n in range(40)]
    folder = tmp_path_factory.mktemp("reranker")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *words, "a", "b", "c"]) + "\n")
    tokenizer = transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=1, initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
