"""What a scored trace is worth: cases worked by hand."""

import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from score_files import write_lines

import rayeval
from rayeval.errors import DataError
from rayeval.execution.score.spool import spooled_tables
from rayeval.interop.own import read
from rayeval.metrics import Later, Metrics, Pipeline
from rayeval.metrics.foreign.places import Known
from rayeval.registry.scoring import Scorer, Scoring
from rayeval.tables import RESOLVED, conform

NAN = float("nan")


def asked(*evidence, name="q", **fields):
    return {"question_id": name, "question": f"{name}?", "evidence": list(evidence), **fields}


def found(*hits, name="q", stage="search", **fields):
    return {"question_id": name, "stages": {stage: {"hits": list(hits)}}, **fields}


def span(start, end, source="d", **fields):
    return {"source_id": source, "spans": [{"start_char": start, "end_char": end}], **fields}


def offsets(start, end, **fields):
    return {"source_id": "d", "start_char": start, "end_char": end, **fields}


def one(run, stage="search"):
    [row] = run.per_query.filter(pl.col("stage") == stage).to_dicts()
    return row


DOCUMENTS = [{"source_id": name} for name in "ABCDE"]
CASES = [
    pytest.param(
        [{"source_id": "B"}, {"source_id": "D"}], DOCUMENTS,
        {"hit@3": 1, "recall@3": 0.5, "precision@3": 1 / 3, "mrr@5": 0.5, "ndcg@5": 0.6509209,
         "map@5": 0.5, "char_recall@5": NAN, "source_recall@5": 1},
        id="whole documents, the textbook's numbers"),
    pytest.param(
        [offsets(100, 200)], [span(0, 150), span(300, 450), span(150, 300)],
        {"char_recall@2": 0.5, "char_precision@2": 50 / 300, "char_iou@2": 50 / 350,
         "recall@2": 0, "partial@2": 1},
        id="spans, first and third chunk"),
    pytest.param(
        [{"quote": "a  b"}], ["nothing", "so a\nb it is"],
        {"recall@1": 0, "recall@2": 1, "mrr@5": 0.5, "char_recall@5": NAN, "partial@2": 0},
        id="plain text contains the quote but for white space"),
    pytest.param(
        [{"quote": "caf\u00e9"}], ["the cafe\u0301 is open"], {"recall@1": 1},
        id="NFD text, NFC quote"),
    pytest.param(
        [{"source_id": "d", "quote": "moon"}], [{"source_id": "e", "text": "the moon"}],
        {"recall@1": 0, "source_recall@1": 0}, id="the quote in another source is not it"),
    pytest.param(
        [{"source_id": "d", "quote": "moon"}], [{"source_id": "d", "text": "the sun"}],
        {"recall@1": 0, "source_recall@1": 1}, id="other text of the right source"),
    pytest.param(
        [{"source_id": "d", "quote": "moon"}, {"source_id": "d", "quote": "sun"}],
        [{"source_id": "d", "text": "the moon"}],
        {"recall@1": 0.5, "joint_recall@1": 0.5}, id="one quote of a source is not the other"),
    pytest.param(
        [{"source_id": "d", "quote": "moon"}, {"source_id": "d", "quote": "sun"}],
        [{"source_id": "d"}], {"recall@1": 1, "all_groups@1": 1},
        id="a whole document holds every quote of its own"),
    pytest.param(
        [offsets(10, 14, quote="moon")], ["the moon"], {"recall@1": 1, "char_recall@1": NAN},
        id="text against offsets that have a quote"),
    pytest.param(
        [offsets(0, 10)], [{"source_id": "d", "revision_id": "2026"}], {"recall@1": 1},
        id="a revision that only the trace names is any"),
    pytest.param(
        [offsets(0, 10, revision_id="1")], [span(0, 10, revision_id="2"), span(0, 10)],
        {"recall@1": 0, "recall@2": 1}, id="another revision is not it, an unnamed one is"),
    pytest.param(
        [offsets(0, 10)],
        [{"source_id": "d", "spans": [{"start_char": 5, "end_char": 10},
                                      {"start_char": 0, "end_char": 7}]}],
        {"recall@1": 1, "char_precision@1": 1}, id="spans out of order and overlapping"),
    pytest.param(
        [offsets(0, 10)], [span(0, 10), span(0, 10)],
        {"precision@2": 1, "recall@2": 1, "ndcg@2": 1, "char_precision@2": 1},
        id="the same chunk twice is paid once"),
    pytest.param([{"source_id": "B"}], [{"source_id": "B", "spans": []}], {"recall@1": 1},
                 id="no spans in a list are none"),
    pytest.param([{"source_id": "B"}], [], {"recall@1": 0, "precision_returned@1": 0},
                 id="an empty list"),
    pytest.param([{"source_id": "7"}], [{"source_id": 7}], {"recall@1": 1},
                 id="an id that is a number here and text there"),
    pytest.param([{"source_id": "서울 안내\t1"}], [{"source_id": "서울 안내\t1"}], {"recall@1": 1},
                 id="Korean, a space and a tab in an id"),
    pytest.param([{"source_id": "B"}], [{"chunk_id": "A"}, {"chunk_id": "B"}], {"mrr@5": 0.5},
                 id="ids alone are documents"),
]  # fmt: skip


