"""Questions and documents in every form of DESIGN §3, through whole runs."""

import unicodedata
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from acceptance_project import BM25, command, finish, project

WORDS = {**BM25, "analyzer": {"kind": "unicode_words"}}
NFD = unicodedata.normalize("NFD", "서울은 카페 café 좋다")
FILES = {
    "bom.txt": "\ufeffHello world",
    "crlf.md": "# T\r\n\r\nFirst line.\r\nSecond 😀 line.\r\n",
    "nfd.txt": NFD,
    "astral.txt": "A😀B 𝔘 end",
    "front.md": "---\nlanguage: en\ntitle: T\n---\n# Head\n\nBody text.\n",
    "sub/deep/page.html": "<p>Tom &amp; <b>Jerry</b> run</p>",
}


def gold_of(run, question_id: str = "q") -> list[dict]:
    (row,) = run.table("questions").filter(question_id=question_id).to_dicts()
    return row["evidence"]


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        ({"source_id": "bom.txt", "quote": "Hello"}, "Hello"),
        ({"source_id": "bom.txt", "start_char": 1, "end_char": 6, "quote": "Hello"}, "Hello"),
        ({"source_id": "crlf.md", "quote": "First line.\nSecond"}, "First line.\r\nSecond"),
        ({"source_id": "crlf.md", "start_char": 7, "end_char": 28}, "First line.\r\nSecond 😀"),
        ({"source_id": "nfd.txt", "quote": "카페 café"}, NFD[9:19]),
        ({"source_id": "nfd.txt", "quote": "카페  café"}, NFD[9:19]),
        ({"source_id": "astral.txt", "start_char": 2, "end_char": 3, "quote": "B"}, "B"),
        ({"source_id": "astral.txt", "spans": [{"start_char": 1, "end_char": 3}]}, "😀B"),
        ({"source_id": "front.md", "quote": "Body text."}, "Body text."),
        ({"source_id": "sub/deep/page.html", "quote": "Tom & Jerry"}, "Tom &amp; <b>Jerry"),
        ({"source_id": "sub/deep/page.html", "quote": "&amp;"}, "&amp;"),
        ({"quote": "Jerry run"}, "Jerry</b> run"),
        ({"source_id": "crlf.md", "element_id": "heading-1"}, "# T"),
        ({"source_id": "front.md"}, "# Head\n\nBody text.\n"),
    ],
    ids=[
        "after a BOM", "code points count the BOM", "LF for CRLF", "CRLF counts two",
        "NFC for NFD", "white space", "astral", "spans", "after front matter", "visible text",
        "source text", "no source named", "an element", "the whole document",
    ],
)  # fmt: skip
def test_where_gold_stands(tmp_path, evidence, text):
    """Canonical text is the file as UTF-8: no other normal form, no other line ends."""
    asked = {"question_id": "q", "question": "Hello First 카페 B Body Tom", "evidence": [evidence]}
    run = finish(project(tmp_path, FILES, [asked]))
    (one,) = gold_of(run)
    source = FILES[one["source_id"]]
    spans = [source[s["start_char"] : s["end_char"]] for s in one["spans"]]
    assert spans == [text]
    assert (one["gold"], one["relevance"], one["group_id"]) == (True, 3, "e1")


def test_chunks_are_exact_spans_of_the_source(tmp_path):
    """Windows of 7 with 3 in common, over text with astral signs and line ends."""
    text = "가나 다라\r\nA😀B 𝔘 end of it\n" * 5
    asked = [{"question_id": "q", "question": text, "evidence": [{"source_id": "d"}]}]
    config = project(
        tmp_path,
        [{"source_id": "d", "text": text}],
        asked,
        chunk={"kind": "fixed", "size": 7, "overlap": 3},
        retrieve={"arms": {"bm25": {**BM25, "depth": 1000}}},
    )
    hits = finish(config).hits()
    places = sorted((h["spans"][0]["start_char"], h["spans"][0]["end_char"]) for h in hits)
    assert places == [
        (at, min(at + 7, len(text)))
        for at in range(0, len(text) - 3, 4)
        if text[at : at + 7].strip()
    ]
    for hit in hits:
        (span,) = hit["spans"]
        assert hit["text"] == text[span["start_char"] : span["end_char"]]


