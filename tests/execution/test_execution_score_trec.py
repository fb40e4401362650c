"""A TREC run scored in trec_eval's convention is a run like any other."""

import json

import polars as pl
import pytest

import rayeval
from rayeval.cli.main import run_command
from rayeval.errors import ConfigError, DataError
from rayeval.interop.trec import read_run

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 c 1\nq3 0 d 0\n"
RUN = "q1 Q0 b 1 9 t\nq1 Q0 x 2 8 t\nq1 Q0 a 3 7 t\nq3 Q0 d 1 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def files(tmp_path):
    """Judgements and a run."""
    for name, content in (("qrels.txt", QRELS), ("run.txt", RUN)):
        (tmp_path / name).write_text(content)
    return tmp_path


def scored(folder, golden="qrels.txt", trace="run.txt", **options):
    places = {"runs": str(folder / "runs"), "convention": "trec"}
    return rayeval.score(folder / golden, folder / trace, **places, **options)


def test_the_run(files):
    run = scored(files, metrics=["MAP", "P@2", "num_rel"])
    want = [("q1", "trace", "ok", (1 + 2 / 3) / 2, 0.5, 2.0), ("q2", "trace", "missing", 0.0, 0.0, 1.0),
            ("q3", "trace", "ok", 0.0, 0.0, 0.0)]  # fmt: skip
    assert run.per_query.rows() == want
    assert run.per_query.columns == ["question_id", "stage", "status", "MAP", "P@2", "num_rel"]
    assert run.aggregate.rows() == [
        ("trace", "MAP", pytest.approx(5 / 18), 3, 0, 1, 0),
        ("trace", "P@2", pytest.approx(1 / 6), 3, 0, 1, 0),
        ("trace", "num_rel", 3.0, 3, 0, 1, 0),
    ]
    assert run.damage() == [] and "MAP" in str(run)
    assert rayeval.load(run.run_id[:20], files / "runs").run_id == run.run_id


def test_questions_and_failures(files):
    run = scored(files, metrics=["map"])
    assert run.questions["answerable"].to_list() == [True, True, False]
    evidence = run.questions.explode("evidence")["evidence"].struct.unnest()
    assert evidence.select("evidence_id", "source_id", "relevance", "gold").rows() == [
        ("e1", "a", 1, True), ("e2", "b", 2, True), ("e1", "c", 1, True), ("e1", "d", 0, False),
    ]  # fmt: skip
    status = run.failures.select("question_id", "status", "code", "stage").rows()
    assert status == [("q1", "success", None, None), ("q2", "missing", None, "trace")]
    assert run.summary()["status"] == {"success": 1, "failed": 0, "error": 0, "missing": 1}


def test_the_first_document_that_a_run_lacks_is_named(files):
    (files / "run.txt").write_text("q1 Q0 a 1 1 t\nq2 Q0 c 1 1 t\n")
    [row] = scored(files).failures.filter(pl.col("status") == "failed").to_dicts()
    assert (row["question_id"], row["code"], row["group_id"]) == (
        "q1",
        "RETRIEVAL_MISSED_GOLD",
        "e2",
    )
    assert (row["observed_stages"], row["reached_stages"]) == (["trace"], [])


def test_relevant_is_trec_evals_l(files):
    run = scored(files, metrics=["map", "num_rel"], relevant=2)
    assert run.per_query["map"].to_list() == [1.0, 0.0, 0.0]
    # trec_eval's sum over all queries ignores -l under -c.
    assert run.aggregate["mean"].to_list() == [pytest.approx(1 / 3), 3.0]


def test_a_trace_is_pinned_and_kept_on_demand(files):
    short, whole = scored(files), scored(files, keep_trace=True)
    assert short.trace.is_empty() and short.passages["chunk_id"].to_list() == ["a", "b", "c", "d"]
    assert len(short.manifest["trace"]["sha256"]) == 64
    assert short.per_query.equals(whole.per_query)
    hits = whole.trace.filter(pl.col("question_id") == "q1")["hits"].explode().struct.unnest()
    assert hits.rows() == [("b", 9.0), ("x", 8.0), ("a", 7.0)]
    assert run_command(["show", whole.path, "q1"]) == 0


def test_the_same_input_gives_the_same_bytes(files):
    one = scored(files)
    lines = RUN.splitlines(keepends=True)
    (files / "run.txt").write_text("".join(lines[::-1]))
    other = scored(files)
    names = ["questions", "per_query", "failures", "aggregate"]
    hashes = [
        [run.manifest["files"][f"{n}.parquet"]["sha256"] for n in names] for run in (one, other)
    ]
    assert hashes[0] == hashes[1]