@pytest.fixture(scope="module")
def every_case(tmp_path_factory):
    """All cases in one run, each a question."""
    folder = tmp_path_factory.mktemp("cases")
    golden = [asked(*case.values[0], name=case.id) for case in CASES]
    trace = [found(*case.values[1], name=case.id) for case in CASES]
    names = sorted({name for case in CASES for name in case.values[2]})
    return rayeval.score(write_lines(folder / "golden.jsonl", golden),
                         write_lines(folder / "trace.jsonl", trace),
                         metrics=names, runs=folder)  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in CASES])
def test_one_question(every_case, case):
    want = case.values[2]
    [row] = every_case.per_query.filter(pl.col("question_id") == case.id).to_dicts()
    assert_allclose([row[name] for name in want], list(want.values()), atol=1e-7)


def test_every_metric_by_default_and_every_part_of_a_run(scored):
    run = scored([asked({"source_id": "B"})], [found(*DOCUMENTS)])
    assert {"recall@1", "ndcg@20", "char_iou@10", "judged@5"} <= set(run.per_query.columns)
    names = {"questions", "trace", "passages", "per_query", "failures", "aggregate", "slices",
             "latency"}  # fmt: skip
    assert {f"{name}.parquet" for name in names} <= set(run.manifest["files"])
    assert run.damage() == []


def test_missing_rows_errors_and_the_unanswerable_are_counted(scored):
    golden = [asked({"source_id": "B"}, name="ok"), asked({"source_id": "B"}, name="missing"),
              asked({"source_id": "B"}, name="error"), asked(name="none", answerable=False)]  # fmt: skip
    trace = [found({"source_id": "B"}, name="ok"), {"question_id": "error", "error": "timed out"},
             found({"source_id": "B"}, name="none")]  # fmt: skip
    run = scored(golden, trace, metrics=["recall@1", "judged@1"])
    numbers = run.summary()["metrics"]["search"]
    assert numbers["recall@1"] == {
        "mean": 0.5, "n": 2, "n_undefined": 0, "n_missing": 1, "n_error": 1}  # fmt: skip
    assert numbers["judged@1"]["n"] == 1
    assert run.summary()["status"] == {"success": 1, "failed": 0, "error": 1, "missing": 1}


def test_a_trace_of_one_stage_on_which_a_question_has_an_error(scored):
    trace = [{"question_id": "q", "stages": {"search": {"error": "503"}}},
             found({"source_id": "B"}, name="p")]  # fmt: skip
    run = scored([asked({"source_id": "B"}), asked({"source_id": "B"}, name="p")], trace)
    rows = dict(run.failures.select("question_id", "status").iter_rows())
    assert rows == {"p": "success", "q": "error"}


def test_questions_that_the_golden_set_lacks_are_named(scored):
    run = scored([asked({"source_id": "B"})], [found({"source_id": "B"}), found(name="z")])
    [warning] = run.manifest["warnings"]
    assert "1 question of the trace is not in the golden set: z" in warning


def test_order_of_lines_changes_nothing(scored, tmp_path):
    golden = [asked({"source_id": "B"}, name=f"q{n}") for n in range(30)]
    trace = [found(*DOCUMENTS[n % 5 :], name=f"q{n}") for n in range(30)]
    one_way = scored(golden, trace)
    other = scored(golden[::-1], trace[::-1])
    for name in ("per_query", "failures", "trace", "passages", "aggregate"):
        assert getattr(one_way, name).equals(getattr(other, name)), name


