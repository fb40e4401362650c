"""Runs made of tables alone, as large as a test wants them, and a real one of hostile texts."""

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa

import rayeval
from rayeval.execution.artifacts import PASSAGE, TRACE
from rayeval.execution.decide.comparison import Comparison, Options, compare_runs, write_comparison
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.tables import RESOLVED, conform

HOSTILE = "</script><script>alert(1)</script><!-- \u2028 <img src=x onerror=alert(2)> & \" ' ${7*7}"
STAGES = ("bm25", "reranked", "context")
WALK = ("ingest", *STAGES)


@dataclass
class Tables:
    """What reports read, in memory."""

    manifest: dict
    questions: pl.DataFrame
    trace: pl.DataFrame
    passages: pl.DataFrame
    failures: pl.DataFrame
    aggregate: pl.DataFrame
    slices: pl.DataFrame
    latency: pl.DataFrame
    per_query: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(
            schema=dict.fromkeys(("question_id", "stage", "status"), pl.String)
        )
    )
    answers: pl.DataFrame = field(default_factory=pl.DataFrame)
    judgements: pl.DataFrame = field(default_factory=pl.DataFrame)
    judged_again: pl.DataFrame = field(default_factory=pl.DataFrame)
    per_answer: pl.DataFrame = field(default_factory=pl.DataFrame)
    abstention: pl.DataFrame = field(default_factory=pl.DataFrame)
    spread: pl.DataFrame = field(default_factory=pl.DataFrame)
    path: str = "nowhere"

    @property
    def run_id(self) -> str:
        return self.manifest["run_id"]

    def rows(self, table, column, values, columns=None):
        found = getattr(self, table).filter(pl.col(column).is_in(list(values)))
        return found if columns is None else found.select(columns)

    def columns(self, table):
        return getattr(self, table).columns

    def select(self, table, columns, stage=None):
        rows = getattr(self, table)
        return (rows if stage is None else rows.filter(pl.col("stage") == stage)).select(columns)

    def parts(self, table, columns, size=7):
        rows = self.select(table, columns)
        return [rows.head(0), *(rows.slice(at, size) for at in range(0, rows.height, size))]


def frame(rows: list[dict], schema: pa.Schema) -> pl.DataFrame:
    return pl.DataFrame(conform(pa.Table.from_pylist(rows, schema=schema), schema))


def evidence(number: int) -> dict:
    return {"evidence_id": "e1", "group_id": "g1", "source_id": f"doc-{number % 50}", "revision_id": "r",
            "spans": [{"start_char": 10, "end_char": 30}], "quote": "gold", "relevance": 3, "found": "located",
            "gold": True, "visible": True, "whole": False, "needs": [], "aspects": []}  # fmt: skip


def question(number: int) -> dict:
    return {"question_id": f"q-{number:05d}", "question": f"장비 신청 {number} how long", "language": ("ko", "en")[number % 2],
            "answerable": True, "evidence": [evidence(number)], "slices": [("table", "code")[number % 2], "split:dev"],
            "origin": "log", "validated": True, "labels": "partial", "split": "dev", "cluster": f"doc-{number % 50}",
            "history": [], "required_aspects": [], "principals": []}  # fmt: skip


def failure(number: int) -> dict:
    """Every third question is lost at the reranker, every seventh at the context."""
    lost = "reranked" if number % 3 == 0 else "context" if number % 7 == 0 else None
    codes = {"reranked": "RERANK_DEMOTED_GOLD", "context": "CONTEXT_BUDGET_DROPPED_GOLD"}
    reached = WALK if lost is None else WALK[: WALK.index(lost)]
    return {"question_id": f"q-{number:05d}", "status": "failed" if lost else "success", "code": codes.get(lost),
            "stage": lost, "group_id": "g1" if lost else None, "contributing": [],
            "observed_stages": list(WALK), "reached_stages": list(reached)}  # fmt: skip


