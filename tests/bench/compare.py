"""Two runs of 400,000 questions compared and gated: peak memory and time.

    python tests/bench/compare.py [questions]

Two scored runs of 10,000 questions × 2 stages × 10 hits, every default metric, are laid side by side
until there are that many (ids and clusters renamed, block by block). `rayeval compare --poisson`
and `rayeval gate` then run in processes of their own. The bar is 1 GiB, and 1 KiB for each question.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import rayeval

TILE, BLOCK, HITS, PER_SOURCE = 10_000, 2_000, 10, 100
WHOLE = ("aggregate", "slices", "passages", "abstention", "thresholds", "risk_coverage", "spread")
"""Tables that stay as they are."""
CHILD = """
import resource, sys
from rayeval.cli.main import run_command
code = run_command(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, file=sys.stderr)
sys.exit(code)
"""
GATES = """gates:
  - {metric: recall@5, stage: reranked, min: 0.1, max_drop: 0.5}
  - {metric: ndcg@10, stage: reranked, slice: "language:ko", max_drop: 0.5, scope: population}
  - {metric: latency_ms.p95, stage: end_to_end, max: 1000}
"""


def scored(folder: Path, seed: int) -> Path:
    """A run of TILE questions whose gold stands at a rank that only `seed` knows, or nowhere."""
    rng = np.random.default_rng(seed)
    golden, trace = [], []
    for number, places in enumerate(rng.integers(0, HITS + 4, (TILE, 2)).tolist()):
        source, name = f"doc-{number // PER_SOURCE}", f"q{number:05d}"
        golden.append({"question_id": name, "question": f"question {number}", "evidence": [
            {"source_id": source, "start_char": 0, "end_char": 100}],
            "language": ("en", "ko")[number % 2], "split": "dev"})  # fmt: skip
        stages = {stage: {"hits": hits(source, place, number)}
                  for stage, place in zip(("fused", "reranked"), places, strict=True)}  # fmt: skip
        trace.append({"question_id": name, "stages": stages})
    for name, rows in (("golden", golden), (f"trace{seed}", trace)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    found = rayeval.score(folder / "golden.jsonl", folder / f"trace{seed}.jsonl",
                          runs=folder / "small")  # fmt: skip
    return Path(found.path)


def hits(source: str, place: int, number: int) -> list[dict[str, object]]:
    """Parts of documents; the question's gold is the one at `place`."""
    found: list[dict[str, object]] = []
    for rank in range(HITS):
        begin = 0 if rank == place else 120 * (rank + 1)
        name = source if rank == place else f"doc-{(number + 7 * rank + 1) % 100}"
        found.append({"source_id": name, "spans": [{"start_char": begin, "end_char": begin + 120}]})
    return found


def tiled(small: Path, runs: Path, times: int) -> str:
    """The same run `times` times over; its name."""
    name = small.name
    (runs / name).mkdir(parents=True)
    manifest = json.loads((small / "manifest.json").read_text())
    for table in manifest["files"]:
        whole = table.removesuffix(".parquet") in WHOLE or not table.endswith(".parquet")
        if whole:
            (runs / name / table).write_bytes((small / table).read_bytes())
        else:
            repeat(pq.read_table(small / table), runs / name / table, times)
    (runs / name / "manifest.json").write_text(json.dumps(manifest))
    return name


def repeat(table: pa.Table, path: Path, times: int) -> None:
    """A row group for every BLOCK questions, as a run writes them."""
    rows = max(1, table.num_rows * BLOCK // TILE)
    with pq.ParquetWriter(
        path, table.schema, compression="lz4", use_compliant_nested_type=False
    ) as writer:
        for number in range(times):
            writer.write_table(renamed(table, f"{number:03d}-"), row_group_size=rows)


def renamed(table: pa.Table, prefix: str) -> pa.Table:
    """With other ids of questions and clusters."""
    for column in {"question_id", "cluster"} & set(table.column_names):
        field = table.schema.field(column)
        parts = pa.scalar(prefix, field.type), table[column], pa.scalar("", field.type)
        text = pc.binary_join_element_wise(*parts)
        table = table.set_column(table.column_names.index(column), field, text)
    return table


def measured(*arguments: str) -> tuple[float, float, str]:
    """(seconds, peak GiB, what it printed) of a command."""
    start = time.perf_counter()
    command = [sys.executable, "-c", CHILD, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        sys.exit(done.stderr)
    return time.perf_counter() - start, float(done.stderr.split()[-1]), done.stdout


def main(questions: int = 400_000) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        base, new = (
            tiled(scored(folder, seed), folder / "runs", questions // TILE) for seed in (1, 2)
        )
        (folder / "gates.yaml").write_text(GATES)
        where = ("--baseline", base, "--runs", str(folder / "runs"), "--json")
        compared = measured("compare", new, "--poisson", *where)
        gated = measured("gate", new, "--gates", str(folder / "gates.yaml"), *where)
        page = Path(json.loads(compared[2])["path"], "report.html").stat().st_size / 2**20
    for name, (seconds, peak, _) in (("compare --poisson", compared), ("gate", gated)):
        print(f"{name}: {questions} questions, {seconds:.0f} s, peak {peak:.2f} GiB")
    print(f"the comparison's page: {page:.1f} MiB")
    peak = max(compared[1], gated[1])
    allowed = 1 + questions / 2**20
    print(f"ratio {allowed / peak:.2f} (bar: 1.0): {allowed:.2f} GiB allowed / peak {peak:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