def test_how_many_questions_are_scored_at_once_changes_nothing(every_case):
    [trace] = every_case.manifest["trace"]["paths"]
    pipeline = Pipeline((), (Later("search", "unknown"),))
    tables = read([trace]).trace
    with spooled_tables(tables, every_case.path) as paths:
        config = Scoring(tuple(paths), ("search",), pipeline, Metrics())
    questions = pl.DataFrame(every_case.questions).to_arrow()
    questions = conform(questions, RESOLVED)
    scorer = Scorer(config, Known())
    whole = scorer(questions)
    parts = [scorer(questions.slice(start, 3)) for start in range(0, len(questions), 3)]
    backwards = scorer(questions.take(list(range(len(questions)))[::-1]))
    wanted = pl.DataFrame(whole)  # in polars NaN equals NaN
    assert wanted["per_query"].list.len().to_list() == [1] * len(questions)
    assert pl.DataFrame(pa.concat_tables(parts)).equals(wanted)
    assert pl.DataFrame(backwards).sort("question_id").equals(wanted)


def test_only_the_first_hits_are_kept_unless_all_are_wanted(scored):
    hits = [{"source_id": f"d{n}"} for n in range(50)]
    short = scored([asked({"source_id": "d40"})], [found(*hits)], metrics=["recall@3"])
    whole = scored([asked({"source_id": "d40"})], [found(*hits)], metrics=["recall@3"],
                   keep_trace=True)  # fmt: skip
    assert [len(run.trace["hits"][0]) for run in (short, whole)] == [3, 50]
    assert short.failures["status"].to_list() == ["success"]
    assert short.manifest["trace"]["sha256"] == whole.manifest["trace"]["sha256"]


def test_latency_is_the_tools_own(scored):
    trace = [{"question_id": "q", "stages": {"search": {"hits": [], "latency_ms": 12.5}}}]
    run = scored([asked({"source_id": "B"})], trace)
    assert run.latency.select("stage", "latency_ms", "mode").rows() == [("search", 12.5, "foreign")]


def test_sorted_by_score_on_demand(scored):
    hits = [{"source_id": "A", "score": 1}, {"source_id": "B", "score": 2}]
    with pytest.raises(DataError, match="rank 2 has a higher score"):
        scored([asked({"source_id": "B"})], [found(*hits)])
    run = scored([asked({"source_id": "B"})], [found(*hits)], sort="score", metrics=["mrr@2"])
    assert one(run)["mrr@2"] == 1


def test_a_token_budget_counts_the_tokens_of_the_chunk_table(scored, tmp_path):
    chunks = pa.table({"chunk_id": ["a", "b", "c"], "source_id": ["d"] * 3, "tokens": [30, 20, 5],
                       "start_char": [0, 10, 20], "end_char": [10, 20, 30]})  # fmt: skip
    pq.write_table(chunks, tmp_path / "chunks.parquet")
    hits = [{"chunk_id": name} for name in "abc"]
    run = scored([asked(offsets(10, 20))], [found(*hits)], chunks=tmp_path / "chunks.parquet",
                 metrics=["recall@50tok", "recall@49tok", "char_recall@1"])  # fmt: skip
    assert list(one(run).values())[3:] == [1, 0, 0]


QUOTE = {"quote": "배는 여섯 시에 떠난다."}
WORDS = [
    pytest.param({}, QUOTE, None, 1.0, id="a quote of any source"),
    pytest.param({"source_id": "d"}, {**QUOTE, "source_id": "d"}, None, 1.0, id="of the chunk's source"),
    pytest.param({"source_id": "d"}, {**QUOTE, "source_id": "e"}, None, 0.0, id="of another source"),
    pytest.param({"source_id": "d", "start_char": 0, "end_char": 40}, QUOTE, None, 1.0, id="a chunk that lies somewhere"),
    pytest.param({"source_id": "d"}, QUOTE, "d", 1.0, id="both located in the documents"),
    pytest.param({}, QUOTE, "d", 1.0, id="a text of no source located in the documents"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize(("chunk", "evidence", "document", "recall"), WORDS)
def test_a_hit_by_id_has_the_text_of_its_chunk(
    scored, tmp_path, kind, chunk, evidence, document, recall
):
    text = "섬으로 가는  배는\n여섯 시에 떠난다. 늦지 마라."
    rows = [
        {"chunk_id": "c0", "text": "다른 글", **chunk},
        {"chunk_id": "c1", "text": text, **chunk},
    ]
    path = tmp_path / f"chunks.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    corpus = None
    if document:
        corpus = tmp_path / "docs.jsonl"
        whole = {"source_id": document, "text": f"머리말. {text} 다른 글"}
        corpus.write_text(json.dumps(whole, ensure_ascii=False))
    run = scored([asked(evidence)], [found({"chunk_id": "c1"})], chunks=path, corpus=corpus,
                 metrics=["recall@1"])  # fmt: skip
    assert one(run)["recall@1"] == recall
    assert run.passages["text"].to_list() == [text]
