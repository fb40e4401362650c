"""Peak memory and time of reading a large export of spans.

    python tests/bench/spans.py [megabytes]

Traces of five spans (a chain, two retrievers, a reranker, a model), eight documents to a retriever,
as OTLP writes them, JSON Lines; spans of a hundred traces lie mixed, the last of them first. Each
command is a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOGETHER = 100
"""Traces whose spans are mixed."""
BATCH = 10
"""Spans of a line."""
RUN = """
import resource, sys
from rayeval.cli.main import app

app(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
WORDS = [
    "연차는",
    "며칠인가요",
    "leave",
    "the",
    "처리에는",
    "days",
    "parking",
    "of",
    "영업일",
    "costs",
]


def text(rng: random.Random, words: int) -> str:
    return " ".join(f"{word}{rng.randrange(100)}" for word in rng.choices(WORDS, k=words))


def attributes(**values: str) -> list[Any]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def found(kind: str, field: str, documents: list[str]) -> dict[str, str]:
    told = {f"{field}.{n}.document.content": said for n, said in enumerate(documents)}
    told |= {f"{field}.{n}.document.id": f"c{n}" for n in range(len(documents))}
    return {**told, "openinference.span.kind": kind}


def trace(number: int, rng: random.Random) -> list[dict[str, Any]]:
    question = f"{text(rng, 8)} {number}?"
    first, second = ([text(rng, 60) for _ in range(8)] for _ in range(2))
    listed = json.dumps({"documents": [{"page_content": one} for one in first]})
    prompt = "\n".join([*second[:5], question])
    asked = {"input.value": question}
    kinds = [
        ("chain", {**asked, "output.value": text(rng, 20), "openinference.span.kind": "CHAIN"}),
        ("words", {**asked, "output.value": listed, "output.mime_type": "application/json",
                   **found("RETRIEVER", "retrieval.documents", first)}),
        ("vectors", {**asked, **found("RETRIEVER", "retrieval.documents", second)}),
        ("rerank", {"reranker.query": question,
                    **found("RERANKER", "reranker.output_documents", second[:5])}),
        ("model", {"llm.input_messages.0.message.role": "user",
                   "llm.input_messages.0.message.content": prompt,
                   "openinference.span.kind": "LLM"}),
    ]  # fmt: skip
    start = 10**18 + number * 10**9
    return [
        {"traceId": f"{number:032x}", "spanId": f"{number:012x}{at:04x}", "name": name,
         "parentSpanId": f"{number:012x}0000" if at else None,
         "startTimeUnixNano": str(start + at * 10**6),
         "endTimeUnixNano": str(start + (at + 1 if at else 90) * 10**6),
         "attributes": attributes(**told)}
        for at, (name, told) in enumerate(kinds)
    ]  # fmt: skip


def lines(size: int) -> Iterator[str]:
    """Lines of an export of `size` bytes."""
    rng, number, written = random.Random(5), 0, 0
    while written < size:
        spans = [span for n in range(TOGETHER) for span in trace(number + n, rng)]
        number += TOGETHER
        rng.shuffle(spans)
        for at in range(0, len(spans), BATCH):
            scope = {"scopeSpans": [{"spans": spans[at : at + BATCH]}]}
            line = json.dumps({"resourceSpans": [scope]}, ensure_ascii=False) + "\n"
            written += len(line.encode())
            yield line


def measured(*command: str) -> tuple[float, float]:
    """Seconds and peak GB of a command of rayeval."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", RUN, *command], check=True, capture_output=True,
                          text=True)  # fmt: skip
    return time.perf_counter() - start, int(done.stdout.split()[-1]) * 1024 / 1e9


def main(megabytes: int = 300) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "spans.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lines(megabytes * 10**6))
        seconds, peak = measured("golden", "import", "openinference", str(path), "--out",
                                 str(folder / "mine"))  # fmt: skip
        ours = folder / "mine" / "trace.jsonl"
        digest = hashlib.sha256(ours.read_bytes()).hexdigest()
        print(f"{path.stat().st_size / 1e6:.0f} MB of spans, {os.cpu_count()} cores")
        print(f"golden import: {seconds:.0f} s, peak {peak:.2f} GB; trace.jsonl {digest[:16]}")
        first = ours.open().readline()
        golden = {
            "question_id": json.loads(first)["question_id"],
            "question": "?",
            "labels": "none",
        }
        (folder / "golden.jsonl").write_text(json.dumps(golden) + "\n")
        seconds, peak = measured("score", "--format", "openinference", "--golden",
                                 str(folder / "golden.jsonl"), "--trace", str(path), "--runs",
                                 str(folder / "runs"))  # fmt: skip
        print(f"score: {seconds:.0f} s, peak {peak:.2f} GB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