def test_the_shape_that_people_write_by_hand(tmp_path):
    """Issue 2's own: groups by `evidence_groups`, ids by order."""
    text = "alpha one. beta two. gamma three."
    question = {
        "question_id": "q",
        "question": "alpha beta gamma",
        "answerable": True,
        "reference_answer": "one",
        "evidence": [
            {"source_id": "d", "revision_id": "1", "page": 1, "start_char": 0, "end_char": 9},
            {"source_id": "d", "start_char": 11, "end_char": 19, "relevance": 2},
            {"source_id": "d", "start_char": 21, "end_char": 32, "relevance": 1},
        ],
        "evidence_groups": [{"group_id": "either", "alternatives": ["e1", "e2"]}],
        "required_aspects": ["either"],
        "slices": ["number_date"],
        "created_from": "expert",
        "label_version": "3",
    }
    documents = [{"source_id": "d", "revision_id": "1", "text": text}]
    run = finish(project(tmp_path, documents, [question], chunk={"kind": "fixed", "size": 11}))
    assert [(e["evidence_id"], e["group_id"], e["gold"]) for e in gold_of(run)] == [
        ("e1", "either", True),
        ("e2", "either", True),
        ("e3", "e3", False),
    ]
    (row,) = run.table("questions").to_dicts()
    assert {"number_date", "origin:expert", "answerable:true"} <= set(row["slices"])
    assert (row["reference_answer"], row["label_version"], row["cluster"]) == ("one", "3", "d")
    assert run.failure()["status"] == "success"


def test_three_columns_and_no_source(tmp_path):
    """`question, answer, quote`: alternatives at every place where the quote stands."""
    documents = [{"source_id": "a", "text": "Same words. Same words."},
                 {"source_id": "b", "text": "Other. Same words."}]  # fmt: skip
    config = project(tmp_path, documents, [], golden={"path": "golden.csv"},
                     retrieve={"arms": {"bm25": WORDS}})  # fmt: skip
    (tmp_path / "golden.csv").write_bytes(
        b'\xef\xbb\xbfquestion,answer,quote\r\nWhich words?,"the, same",Same words.\r\n'
    )
    run = finish(config)
    (row,) = run.table("questions").to_dicts()
    assert (row["question"], row["reference_answer"]) == ("Which words?", "the, same")
    places = [(e["source_id"], e["spans"][0]["start_char"]) for e in row["evidence"]]
    assert sorted(places) == [("a", 0), ("a", 12), ("b", 7)]
    assert len({e["group_id"] for e in row["evidence"]}) == 1
    assert run.value("recall@1", row["question_id"]) == 1


REVISIONS = [
    {"source_id": "d", "revision_id": "1", "valid_from": "2025-01-01", "text": "alpha old"},
    {"source_id": "d", "revision_id": "2", "valid_from": "2026-01-01", "text": "alpha new"},
    {"source_id": "gone", "revision_id": "1", "text": "alpha gone"},
    {"source_id": "gone", "deleted_at": "2026-06-01"},
    {"source_id": "hr", "text": "alpha hr", "access": ["hr", "legal"]},
]


@pytest.mark.parametrize(
    ("as_of", "revision", "there"),
    [
        ("2025-06-01", "1", {"d", "gone", "hr"}),
        ("2026-02-01T12:00:00+09:00", "2", {"d", "gone", "hr"}),
        ("2026-06-01", "2", {"d", "hr"}),
        (None, "2", {"d", "hr"}),
    ],
    ids=["before", "between", "deleted that day", "the newest"],
)
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "uri"])
def test_revisions_tombstones_and_access(tmp_path, kind, as_of, revision, there):
    """Without a revision_id gold is in the one valid at `as_of`; a filter leaves only these."""
    questions = [
        {"question_id": "q", "question": "alpha", "principals": ["legal"],
         "evidence": [{"source_id": "d"}]},
        {"question_id": "out", "question": "alpha", "evidence": [{"source_id": "d"}]},
    ]  # fmt: skip
    path = {
        "jsonl": "docs.jsonl",
        "parquet": "docs.parquet",
        "uri": (tmp_path / "docs.jsonl").as_uri(),
    }
    corpus = {"path": path[kind], "as_of": as_of}
    retrieve = {"filter": {"access": True, "current": True}, "arms": {"bm25": BM25}}
    config = project(tmp_path, REVISIONS, questions, corpus=corpus, retrieve=retrieve)
    times = {"valid_from": pa.timestamp("us", tz="UTC"), "deleted_at": pa.timestamp("s")}
    fields = ["source_id", "revision_id", "text"]
    schema = pa.schema([*((n, pa.string()) for n in fields), *times.items(),
                        ("access", pa.list_(pa.string()))])  # fmt: skip
    rows = [
        {n: datetime.fromisoformat(v).replace(tzinfo=UTC if n == "valid_from" else None)
         if n in times else v for n, v in row.items()}
        for row in REVISIONS
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / "docs.parquet")
    run = finish(config)
    assert gold_of(run)[0]["revision_id"] == revision
    assert set(run.sources("q")) == there
    assert set(run.sources("out")) == there - {"hr"}
    assert {h["revision_id"] for h in run.hits() if h["source_id"] == "d"} == {revision}


