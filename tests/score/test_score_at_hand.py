"""Tables and rows at hand are read as the files are that they could be."""

import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_files import write_lines

import rayeval
from rayeval.errors import ConfigError, DataError

GOLDEN = [
    {"question_id": "q1", "question": "How long?", "reference_answer": "21 days",
     "evidence": [{"source_id": "en.md", "quote": "The loan period is 21 days."}]},
    {"question_id": "q2", "question": "며칠?",
     "evidence": [{"source_id": "ko.md", "quote": "대출 기간은 21일이다."}]},
]  # fmt: skip
CHUNKS = [
    {"chunk_id": "en#0", "source_id": "en.md", "text": "The loan period is 21 days."},
    {"chunk_id": "en#1", "source_id": "en.md", "text": "Films are lent for a week."},
    {"chunk_id": "ko#0", "source_id": "ko.md", "text": "대출 기간은 21일이다."},
]
HITS = pl.DataFrame(
    [
        {"question_id": "q2", "chunk_id": "ko#0", "rank": 1, "score": 3.0},
        {"question_id": "q1", "chunk_id": "en#0", "rank": 2, "score": 1.0},
        {"question_id": "q1", "chunk_id": "en#1", "rank": 1, "score": 2.0},
    ]
)
TABLE = pl.DataFrame(CHUNKS)


class Frame:
    """Columns that another library holds, as its interchange offers them."""

    def __init__(self, table):
        self.table = table
        self.columns = table.column_names

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


FORMS = {
    "polars": lambda frame: frame,
    "arrow": pl.DataFrame.to_arrow,
    "another library's": lambda frame: Frame(frame.to_arrow()),
    "with an index": lambda frame: Frame(
        frame.to_arrow().append_column("__index_level_0__", pa.array(range(len(frame))))
    ),
    "parts": lambda frame: [frame[:2], frame[2:].to_arrow()],
    "batches": lambda frame: frame.to_arrow().to_batches(),
    "of other types": lambda frame: [frame[:2], frame[2:].cast({"chunk_id": pl.Categorical})],
}


@pytest.fixture
def want(tmp_path):
    """The run of the same hits and chunks in files, and its golden set."""
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN)
    pq.write_table(HITS.to_arrow(), tmp_path / "hits.parquet")
    chunks = write_lines(tmp_path / "chunks.jsonl", CHUNKS)
    run = rayeval.score(golden, tmp_path / "hits.parquet", chunks=chunks, runs=tmp_path / "files")
    assert run.per_query.sort("question_id")["mrr@5"].to_list() == [0.5, 1.0]
    return golden, run


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_scored_as_its_file_is(want, tmp_path, form):
    golden, run = want
    given = rayeval.score(golden, FORMS[form](HITS), chunks=FORMS[form](TABLE), runs=tmp_path)
    assert given.per_query.equals(run.per_query)
    assert given.failures.equals(run.failures)


def test_a_pandas_frame_is_scored_as_its_file_is(want, tmp_path):
    pytest.importorskip("pandas", minversion="2.2")
    golden, run = want
    hits = HITS.to_pandas().set_index("question_id", drop=False)
    given = rayeval.score(golden, hits, chunks=TABLE.to_pandas(), runs=tmp_path)
    assert given.per_query.equals(run.per_query)


def test_chunks_in_rows_and_in_several_files(want, tmp_path):
    golden, run = want
    paths = [write_lines(tmp_path / f"c{n}.jsonl", [row]) for n, row in enumerate(CHUNKS)]
    for chunks in (CHUNKS, paths):
        given = rayeval.score(golden, HITS, chunks=chunks, runs=tmp_path)
        assert given.per_query.equals(run.per_query)


def test_a_table_s_answers_are_scored_too(want, tmp_path):
    golden, _ = want
    table = HITS.with_columns(answer=pl.when(pl.col("question_id") == "q1").then(pl.lit("21 days")))
    run = rayeval.score(golden, table, chunks=TABLE, runs=tmp_path)
    assert run.per_answer.filter(question_id="q1")["contains_reference"].to_list() == [1]