def hits(number: int) -> list[dict]:
    gold = f"chunk-{number % 50}"
    others = [f"chunk-{(number + step) % 50}" for step in (7, 11)]
    trace = []
    for stage in STAGES:
        kept = stage in failure(number)["reached_stages"]
        found = [*others, *([gold] if kept else [])]
        rows = [{"chunk_id": name, "score": 3.0 - rank} for rank, name in enumerate(found)]
        trace.append({"question_id": f"q-{number:05d}", "stage": stage, "hits": rows})
    return trace


def tables(n: int, run_id: str = "made-up") -> Tables:
    """A run of `n` questions."""
    passages = [{"chunk_id": f"chunk-{i}", "source_id": f"doc-{i}", "revision_id": "r", "text": "0123456789 장비 신청은 5일이 걸린다. The rest.",
                 "spans": [{"start_char": 0, "end_char": 36}], "tokens": 9, "element_ids": [], "pages": []} for i in range(50)]  # fmt: skip
    means = [{"stage": stage, "metric": "recall@5", "mean": 0.5, "n": n, "n_undefined": 0, "n_missing": 0, "n_error": 0} for stage in STAGES]  # fmt: skip
    kept = pa.schema([item for item in RESOLVED if item.name not in ("file", "line")])
    times = [{"question_id": "q-00000", "stage": stage, "latency_ms": 2.5, "mode": "serial", "reranked_pairs": 20} for stage in STAGES]  # fmt: skip
    return Tables(
        manifest={"run_id": run_id, "name": "made", "stages": list(STAGES), "warnings": [], "models": {"bm25": "words"},
                  "corpus": {"documents": 50, "chunks": 50}, "golden": {"sha256": "ab" * 32}, "config": {"metrics": {"full": 0.8, "partial": 0.2}}},
        questions=frame([question(i) for i in range(n)], kept),
        trace=frame([row for i in range(n) for row in hits(i)], TRACE),
        passages=frame(passages, PASSAGE),
        failures=frame([failure(i) for i in range(n)], FAILURES),
        aggregate=pl.DataFrame(means),
        slices=pl.DataFrame([{**row, "n": n // 2, "slice": name} for row in means for name in ("code", "table")]),
        latency=pl.DataFrame(times),
    )  # fmt: skip


def hostile_pair(folder: Path) -> tuple[Comparison, Path]:
    """Two real runs over texts that try to break out of the page, compared; and their folder."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "<b>a.txt").write_text(
        f"The desk is open at nine. {HOSTILE}\n장비 신청은 닷새가 걸린다.\n" + "Filler. " * 60,
        "utf-8",
    )
    (folder / "docs" / "b.txt").write_text(f"zebra zebra {HOSTILE} The desk 장비 신청", "utf-8")
    gold = [{"source_id": "<b>a.txt", "quote": "The desk is open at nine."}]
    korean = [{"source_id": "<b>a.txt", "quote": "장비 신청은 닷새가 걸린다."}]
    rows = [
        {"question_id": f"1 {HOSTILE}", "question": f"zebra {HOSTILE}", "evidence": gold, "slices": [HOSTILE], "reference_answer": HOSTILE},
        {"question_id": "2 ko", "question": "장비 신청은 며칠 걸리나요", "evidence": korean, "language": "ko", "slices": ["korean"]},
        {"question_id": "3 none", "question": "Who?", "answerable": False},
        {"question_id": "4 lost", "question": "zebra", "evidence": gold, "language": "en"},
    ]  # fmt: skip
    import json

    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    runs = [rayeval.evaluate(config(folder, depth), runs=folder / "runs") for depth in (1, 3)]
    found = compare_runs(*runs, Options(replicates=200))
    return write_comparison(found, str(folder / "runs")), folder / "runs"


def config(folder: Path, depth: int) -> dict:
    return {
        "name": "hostile",
        "golden": {"path": str(folder / "golden.jsonl")},
        "corpus": {"path": str(folder / "docs")},
        "chunk": {"kind": "fixed", "size": 120},
        "retrieve": {
            "arms": {
                "bm25": {"kind": "bm25", "analyzer": {"kind": "char_ngram", "n": 2}, "depth": depth}
            }
        },
        "metrics": {"cutoffs": [1, 5]},
    }
