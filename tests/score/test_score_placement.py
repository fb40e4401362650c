"""A score is the same bytes whoever computes it (laws 1 and 3)."""

import json
import random
from pathlib import Path

import pytest
from score_files import write_lines

import rayeval
from rayeval.cli.main import run_command
from rayeval.errors import ConfigError
from rayeval.execution.runs import Run

pytestmark = pytest.mark.slow  # whole runs in processes

TABLES = ("questions", "trace", "passages", "per_query", "failures", "aggregate", "slices")
WORDS = ["달", "태양", "moon", "sun", "river", "tide", "harbour", "항구"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """Documents, chunks, and questions with every kind of evidence and of hit."""
    folder, rng = tmp_path_factory.mktemp("files"), random.Random(5)
    documents = {f"d{n}": " ".join(rng.choices(WORDS, k=30)) for n in range(12)}
    chunks = [
        {"chunk_id": f"{name}-{at}", "source_id": name, "start_char": at, "end_char": at + 20}
        for name, text in documents.items()
        for at in range(0, len(text) - 20, 20)
    ]
    golden, trace = [], []
    for number in range(200):
        name = rng.choice(list(documents))
        start = rng.randrange(50)
        evidence = {"source_id": name, "start_char": start, "end_char": start + 12}
        if number % 3 == 0:
            evidence = {"source_id": name}
        golden.append({"question_id": f"q{number:03d}", "question": "?", "evidence": [evidence]})
        stages = {
            "bm25": {"hits": [{"chunk_id": c["chunk_id"]} for c in rng.sample(chunks, 9)],
                     "latency_ms": number},
            "spans": {"hits": [{"source_id": c["source_id"], "spans": [
                {"start_char": c["start_char"], "end_char": c["end_char"]}]}
                for c in rng.sample(chunks, 9)]},
            "texts": {"hits": [{"source_id": d, "text": documents[d][at : at + 25]}
                               for d, at in ((f"d{n}", 9 * n) for n in range(6))]},
        }  # fmt: skip
        trace.append({"question_id": f"q{number:03d}", "stages": stages})
    rng.shuffle(trace)
    corpus = folder / "docs"
    corpus.mkdir()
    lines = [{"source_id": name, "text": text} for name, text in documents.items()]
    write_lines(corpus / "all.jsonl", lines)
    return {
        "golden": write_lines(folder / "golden.jsonl", golden),
        "trace": write_lines(folder / "trace.jsonl", trace),
        "chunks": write_lines(folder / "chunks.jsonl", chunks),
        "corpus": corpus,
    }


def contents(run: Run) -> dict[str, bytes]:
    return {name: Path(run.path, f"{name}.parquet").read_bytes() for name in TABLES}


@pytest.fixture(scope="module")
def alone(files, tmp_path_factory) -> dict[str, bytes]:
    """The tables that one thread makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rayeval.execution.local.AT_ONCE", 1)
        return contents(rayeval.score(**files, runs=tmp_path_factory.mktemp("alone")))


@pytest.mark.parametrize("options", [{}, {"workers": 2}], ids=["threads", "processes"])
def test_whoever_computes_it(files, tmp_path, alone, options, monkeypatch):
    monkeypatch.setattr("rayeval.execution.local.AT_ONCE", 3)
    assert contents(rayeval.score(**files, runs=tmp_path, **options)) == alone


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning")
def test_on_ray(files, tmp_path, alone, capsys):
    """As a command, by two workers."""
    given = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    where = ["--ray", "--workers", "2", "--runs", str(tmp_path), "--json"]
    assert run_command(["score", *given, *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert contents(rayeval.load(found["path"])) == alone


@pytest.mark.parametrize("size", [1, 50, 200])
def test_chunks_are_read_in_parts(files, tmp_path, alone, monkeypatch, size):
    """Of whole lines, the last of which need not end; blank ones are none."""
    monkeypatch.setattr("rayeval.interop.own.chunk_lines.BLOCK", size)
    path = tmp_path / "chunks.jsonl"
    path.write_text(files["chunks"].read_text().rstrip("\n").replace("\n", "\n\n", 2) + "\n \n")
    found = contents(rayeval.score(**{**files, "chunks": path}, runs=tmp_path))
    assert found == alone


def test_trec_runs_are_scored_in_this_process(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q 0 d 1\n")
    run.write_text("q Q0 d 1 1.0 x\n")
    with pytest.raises(ConfigError, match="leave out --ray"):
        rayeval.score(str(qrels), str(run), convention="trec", ray_address="local")