def test_a_repeated_hit_is_an_error_with_both_lines(files):
    (files / "run.txt").write_text(RUN + "q1 Q0 b 4 1 t\n")
    with pytest.raises(DataError) as error:
        scored(files)
    assert [(p.line, p.question_id, p.kind) for p in error.value.problems] == [
        (1, "q1", "repeated_id"), (6, "q1", "repeated_id"),
    ]  # fmt: skip
    assert not (files / "runs").exists()


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"metrics": ["ndgc"]}, id="an unknown measure"),
        pytest.param({"relevant": 0}, id="everything relevant"),
        pytest.param({"format": "beir"}, id="another format"),
        pytest.param({"cutoffs": ["100tok"]}, id="a token budget"),
        pytest.param({"name": "../elsewhere"}, id="a name that is a path"),
    ],
)
def test_options_that_mean_nothing(files, options):
    with pytest.raises(ConfigError):
        scored(files, **options)


def test_queries_without_judgements_are_told_of(files):
    [line] = scored(files).manifest["warnings"]
    assert "1 of 3 queries has no judgement" in line and "q9" in line


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        pytest.param("q 0 D-7 1\n", "q Q0 D-0007 1 1 t\n", "D-7 from D-0007", id="padding"),
        pytest.param("q 0 doc 1\n", "q Q0 DOC 1 1 t\n", "doc from DOC", id="case"),
        pytest.param("q 0 caf\u00e9 1\n", "q Q0 cafe\u0301 1 1 t\n", "Unicode form", id="Unicode form"),
        pytest.param("q 0 D-7 1\n", "q Q0 D-0001 1 1 t\n", "look like none of the run's: D-7", id="another form"),
        pytest.param("q 0 D-0007 1\n", "q Q0 D-0001 1 1 t\n", None, id="not retrieved is no error"),
        pytest.param("q 0 x1 1\n", "q Q0 y22 1 1 t\nq Q0 z1 1 0 t\n", None, id="ids of no one form"),
    ],
)  # fmt: skip
def test_judgements_whose_ids_nobody_has(tmp_path, qrels, run, says):
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "run.txt").write_text(run)
    warnings = scored(tmp_path).manifest["warnings"]
    assert len(warnings) == (says is not None)
    assert says is None or says in warnings[0]


def test_a_corpus_says_which_documents_there_are(files):
    (files / "docs" / "sub").mkdir(parents=True)
    for name in ("a.md", "b.txt", "sub/C.html"):
        (files / "docs" / name).write_text("text")
    (files / "qrels.txt").write_text("q1 0 a 1\nq1 0 b.txt 1\nq1 0 c 1\nq2 0 d 1\n")
    run = scored(files, corpus=files / "docs")
    assert (
        "2 judgements are of 2 documents that the corpus lacks: c, d" in run.manifest["warnings"][0]
    )
    assert "c from C" in run.manifest["warnings"][0]
    assert run.manifest["corpus"]["documents"] == 3


@pytest.mark.data
def test_cacm(shared_data, tmp_path, capsys):
    folder = shared_data("cacm")
    command = [
        "score",
        "--golden",
        f"{folder}/qrels.cacm.txt",
        "--trace",
        f"{folder}/cacm-bm25.txt",
    ]
    command += [
        "--convention",
        "trec",
        "--metrics",
        "P@30,P_30,nDCG@10",
        "--runs",
        str(tmp_path),
        "--json",
    ]
    assert run_command(command) == 0
    printed = capsys.readouterr()
    metrics = json.loads(printed.out)["metrics"]["trace"]
    assert list(metrics) == ["P@30", "P_30", "nDCG@10"]
    assert round(metrics["P@30"]["mean"], 4) == round(metrics["P_30"]["mean"], 4) == 0.1942
    said = " ".join(printed.err.split())
    assert "55 judgements" in said and "CACM-0268" in said


def test_a_parquet_run_scores_the_same(files):
    read_run(str(files / "run.txt")).write_parquet(files / "run.parquet")
    one, other = scored(files), scored(files, trace="run.parquet")
    assert one.per_query.equals(other.per_query)


def test_judgements_are_a_golden_set_in_our_own_convention_too(files, capsys):
    (files / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n")
    command = ["score", "--golden", f"{files}/qrels.txt", "--trace", f"{files}/run.txt"]
    command += ["--format", "trec", "--metrics", "MRR,hit@5", "--runs", f"{files}/runs", "--json"]
    assert run_command(command) == 0
    printed = capsys.readouterr()
    metrics = json.loads(printed.out)["metrics"]["trace"]
    assert metrics["MRR"]["mean"] == pytest.approx(1 / 6)
    assert metrics["hit@5"]["n_missing"] == 1
    assert "1 became relevance 3" in " ".join(printed.err.split())


def test_what_is_exported_scores_the_same(files):
    from rayeval.execution.export import export_run

    run = scored(files, metrics=["map", "recip_rank"], keep_trace=True)
    names, _ = export_run(run, "trec", str(files / "out"))
    again = scored(files / "out", *names, metrics=["map", "recip_rank"], relevant=1)
    assert run.per_query.equals(again.per_query)
