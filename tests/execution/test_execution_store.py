"""What is computed again when one thing changes, and that nothing half-written is ever read."""

import json
import shutil
from pathlib import Path

import pytest

import rayeval
from rayeval import files
from rayeval.errors import InfrastructureError
from rayeval.execution.evaluate import preview
from rayeval.execution.job import Options
from rayeval.execution.load import load_config


def states(project, runs: Path, *sets: str) -> dict[str, str]:
    rows, _ = preview(load_config(str(project / "rayeval.yaml"), sets), Options(runs=str(runs)))
    return {row["step"]: row["state"] for row in rows}


@pytest.fixture(scope="module")
def runs(project, tmp_path_factory) -> Path:
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.progress import Silent

    folder = tmp_path_factory.mktemp("runs")
    run_config(load_config(str(project / "rayeval.yaml")), Options(runs=str(folder)), Silent())
    return folder


@pytest.mark.parametrize(
    ("change", "kept", "computed"),
    [
        pytest.param([], {"chunks", "bm25", "fused", "failures"}, set(), id="nothing changed"),
        pytest.param(["context.depth=2"], {"fused", "passages", "bm25"},
                     {"context", "per_query", "failures"}, id="the context"),
        pytest.param(["fuse.k=10"], {"bm25", "dense_ann", "passages"},
                     {"fused", "context"}, id="the fusion"),
        pytest.param(["retrieve.arms.bm25.k1=1.5"], {"terms:bm25", "dense_ann", "gold_chunks"},
                     {"bm25", "fused"}, id="one arm"),
        pytest.param(["chunk.size=50"], {"documents", "elements", "resolved"},
                     {"chunks", "terms:bm25", "vectors:dense"}, id="the chunks"),
        pytest.param(["placement.workers=4", "placement.shards=9", "seed=1"], {"bm25", "failures"},
                     set(), id="placement"),
        pytest.param(["metrics.cutoffs=[3]"], {"failures", "context"}, {"per_query"}, id="cutoffs"),
    ],
)  # fmt: skip
def test_only_what_follows_a_change_is_computed_again(project, runs, change, kept, computed):
    found = states(project, runs, *change)
    assert {name for name in kept | computed if found[name] == "stored"} == kept
    if not computed:
        assert set(found.values()) == {"stored"}


def test_a_text_is_embedded_once_per_model(project, runs, monkeypatch):
    """With other chunks, only texts that no earlier chunk had reach the embedder."""
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.progress import Silent
    from rayeval.retrieve.dense.hashed import HashedEmbedder

    seen: list[str] = []
    embed = HashedEmbedder.embed

    def counted(self, texts):
        seen.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(HashedEmbedder, "embed", counted)
    loaded = load_config(str(project / "rayeval.yaml"), ["chunk.overlap=0"])
    run_config(loaded, Options(runs=str(runs)), Silent())
    assert seen
    assert len(set(seen)) == len(seen)
    known = load_config(str(project / "rayeval.yaml"))
    seen.clear()
    run_config(known, Options(runs=str(runs)), Silent())
    assert seen == []


def test_a_file_that_no_record_lists_is_never_read(project, tmp_path):
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.progress import Silent

    options = Options(runs=str(tmp_path))
    loaded = load_config(str(project / "rayeval.yaml"))
    first = run_config(loaded, options, Silent())
    for folder in Path(tmp_path, ".store").glob("*/*"):
        if folder.parent.name != "reuse":
            (folder / "000000-ffffffffffff.parquet").write_bytes(b"half a file")
    second = run_config(loaded, options, Silent())
    assert second.per_query.equals(first.per_query)


def test_a_damaged_store_is_named(project, tmp_path):
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.progress import Silent

    options = Options(runs=str(tmp_path))
    loaded = load_config(str(project / "rayeval.yaml"))
    run_config(loaded, options, Silent())
    for path in Path(tmp_path, ".store").glob("*/*/*.parquet"):
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InfrastructureError, match="The store is damaged there"):
        run_config(loaded, options, Silent())


def test_manifest_says_what_the_run_was_made_of(project, runs):
    path = next(p for p in runs.iterdir() if p.name != ".store")
    value = json.loads(files.read_bytes(f"{path}/manifest.json"))
    assert value["golden"]["sha256"]
    assert value["corpus"]["documents"] == 19
    assert value["models"]["bm25"].startswith("BM25 over char_ngram(2) (unicode")
    assert value["steps"]["terms:bm25"]["identity"]["version"]
    assert value["libraries"]["polars"]
    assert value["seed"] == 42
    assert set(value["files"]) >= {"trace.parquet", "latency.parquet", "report.html", "plan.json"}


def test_a_store_that_is_deleted_while_the_process_lives_is_filled_again(tmp_path):
    golden = tmp_path / "g.jsonl"
    golden.write_text('{"question_id": "q", "question": "?", "evidence": [{"source_id": "d"}]}\n')
    trace = [{"question_id": "q", "stages": {"s": {"hits": [{"source_id": "d"}]}}}]
    first = rayeval.score(golden, trace, runs=tmp_path / "runs").per_query
    shutil.rmtree(tmp_path / "runs")
    again = rayeval.score(golden, trace, runs=tmp_path / "runs")
    assert again.per_query.equals(first)