def test_a_folder_with_front_matter(tmp_path):
    """A source_id is the path below the folder with its extension, unless front matter names it."""
    files = {
        "leave.2025.md": "---\nsource_id: leave\nrevision_id: 2025\nvalid_from: 2025-01-01\n---\nOld.",
        "leave.2026.md": "---\nsource_id: leave\nrevision_id: 2026\nvalid_from: 2026-01-01\n"
        "access: [hr]\n---\nNew.",
        "a/b.txt": "Text.",
        "gone.md": "---\ndeleted_at: 2026-01-01\n---\n",
    }
    questions = [
        {"question_id": "q", "question": "new", "principals": ["hr"],
         "evidence": [{"source_id": "leave", "quote": "New."}]},
        {"question_id": "old", "question": "old",
         "evidence": [{"source_id": "leave", "revision_id": "2025", "quote": "Old."}]},
        {"question_id": "path", "question": "text", "evidence": [{"source_id": "a/b.txt"}]},
    ]  # fmt: skip
    config = project(tmp_path, files, questions, retrieve={"arms": {"bm25": WORDS}})
    said = command("validate", config, "--runs", tmp_path / "runs")
    assert said.json["problems"] == []
    run = finish(config)
    assert run.json["status"]["success"] == 3
    assert gold_of(run)[0]["revision_id"] == "2026"


@pytest.mark.parametrize("format_", ["md", "markdown", "txt", "text", "html", "htm"])
def test_formats_are_known_by_the_names_of_their_files(tmp_path, format_):
    documents = [{"source_id": "d", "format": format_, "text": "# alpha <b>beta</b>"}]
    asked = [{"question_id": "q", "question": "beta", "evidence": [{"source_id": "d"}]}]
    run = finish(project(tmp_path, documents, asked, retrieve={"arms": {"bm25": WORDS}}))
    text = "# alpha beta" if format_.startswith("htm") else "# alpha <b>beta</b>"
    assert [hit["text"] for hit in run.hits()] == [text]


TABLE = "# Codes\n\n| code | meaning |\n|------|---------|\n" + "".join(
    f"| E{n} | what went wrong {n} |\n" for n in range(9)
)


def table_run(tmp_path, **evidence):
    asked = {"question_id": "q", "question": "code meaning what went wrong",
             "evidence": [{"source_id": "t.md", "element_id": "table-1", **evidence}]}  # fmt: skip
    config = project(tmp_path, {"t.md": TABLE}, [asked], chunk={"kind": "structure", "size": 100},
                     retrieve={"arms": {"bm25": WORDS}}, context={"kind": "top_k", "depth": 20})  # fmt: skip
    return finish(config)


def test_no_chunk_cuts_a_row(tmp_path):
    rows = [line for line in TABLE.splitlines() if line.startswith("|")]
    for hit in table_run(tmp_path).hits():
        lines = [line for line in hit["text"].splitlines() if line.startswith("|")]
        assert set(lines) <= set(rows)


def test_a_row_group_holds_a_cell(tmp_path):
    run = table_run(tmp_path, cell="r5c2")
    assert (run.failure()["status"], run.value("recall@20")) == ("success", 1)
    (span,) = gold_of(run)[0]["spans"]
    assert TABLE[span["start_char"] : span["end_char"]] == "what went wrong 3"


def test_a_table_in_row_groups_is_whole_in_their_union(tmp_path):
    """No chunk holds it; all together do, so it is carried as split (§6)."""
    run = table_run(tmp_path)
    assert len(run.hits()) > 2
    assert (run.value("recall@20"), run.value("joint_recall@20")) == (0, 1)
    assert run.failure()["status"] == "success"
    assert [c["code"] for c in run.failure()["contributing"]] == ["CHUNK_GOLD_SPLIT"]


@pytest.mark.parametrize(
    ("need", "size", "found"),
    [("heading", 60, 1), ("heading", 9, 0), ("context", 60, 1), ("context", 9, 0)],
)
def test_short_gold_needs_its_surroundings(tmp_path, need, size, found):
    """`short_gold: {under: 12, need: heading | context}`."""
    text = "# Limits\n\nThe limit is 42 for all of us.\n"
    asked = {
        "question_id": "q",
        "question": "42",
        "evidence": [{"source_id": "d.md", "quote": "42"}],
    }
    config = project(
        tmp_path,
        {"d.md": text},
        [asked],
        chunk={"kind": "fixed", "size": size},
        retrieve={"arms": {"bm25": WORDS}},
    )
    rule = f"metrics.short_gold={{under: 12, need: {need}}}"
    assert finish(config, "--set", rule).value("recall@5") == found
    assert finish(config).value("recall@5") == 1
