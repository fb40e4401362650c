"""`make bench`: every ratio in one go, written to docs/benchmarks.md; exits 1 if one is missed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from rayeval.execution.manifest import hardware, libraries

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "docs" / "benchmarks.md"
BENCHES = {
    "embed": "the embedding stage against a bare `SentenceTransformer.encode` loop (MiniLM)",
    "exact": "exact dense search against a direct `faiss.knn`, 2,000 × 200,000 × 384, depth 100",
    "bm25": "BM25, index and search, against bm25s: same terms, k1, b, same ten best",
    "trec": "a TREC run of 10,000 × 1,000 hits scored, from text and Parquet, against pytrec_eval",
    "own_trace": "rayeval's own trace, 10,000 × 1,000, against pytrec_eval from TREC files",
    "stream": "1,000,000 questions × 100 hits × 2 spans in one pass, 2 GiB against the peak memory",
    "compare": "two runs of 400,000 questions compared and gated: 1 GiB + 1 KiB each against the peak memory",
    "bootstrap": "100,000 questions, 5,000 clusters, 1,000 columns, against `scipy.stats.bootstrap`",
    "memory": "peak memory of a run over 200,000 chunks against twice the vectors plus 1 GiB",
}
WHY = {
    "exact": "What exact search does besides the same scan is to score the best 105 of every "
    "question again in float64, row by row, so that no batch or shard changes a bit (law 4 of the "
    "design): about a tenth of the time.",
    "trec": "Our side of this one also pins both files by SHA-256, checks every line and id, and "
    "writes a run with its report; the peer gives numbers.",
    "own_trace": "What takes the time is to decode ten million ids from Parquet and to check that "
    "no list has one twice.",
}
"""What a ratio under its bar pays for."""
HEAD = """# Benchmarks

Written by `make bench`: both sides of every ratio in one process or one after the other, on one
machine; only the ratios mean anything elsewhere. 1.0 is as fast as the peer; more is better. Where
rayeval keeps all cores busy and the peer one, other work on the machine counts twice: rayeval's own
trace has been seen at 18.3 to 19.5 in ten runs on a quiet machine, and at 11 to 17 on a busy one.

"""


def measured(name: str) -> tuple[float, float, list[str]]:
    """(ratio, bar, what it printed) of one bench."""
    done = subprocess.run(
        [sys.executable, str(HERE / f"{name}.py")], capture_output=True, text=True, check=True
    )
    found = re.search(r"ratio ([\d.]+) \(bar:? ([\d.]+)", done.stdout)
    return float(found[1]), float(found[2]), done.stdout.strip().splitlines()


def main() -> int:
    facts, versions = hardware(), libraries()
    lines = [f"Machine: {facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB. "]
    names = ("python", "numpy", "polars", "pyarrow", "faiss-cpu", "torch", "sentence-transformers")
    lines.append("Versions: " + ", ".join(f"{n} {versions[n]}" for n in names if n in versions))
    lines += ["", "| | ratio | bar | |", "|---|---:|---:|---|"]
    details, missed = [], 0
    for name, about in BENCHES.items():
        ratio, bar, said = measured(name)
        missed += ratio < bar
        lines.append(f"| {about} | {ratio:.2f} | {bar} | {'' if ratio >= bar else 'missed'} |")
        details += ["", f"`python tests/bench/{name}.py`", "", "```", *said, "```"]
        details += ["", WHY[name]] if ratio < bar and name in WHY else []
        print(*said, sep="\n", flush=True)
    TARGET.write_text(HEAD + "\n".join([*lines, *details]) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
