"""Scoring rayeval's own trace against pytrec_eval from TREC files: the same rankings.

    python tests/bench/own_trace.py [questions hits]

nDCG@10, MRR and Recall@100 of 10,000 questions × 1,000 whole documents. pytrec_eval reads its run
and qrels files into dicts and evaluates them; rayeval reads the trace in Parquet and the questions
as a score's store holds them, checks every hit, and gives every question's numbers and the means.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytrec_eval

from rayeval.columns import flatten, lists
from rayeval.execution.artifacts import write_one
from rayeval.execution.threads import AT_ONCE
from rayeval.metrics.config import Metrics
from rayeval.metrics.foreign.places import Known
from rayeval.metrics.pipeline import Later, Pipeline
from rayeval.metrics.totals import Totals
from rayeval.registry.scoring import READ, Scorer, Scoring, stated
from rayeval.tables import EVIDENCE, FOREIGN, FOREIGN_HIT, QUESTIONS, TEXT, conform

DOCUMENTS, JUDGED, BLOCK, BAR = 200_000, 10, 1_000, 15.0
NAMES = ["ndcg@10", "mrr@1000", "recall@100"]
RNG = np.random.default_rng(7)


def names(kind: str, numbers: np.ndarray) -> pa.Array:
    return pa.array([f"{kind}-{number:07d}" for number in numbers.tolist()], TEXT)


def rankings(n: int, depth: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(question numbers, documents, scores) of blocks, each question's documents distinct."""
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(start + BLOCK, n))
        first = RNG.integers(0, DOCUMENTS, (len(rows), 1))
        found = (first + 7919 * np.arange(depth)) % DOCUMENTS
        yield rows, found, np.tile(np.arange(depth, 0, -1) / depth, (len(rows), 1))


def write(folder: Path, n: int, depth: int) -> pa.Table:
    """The files of both sides; returns the questions."""
    documents = names("doc", np.arange(DOCUMENTS))
    tables: list[pa.Table] = []
    gold = []
    with (folder / "run.txt").open("w") as run, (folder / "qrels.txt").open("w") as qrels:
        for rows, found, scores in rankings(n, depth):
            tables.append(trace(rows, documents.take(pa.array(found.ravel())), scores.ravel()))
            for row, listed, values in zip(rows.tolist(), found, scores, strict=True):
                q = f"q-{row:07d}"
                run.writelines(
                    f"{q} Q0 doc-{d:07d} 1 {s} x\n"
                    for d, s in zip(listed.tolist(), values.tolist(), strict=True)
                )
                hits = np.concatenate(
                    [
                        RNG.choice(listed, JUDGED // 2, replace=False),
                        RNG.integers(0, DOCUMENTS, JUDGED // 2),
                    ]
                )
                named = dict.fromkeys(f"doc-{d:07d}" for d in hits.tolist())
                qrels.writelines(f"{q} 0 {d} 1\n" for d in named)
                gold.append({"question_id": q, "evidence": [
                    {"evidence_id": d, "group_id": d, "source_id": d, "relevance": 3}
                    for d in named]})  # fmt: skip
    write_one(str(folder), "trace.parquet", tables)
    return pa.Table.from_pylist(gold)


def trace(rows: np.ndarray, documents: pa.Array, scores: np.ndarray) -> pa.Table:
    fields = {f.name: pa.nulls(len(documents), f.type) for f in FOREIGN_HIT}
    fields |= {"source_id": documents, "score": pa.array(scores)}
    hits = pa.StructArray.from_arrays(list(fields.values()), fields=list(FOREIGN_HIT))
    each = np.repeat(np.arange(len(rows)), len(documents) // len(rows))
    table = pa.table({
        "question_id": names("q", rows), "stage": pa.array(["trace"] * len(rows), TEXT),
        "hits": lists(each, hits, len(rows)),
        "latency_ms": pa.nulls(len(rows), pa.float64()), "error": pa.nulls(len(rows), TEXT),
    })  # fmt: skip
    return table.cast(FOREIGN)


def peer(folder: Path) -> dict[str, float]:
    with (folder / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with (folder / "run.txt").open() as file:
        run = pytrec_eval.parse_run(file)
    wanted = {"ndcg_cut.10": "ndcg_cut_10", "recip_rank": "recip_rank", "recall.100": "recall_100"}
    found = pytrec_eval.RelevanceEvaluator(qrels, set(wanted)).evaluate(run)
    return {name: sum(row[name] for row in found.values()) / len(found) for name in wanted.values()}


def ours(folder: Path, blocks: list[pa.Table]) -> dict[str, float]:
    pipeline = Pipeline((), (Later("trace", "unknown"),))
    metrics = Metrics(names=NAMES)
    config = Scoring((str(folder / "trace.parquet"),), ("trace",), pipeline, metrics, depth=10)
    scorer, totals = Scorer(config, Known()), Totals(config.numbers.measured)

    def numbers(block: pa.Table) -> pa.Table:
        batch, _, _, faults = scorer.read(block.select(list(READ)))
        assert not faults
        return config.numbers(batch)

    with ThreadPoolExecutor(AT_ONCE) as pool:  # as the local executor computes the step `scored`
        for block, found in zip(blocks, pool.map(numbers, blocks), strict=True):
            totals.add(found, block)
    return dict(zip(*[totals.aggregate()[name].to_pylist() for name in ("metric", "mean")],
                    strict=True))  # fmt: skip


def resolved(questions: pa.Table) -> pa.Table:
    """Questions of which `question_id` and `evidence` are given, as evaluated without documents."""
    n = questions.num_rows
    constant = {"question": "?", "answerable": True, "labels": "partial", "origin": "log",
                "validated": True}  # fmt: skip
    columns = {name: pa.array([value] * n) for name, value in constant.items()}
    for name in ("history", "required_aspects", "slices", "principals"):
        columns[name] = pa.array([[]] * n)
    columns |= {name: questions[name] for name in ("question_id", "evidence")}
    kinds = {field.name: field.type for field in EVIDENCE}
    rows, items = flatten(columns["evidence"])
    given = dict(zip(items.type.names, items.flatten(), strict=True))
    fields = [given[name].cast(kind) if name in given else pa.nulls(len(items), kind)
              for name, kind in kinds.items()]  # fmt: skip
    evidence = pa.StructArray.from_arrays(fields, fields=list(EVIDENCE))
    table = pa.table(columns | {"evidence": lists(rows, evidence, n)})
    return stated(Metrics(), None)(conform(table, QUESTIONS))  # type: ignore[arg-type]


def best(measured: Callable[[], dict[str, float]], times: int) -> tuple[float, dict[str, float]]:
    """The least seconds of some times, and what it gave."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        found = measured()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


def main(n: int = 10_000, depth: int = 1_000) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions = write(folder, n, depth)
        blocks = [resolved(questions.slice(i, BLOCK)) for i in range(0, n, BLOCK)]
        mine, numbers = best(partial(ours, folder, blocks), 5)
        elapsed, theirs = best(partial(peer, folder), 2)
    print(f"{n} questions × {depth} hits: pytrec_eval {elapsed:.2f} s, rayeval {mine:.2f} s")
    print("nDCG@10, MRR, Recall@100:", [round(v, 6) for v in theirs.values()],
          [round(v, 6) for v in numbers.values()])  # fmt: skip
    assert np.allclose(sorted(theirs.values()), sorted(numbers.values()), atol=1e-9)
    print(f"ratio {elapsed / mine:.2f} (bar: {BAR})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
