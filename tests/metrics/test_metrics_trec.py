"""trec_eval's measures: hand-worked cases, its own published outputs, and pytrec_eval as oracle."""

import json
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rayeval.errors import ConfigError, DataError
from rayeval.interop.trec import read_judgements, read_run
from rayeval.metrics.ranking import NEVER
from rayeval.metrics.trec import COUNTS, Values, grouped, judged, measures, parse

IDS = {"query": pl.String, "document": pl.String}


def frames(qrels: dict, run: dict) -> tuple[pl.DataFrame, pl.DataFrame]:
    """{query: {document: grade or score}} as tables, in the order given."""
    rows = [(q, d, v) for q, documents in qrels.items() for d, v in documents.items()]
    hits = [(q, d, float(v)) for q, documents in run.items() for d, v in documents.items()]
    judgements = pl.DataFrame(rows, {**IDS, "grade": pl.Int64}, orient="row")
    return judgements, pl.DataFrame(hits, {**IDS, "score": pl.Float64}, orient="row")


def evaluated(qrels: dict, run: dict, names=None, relevant=1) -> dict[str, dict[str, float]]:
    """{query: {measure: value}}"""
    judgements, hits = frames(qrels, run)
    found = judged(grouped(hits), judgements)
    values = Values(found, relevant=relevant)
    columns = {measure.name: values.value(measure) for measure in measures(names)}
    return {
        query: {name: column[number] for name, column in columns.items()}
        for number, query in enumerate(found.queries)
    }


def ranks(qrels: dict, run: dict) -> list[int | None]:
    judgements, hits = frames(qrels, run)
    return [None if rank == NEVER else rank for rank in judged(grouped(hits), judgements).rank]


@pytest.mark.parametrize(
    ("run", "want"),
    [
        pytest.param({"a": 1, "b": 3, "c": 2}, [3, 1, 2], id="by score, not as listed"),
        pytest.param({"a": 1, "b": 1, "c": 1}, [3, 2, 1], id="ties by later id first"),
        pytest.param({"a": 0.0, "b": -0.0, "c": -1}, [2, 1, 3], id="both zeros are one score"),
        pytest.param({"a": "inf", "b": "-inf", "c": 0}, [1, 3, 2], id="infinite scores have a place"),
        pytest.param({"c": 2, "x": 2, "d": 2}, [None, None, 3], id="unjudged hits take ranks"),
        pytest.param({"a": 1 + 2**-50, "b": 1}, [1, 2, None], id="scores are doubles"),
    ],
)  # fmt: skip
def test_the_rank_of_a_judged_document(run, want):
    assert ranks({"q": dict.fromkeys("abc", 1)}, {"q": run}) == want


def test_ties_are_ordered_by_utf8_bytes():
    # In UTF-16, the pair of the astral character sorts below U+FFFD.
    assert ranks({"q": {"\ufffd": 1}}, {"q": {"\ufffd": 1, "\U0001f600": 1}}) == [2]


def test_a_query_whose_hits_are_scattered_over_the_run():
    judgements, _ = frames({"p": {"a": 1}, "q": {"a": 1}}, {})
    rows = [("q", "b", 2.0), ("p", "a", 5.0), ("q", "a", 1.0), ("p", "c", 9.0)]
    hits = pl.DataFrame(rows, {**IDS, "score": pl.Float64}, orient="row")
    assert judged(grouped(hits), judgements).rank.tolist() == [2, 2]


def test_a_document_that_a_query_has_twice_is_found():
    rows = [("p", "a", 1.0), ("q", "a", 2.0), ("q", "b", 1.0), ("q", "a", 0.0)]
    run = grouped(pl.DataFrame(rows, {**IDS, "score": pl.Float64}, orient="row"))
    assert run.repeated().rows() == [("q", "a")]


def test_ids_whose_hashes_agree_are_told_apart(monkeypatch):
    monkeypatch.setattr(
        "rayeval.metrics.trec.ranks.Ids._hashes",
        lambda self, documents: np.zeros(len(documents), np.uint64),
    )
    run = {"q": {"a": 3, "b": 2, "c": 1}, "p": {"b": 1}}
    assert ranks({"p": {"a": 1, "b": 1}, "q": {"c": 1, "b": 1, "x": 1}}, run) == [
        None,
        1,
        3,
        2,
        None,
    ]
    assert grouped(frames({}, run)[1]).repeated().is_empty()


