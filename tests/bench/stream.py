"""One streaming pass over a large trace: labelling by span and every default metric.

    python tests/bench/stream.py [questions hits]

1,000,000 questions × 100 hits with spans × 2 pieces of evidence: written and scored block by block,
as a score's steps do it; rows/s and the peak memory of the scoring process are printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.columns import lists
from rayeval.tables import FOREIGN, FOREIGN_HIT, SPANS, TEXT

DOCUMENTS, BLOCK, BAR_GIB = 100_000, 1_024, 2.0
RNG = np.random.default_rng(11)
SCORE = """
import json, resource, sys, time
import pyarrow as pa
from own_trace import resolved
from rayeval.columns import flatten
from rayeval.metrics import Later, Metrics, Pipeline, Totals
from rayeval.metrics.foreign.places import Known
from rayeval.registry.scoring import READ, Scorer, Scoring
import pyarrow.parquet as pq

trace, golden = sys.argv[1:]
config = Scoring((trace,), ("trace",), Pipeline((), (Later("trace", "unknown"),)), Metrics(),
                 depth=20)
scorer, totals = Scorer(config, Known()), Totals(config.numbers.measured)
start, rows = time.perf_counter(), 0
file = pq.ParquetFile(golden)
for number in range(file.num_row_groups):
    block = resolved(file.read_row_group(number))
    scored = scorer(block.select(list(READ)))
    at, items = flatten(scored["per_query"])
    fields = dict(zip(items.type.names, items.flatten(), strict=True))
    ids = scored["question_id"].combine_chunks().take(pa.array(at))
    totals.add(pa.table({"question_id": ids, **fields}), block)
    rows += len(at)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"questions": rows, "seconds": time.perf_counter() - start, "peak": peak,
                  "metrics": totals.aggregate().num_rows}))
"""


def block(start: int, n: int, depth: int) -> tuple[pa.Table, pa.Table]:
    """A trace and the questions: every tenth question's first evidence is among its hits."""
    ids = pa.array([f"q-{number:08d}" for number in range(start, start + n)], TEXT)
    documents = RNG.integers(0, DOCUMENTS, (n, depth))
    begins = RNG.integers(0, 50, (n, depth)) * 200
    gold = RNG.integers(0, DOCUMENTS, (n, 2))
    gold[:, 0] = documents[:, 7]
    at = np.stack([begins[:, 7] + 20, RNG.integers(0, 10_000, n)], axis=1)
    empty = {f.name: pa.nulls(n * depth, f.type) for f in FOREIGN_HIT}
    hits = empty | {"source_id": named(documents), "spans": spans(begins, 250)}
    evidence = {
        "source_id": named(gold), "spans": spans(at, 100), "relevance": pa.array([3] * 2 * n),
        "evidence_id": pa.array(["a", "b"] * n, TEXT), "group_id": pa.array(["a", "b"] * n, TEXT),
    }  # fmt: skip
    trace = {"question_id": ids, "stage": pa.array(["trace"] * n, TEXT),
             "hits": nested(hits, n), "latency_ms": pa.nulls(n, pa.float64()),
             "error": pa.nulls(n, TEXT)}  # fmt: skip
    return pa.table(trace).cast(FOREIGN), pa.table(
        {"question_id": ids, "evidence": nested(evidence, n)}
    )


def named(numbers: np.ndarray) -> pa.Array:
    names = pa.array([f"doc-{number:06d}" for number in range(DOCUMENTS)], TEXT)
    return names.take(pa.array(numbers.ravel()))


def spans(begins: np.ndarray, length: int) -> pa.Array:
    start = begins.ravel()
    span = pa.StructArray.from_arrays([pa.array(start), pa.array(start + length)],
                                      ["start_char", "end_char"])  # fmt: skip
    return lists(np.arange(len(start)), span, len(start)).cast(SPANS)


def nested(fields: dict[str, pa.Array], n: int) -> pa.Array:
    items = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    return lists(np.repeat(np.arange(n), len(items) // n), items, n)


def main(n: int = 1_000_000, depth: int = 100) -> None:
    with tempfile.TemporaryDirectory() as name:
        trace, golden = Path(name, "trace.parquet"), Path(name, "golden.parquet")
        writers: list[pq.ParquetWriter] = []
        for start in range(0, n, BLOCK):
            tables = block(start, min(BLOCK, n - start), depth)
            writers = writers or [pq.ParquetWriter(path, table.schema, compression="lz4")
                                  for path, table in zip((trace, golden), tables, strict=True)]  # fmt: skip
            for writer, table in zip(writers, tables, strict=True):
                writer.write_table(table)
        for writer in writers:
            writer.close()
        done = subprocess.run([sys.executable, "-c", SCORE, str(trace), str(golden)], check=True,
                              capture_output=True, text=True, cwd=Path(__file__).parent)  # fmt: skip
    found = json.loads(done.stdout)
    rate = found["questions"] * depth / found["seconds"]
    print(f"{found['questions']} questions × {depth} hits × 2 spans, {found['metrics']} metrics: "
          f"{found['seconds']:.0f} s, {rate:,.0f} hits/s")  # fmt: skip
    print(
        f"ratio {BAR_GIB / found['peak']:.2f} (bar: 1.0): {BAR_GIB} GiB / peak {found['peak']:.2f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
