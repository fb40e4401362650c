"""Peak memory of a whole run over 200,000 chunks with synthetic vectors.

    python tests/bench/memory.py [chunks dim]

The chunks are documents of one sentence each; the vectors are hashed n-grams (no model). The run is
`rayeval run` in a process of its own: reading, parsing, chunking, embedding, exact search, metrics,
first failures. The bar is twice the vectors' own size plus 1 GiB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

QUESTIONS = 500
WORDS = 12


def project(folder: Path, chunks: int, dim: int) -> Path:
    """Documents, questions and a configuration."""
    rng = np.random.default_rng(3)
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        for start in range(0, chunks, 10_000):
            for number, words in enumerate(rng.zipf(1.3, (10_000, WORDS)), start=start):
                text = " ".join(f"w{word % 100_000}" for word in words)
                row = {"source_id": f"d{number}", "revision_id": "1", "text": text}
                file.write(json.dumps(row) + "\n")
    with (folder / "golden.jsonl").open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            row = {"question_id": f"q{number}", "question": f"w{number} w{number * 7} w{number * 3}",
                   "evidence": [{"source_id": f"d{number * 11}"}]}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    config = {
        "golden": {"path": "golden.jsonl"},
        "corpus": {"path": "documents.jsonl"},
        "chunk": {"kind": "fixed", "size": 1000},
        "retrieve": {"arms": {"dense": {"kind": "dense", "depth": 50,
                                        "embedder": {"kind": "hashed", "dim": dim}}}},
        "metrics": {"cutoffs": [10]},
        "placement": {"batch": 4096},
    }  # fmt: skip
    (folder / "rayeval.yaml").write_text(json.dumps(config))
    return folder / "rayeval.yaml"


def main(chunks: int = 200_000, dim: int = 384) -> None:
    with tempfile.TemporaryDirectory() as name:
        config = project(Path(name), chunks, dim)
        command = [sys.executable, "-c", "from rayeval.cli.main import main; main()", "run",
                   str(config), "--runs", f"{name}/runs", "--json"]  # fmt: skip
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)["n"]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    vectors = chunks * dim * 4 / 2**30
    bar = 2 * vectors + 1
    print(f"{chunks} chunks, {found} questions: peak memory {peak:.2f} GiB, vectors {vectors:.2f}")
    print(f"ratio {bar / peak:.2f} (bar 1.0): {bar:.2f} GiB allowed / peak")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