@pytest.mark.parametrize(
    ("grades", "run", "relevant", "want"),
    [
        pytest.param({"a": -1, "b": 0, "c": 2}, "abc", 1, {"bpref": 0, "ndcg": 0.5, "map": 1 / 3},
                     id="a negative grade is not judged"),
        pytest.param({"a": 1, "b": 1}, "axb", 1, {"bpref": 1, "map": 5 / 6, "set_P": 2 / 3},
                     id="bpref without judged irrelevant documents"),
        pytest.param({"a": 1, "b": 2}, "ab", 2, {"map": 0.5, "ndcg": 0.859719, "P_5": 0.2},
                     id="-l 2 leaves ndcg alone"),
        pytest.param(dict.fromkeys("abcd", 1), "ab", 1,
                     {"recall_1": 0.25, "recall_10": 0.5, "ndcg_cut_2": 1, "Rprec": 0.5, "set_F": 2 / 3},
                     id="recall is not capped"),
        pytest.param({"a": 0}, "ab", 1, {"map": 0, "ndcg": 0, "bpref": 0, "set_F": 0, "num_rel": 0},
                     id="nothing relevant is 0"),
        pytest.param({"a": 1}, "", 1, {"map": 0, "set_P": 0, "num_ret": 0, "recip_rank": 0, "num_q": 1},
                     id="nothing retrieved is 0"),
        pytest.param({"c": 1, "d": 1}, "abcd", 1, {"MRR": 1 / 3, "MRR@2": 0, "AP@3": 1 / 6, "success_3": 1},
                     id="a cutoff on what trec_eval does not cut"),
    ],
)  # fmt: skip
def test_one_query(grades, run, relevant, want):
    scores = {document: -place for place, document in enumerate(run)}
    got = evaluated({"q": grades}, {"q": scores} if run else {}, list(want), relevant)
    assert_allclose(list(got["q"].values()), list(want.values()), atol=1e-6)


def test_a_judged_query_without_hits_counts_and_an_unjudged_one_does_not():
    got = evaluated({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1}, "q9": {"a": 1}}, ["map"])
    assert got == {"q1": {"map": 1.0}, "q2": {"map": 0.0}}


@pytest.mark.parametrize(
    ("typed", "metric", "size"),
    [
        ("ndcg_cut_10", "ndcg", 10), ("ndcg@10", "ndcg", 10), ("nDCG@10", "ndcg", 10), ("nDCG", "ndcg", None),
        ("R@100", "recall", 100), ("Recall@5", "recall", 5), ("recall_5", "recall", 5), ("P.30", "P", 30),
        ("P@5", "P", 5), ("precision@5", "P", 5), ("MRR@10", "recip_rank", 10), ("MRR", "recip_rank", None),
        ("RR", "recip_rank", None), ("recip_rank", "recip_rank", None), ("AP", "map", None), ("MAP", "map", None),
        ("MAP@100", "map", 100), ("map_cut_100", "map", 100), ("Success@1", "success", 1), ("hit@1", "success", 1),
        ("Rprec", "Rprec", None), ("Bpref", "bpref", None), ("SetF", "set_F", None), ("NumRet", "num_ret", None),
    ],
)  # fmt: skip
def test_names_as_people_write_them(typed, metric, size):
    measure = parse(typed)
    assert (measure.name, measure.metric.name) == (typed, metric)
    assert (measure.cutoff and measure.cutoff.size) == size


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        pytest.param("ndgc@10", "nearest is 'ndcg'", id="misspelt"),
        pytest.param("P", "needs a cutoff", id="cutoff forgotten"),
        pytest.param("ndcg_cut", "needs a cutoff", id="cut without its cutoff"),
        pytest.param("bpref@5", "takes no cutoff", id="cutoff too many"),
        pytest.param("P@0", "is no cutoff", id="nothing at all"),
        pytest.param("recall@100tok", "counts documents", id="a token budget"),
        pytest.param("", "unknown measure", id="empty"),
    ],
)
def test_a_name_that_means_nothing(typed, says):
    with pytest.raises(ConfigError, match=says):
        parse(typed)


def test_without_names_all_of_trec_evals_measures():
    names = {measure.name for measure in measures(None)}
    assert {"map", "P_5", "recall_1000", "ndcg_cut_10", "success_1", "set_F", "num_q"} <= names
    assert "P_7" in {measure.name for measure in measures(None, ["7"])}


ORACLE = {
    "map", "P.1,3,5", "recall.1,3,5", "ndcg", "ndcg_cut.1,3,5", "recip_rank", "bpref", "Rprec",
    "success.1,3,5", "set_P", "set_recall", "set_F", "map_cut.1,3,5", "num_ret", "num_rel", "num_rel_ret",
}  # fmt: skip
names_ = st.sampled_from(["a", "b", "aa", "é", "e\u0301", "한국", "\ufffd", "😀", "A", "#x", "Z"])
queries_ = st.sampled_from(["q1", "q2", "q10", "질문", "Q1"])
# Scores that are as different as 32-bit floats as they are as doubles: pytrec_eval has the former.
scores_ = st.sampled_from([0.0, -0.0, 1.0, 0.5, -2.25, 3.0, 1e-3])
qrels_ = st.dictionaries(
    queries_, st.dictionaries(names_, st.integers(-2, 4), min_size=1), min_size=1
)
runs_ = st.dictionaries(queries_, st.dictionaries(names_, scores_))