BAD = {
    "a column of another name": (HITS.rename({"chunk_id": "doc"}), TABLE,
                                 "the given trace unknown_field: the column 'doc'"),
    "a rank in words": (HITS.cast({"rank": pl.String}), TABLE,
                        "the given trace wrong_type: `rank`"),
    "one end": (HITS.with_columns(start_char=1), TABLE, "the given trace missing_field: .*give both"),
    "no row": (HITS.clear(), TABLE, "the given trace empty_trace"),
    "chunks without ids": (HITS, TABLE.drop("chunk_id"), "the given chunks missing_field"),
    "a time before the first": (HITS.with_columns(repeat=-1, answer=pl.lit("a")), TABLE,
                                r"the given trace:1 \[q2\] bad_number"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_table_at_hand(want, tmp_path, case):
    golden, _ = want
    hits, chunks, words = BAD[case]
    with pytest.raises(DataError, match=words):
        rayeval.score(golden, hits, chunks=chunks, runs=tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("traces/*.parquet"))


@pytest.mark.parametrize(
    ("trace", "chunks", "words"),
    [
        (HITS.lazy(), None, "trace is a polars.LazyFrame; expected"),
        (HITS, HITS.lazy(), "chunks is a polars.LazyFrame; expected"),
        (HITS["score"], None, "a polars.Series is no table"),
        ([HITS, {}], None, "a builtins.dict stands among tables"),
        (HITS, [3], "chunks is .3.; expected"),
        (HITS, [{"chunk_id": {1}}], "can't be written as JSON"),
        ([None], None, "trace:1 wrong_type"),
    ],
)
def test_what_is_no_table(want, tmp_path, trace, chunks, words):
    golden, _ = want
    with pytest.raises((ConfigError, DataError), match=words) as error:
        rayeval.score(golden, trace, chunks=chunks, runs=tmp_path / "runs")
    assert len(str(error.value)) < 300


SPANS = [{"source_id": "en.md", "spans": [{"start_char": 0, "end_char": 27}]}]
FLAT = [{"source_id": "en.md", "start_char": 0, "end_char": 27}]


def lines_of(stage, hits):
    stages = {"stages": {stage: {"hits": hits}}}
    return [{"question_id": "q1", **(stages if stage else {"hits": hits})}]


@pytest.fixture
def placed(tmp_path):
    """The numbers of a trace over documents."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "en.md").write_text("The loan period is 21 days. Films: a week.\n")
    golden = write_lines(tmp_path / "golden.jsonl", GOLDEN[:1])

    def score(trace):
        run = rayeval.score(golden, trace, corpus=tmp_path / "docs", runs=tmp_path / "runs")
        return run.per_query

    return score


def test_offsets_may_be_written_flat_and_one_stage_without_its_name(placed, tmp_path):
    want = placed(write_lines(tmp_path / "t.jsonl", lines_of("trace", SPANS)))
    assert want["recall@1"].to_list() == [1]
    for stage, hits in (("trace", FLAT), (None, FLAT), (None, SPANS)):
        lines = write_lines(tmp_path / "t2.jsonl", lines_of(stage, hits))
        assert placed(lines).equals(want)
        assert placed(lines_of(stage, hits)).equals(want)
    pq.write_table(pa.table({"question_id": ["q1"], "hits": [FLAT]}), tmp_path / "t.parquet")
    assert placed(tmp_path / "t.parquet").equals(want)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"hits": [{"source_id": "en.md", "start_char": 3}]}, "rank 1 has one of `start_char`"),
        ({"hits": [FLAT[0] | SPANS[0]]}, "rank 1 has `spans`, and `start_char`"),
        ({"hits": FLAT, "stages": {"a": {"hits": FLAT}}}, "`hits` and `stages` side by side"),
        (
            {"context": SPANS, "stages": {"context": {"hits": []}}},
            "a stage `context` whose hits are others",
        ),
        (
            {"context": ["a"], "stages": {"context": ["b"]}},
            "a stage `context` whose hits are others",
        ),
        ({"hits": [{"chunk": "x"}]}, r"`hits\[0\].chunk` .*known here are chunk_id.*rename it"),
        ({"stages": {"hits": {"hit": []}}}, r"known here are hits, latency_ms, error"),
        ({"hitz": []}, "known here are question_id, stages, hits"),
    ],
)
def test_a_line_that_contradicts_itself_or_has_unknown_keys(placed, tmp_path, line, words):
    with pytest.raises(DataError, match=words):
        placed(write_lines(tmp_path / "t.jsonl", [{"question_id": "q1", **line}]))
    with pytest.raises(DataError, match=words):
        placed([{"question_id": "q1", **line}])


def test_a_context_may_be_said_twice_if_it_is_the_same(placed, tmp_path):
    """However it is spelt, and beside what only the stage says."""
    hits = [{"chunk_id": 7, "source_id": "en.md", "start_char": 3, "end_char": 9}, "text"]
    again = [
        {
            "chunk_id": "7",
            "source_id": "en.md",
            "spans": [{"start_char": 3, "end_char": 9}],
            "score": None,
        },
        {"text": "text"},
    ]
    want = placed([{"question_id": "q1", "stages": {"context": hits}}])
    for stage in (hits, {"hits": again, "latency_ms": 2.0}, {"latency_ms": 2.0}):
        assert placed(
            [{"question_id": "q1", "context": hits, "stages": {"context": stage}}]
        ).equals(want)


def test_an_offset_alone_in_a_table_is_found(placed, tmp_path):
    row = {"question_id": "q1", "source_id": "en.md", "start_char": 3, "end_char": None}
    pq.write_table(pa.Table.from_pylist([row, row | {"end_char": 9}]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r":1 \[q1\] missing_field: .*come in pairs"):
        placed(tmp_path / "t.parquet")


def test_rows_are_kept_as_lines(placed, tmp_path):
    placed(lines_of("trace", FLAT))
    [path] = (tmp_path / "runs").rglob("traces/*.jsonl")
    assert json.loads(path.read_text()) == lines_of("trace", FLAT)[0]
