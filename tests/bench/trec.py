"""A TREC run scored against pytrec_eval: python tests/bench/trec.py [queries depth].

nDCG@10, MRR and Recall@100 of 10,000 queries × 1,000 hits, from TREC files and from Parquet with
the same rows. Each side starts a process of its own and reads what it needs; ours also writes its
run. pytrec_eval builds its dicts from the lines of the file, or from pyarrow's columns. Prints both
times, their ratios, the peak memory of ours, and the smaller ratio last.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

JUDGED = 20
MEASURES = {"nDCG@10": "ndcg_cut_10", "MRR": "recip_rank", "Recall@100": "recall_100"}


def collection(folder: Path, queries: int, depth: int) -> None:
    """A run as text and Parquet, and judgements of which it has half."""
    rng = np.random.default_rng(1)
    documents = [rng.choice(1_000_000, depth, replace=False) for _ in range(queries)]
    run = pl.DataFrame(
        {
            "query": np.repeat(np.arange(queries), depth),
            "document": np.concatenate(documents),
            "rank": np.tile(np.arange(1, depth + 1), queries),
            "score": np.sort(rng.random((queries, depth)).round(6), axis=1)[:, ::-1].ravel(),
        }
    ).select(
        pl.format("q{}", "query").alias("query_id"), pl.lit("Q0").alias("iteration"),
        pl.format("doc-{}", "document").alias("doc_id"), "rank", "score", pl.lit("bench").alias("tag"),
    )  # fmt: skip
    run.write_csv(folder / "run.txt", separator=" ", include_header=False)
    run.select("query_id", "doc_id", "score").write_parquet(folder / "run.parquet")
    with (folder / "qrels.txt").open("w") as file:
        for query, found in enumerate(documents):
            for document, grade in zip(
                found[:: depth // JUDGED * 2], rng.integers(0, 4, JUDGED), strict=False
            ):
                file.write(
                    f"q{query} 0 doc-{document} {grade}\nq{query} 0 none-{document} {grade}\n"
                )


def ours(folder: Path, run: str) -> dict[str, float]:
    import rayeval

    names, where = list(MEASURES), str(folder / "runs")
    found = rayeval.score(folder / "qrels.txt", folder / run, convention="trec", metrics=names, runs=where)  # fmt: skip
    return dict(found.aggregate.select("metric", "mean").iter_rows())


def theirs(folder: Path, run: str) -> dict[str, float]:
    import pytrec_eval

    with (folder / "qrels.txt").open() as file:
        judgements = pytrec_eval.parse_qrel(file)
    hits = from_parquet(folder / run) if run.endswith(".parquet") else None
    if hits is None:
        with (folder / run).open() as file:
            hits = pytrec_eval.parse_run(file)
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgements, {"ndcg_cut.10", "recip_rank", "recall.100"}
    )
    values = evaluator.evaluate(hits).values()
    return {
        name: sum(v[theirs] for v in values) / len(judgements) for name, theirs in MEASURES.items()
    }


def from_parquet(path: Path) -> dict[str, dict[str, float]]:
    """The fastest way that we know: whole columns as lists, cut where the query changes."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    query = table["query_id"].combine_chunks().dictionary_encode()
    codes, names = query.indices.to_numpy(), query.dictionary.to_pylist()
    starts = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
    document, score = table["doc_id"].to_pylist(), table["score"].to_numpy().tolist()
    return {
        names[codes[start]]: dict(zip(document[start:end], score[start:end], strict=True))
        for start, end in pairwise([*starts, len(codes)])
    }


def timed(side: str, folder: Path, run: str) -> tuple[float, float, dict[str, float]]:
    """(seconds, peak GiB, means) of one side in a process of its own, its imports not counted."""
    done = subprocess.run(
        [sys.executable, __file__, side, str(folder), run],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["peak_gib"], found["means"]


def work(side: str, folder: str, run: str) -> None:
    import pytrec_eval  # noqa: F401 - imports of both sides come before the clock

    from rayeval.execution.score import trec  # noqa: F401
    from rayeval.report import write  # noqa: F401

    start = time.perf_counter()
    means = {"ours": ours, "theirs": theirs}[side](Path(folder), run)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "peak_gib": peak, "means": means}))


def main(queries: int = 10_000, depth: int = 1_000) -> None:
    ratios, peaks = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collection(folder, queries, depth)
        for run in ("run.txt", "run.parquet"):
            mine = [timed("ours", folder, run) for _ in range(2)]
            peer, _, want = timed("theirs", folder, run)
            mine.append(timed("ours", folder, run))
            for _, peak, means in mine:
                np.testing.assert_allclose([means[m] for m in want], list(want.values()), atol=1e-6)
                peaks.append(peak)
            best = min(seconds for seconds, _, _ in mine)
            ratios.append(peer / best)
            print(f"{run}: pytrec_eval {peer:.2f} s, rayeval {best:.2f} s: {ratios[-1]:.1f} times")
    print(f"peak memory {max(peaks):.2f} GiB (bar: 2)")
    print(f"ratio {min(ratios):.2f} (bar: 5), the smaller of both")


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["theirs"]):
        work(*sys.argv[1:])
    else:
        main(*map(int, sys.argv[1:]))