@settings(max_examples=150)
@given(qrels=qrels_, run=runs_, relevant=st.integers(1, 3))
def test_pytrec_eval_agrees(qrels, run, relevant):
    top = {query: grades for query, grades in qrels.items() if max(grades.values()) >= 0}
    oracle = pytrec_eval.RelevanceEvaluator(qrels, ORACLE, relevance_level=relevant)
    shared = {query: hits for query, hits in run.items() if query in top and hits}
    want = oracle.evaluate(
        {query: {d: float(s) for d, s in h.items()} for query, h in shared.items()}
    )
    names = [name for name in next(iter(want.values()), {}) if name != "runid"] or ["map"]
    got = evaluated(qrels, run, names, relevant)
    assert set(got) == set(qrels)
    for query, values in got.items():
        expected = want.get(query) or dict.fromkeys(values, 0.0)
        for name, value in values.items():
            if query not in want and name in ("num_rel", "num_ret"):
                continue
            assert value == pytest.approx(expected[name], abs=1e-9), (query, name)


@settings(max_examples=50)
@given(qrels=qrels_, run=runs_, data=st.data())
def test_order_of_rows_changes_nothing(qrels, run, data):
    judgements, hits = frames(qrels, run)
    order = data.draw(st.permutations(range(hits.height)))
    one, other = judged(grouped(hits), judgements), judged(grouped(hits[list(order)]), judgements)
    assert one.rank.tolist() == other.rank.tolist()
    assert one.returned.tolist() == other.returned.tolist()


def official(path) -> dict[str, dict[str, float]]:
    """{query: {measure: value}} of what trec_eval printed."""
    found = defaultdict(dict)
    for line in path.read_text().splitlines():
        measure, query, value = line.split(None, 2)
        try:
            found[query][measure.strip()] = float(value)
        except ValueError:
            continue
    return found


def check(qrels, run, expected, relevant=1) -> int:
    """Compares every value of a measure of ours; returns how many."""
    judgements = read_judgements(str(qrels))
    found = judged(grouped(read_run(str(run))), judgements)
    values = Values(found, relevant=relevant)
    known = {measure.name: values.value(measure) for measure in measures(None)}
    queries, compared = found.queries.to_list(), 0
    for query, numbers in expected.items():
        for name in numbers.keys() & known.keys():
            if query == "all" and name == "num_rel" and relevant > 1:
                continue  # trec_eval's sum ignores -l under -c: see test_score_trec
            column = known[name]
            total = column.sum() if name in COUNTS else column.mean()
            got = total if query == "all" else column[queries.index(query)]
            assert round(float(got), 4) == pytest.approx(numbers[name], abs=1e-9), (query, name)
            compared += 1
    return compared


@pytest.mark.data
@pytest.mark.parametrize(
    ("output", "qrels", "run", "relevant", "values"),
    [
        pytest.param("out.test.a", "qrels.test", "results.test", 1, 51, id="all measures"),
        pytest.param("out.test.aq", "qrels.test", "results.test", 1, 201, id="per query"),
        pytest.param("out.test.aqc", "qrels.test", "results.trunc", 1, 201, id="-c, a query missing"),
        pytest.param("out.test.aql", "qrels.rel_level", "results.test", 2, 201, id="-l 2, graded"),
        pytest.param("out.comment.test", "qrels.comment.test", "results.comment.test", 1, 17, id="# in ids"),
    ],
)  # fmt: skip
def test_trec_evals_own_outputs(shared_data, output, qrels, run, relevant, values):
    folder = shared_data("trec_eval_test")
    expected = official(folder / output)
    assert check(folder / qrels, folder / run, expected, relevant) >= values - 1


@pytest.mark.data
def test_every_trap(shared_data, tmp_path):
    path = shared_data("cacm").parents[1] / "cases" / "trec_traps.jsonl"
    if not path.exists():
        pytest.skip(f"no cases here: {path}")
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for name in ("qrels", "run"):
            (tmp_path / name).write_bytes(case[name].encode())
        relevant = int(case["flags"][0].removeprefix("-l")) if case["flags"] else 1
        expected = case["expected"]["10.0"]["-q -c"]
        if expected["rc"]:
            with pytest.raises(DataError):
                check(tmp_path / "qrels", tmp_path / "run", {})
        else:
            assert check(tmp_path / "qrels", tmp_path / "run", expected["values"], relevant) > 20
