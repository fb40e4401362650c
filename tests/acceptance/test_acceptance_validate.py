"""`validate` (DESIGN §12, issue 2): all problems at once, each with its file, line and question."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from acceptance_project import command, finish, project

DOCUMENTS = [
    {"source_id": "a", "revision_id": "r1", "text": "alpha beta gamma. Same words. Same words."},
    {"source_id": "b", "text": "A😀B"},
]


def of(evidence: dict | list, **more) -> dict:
    listed = evidence if isinstance(evidence, list) else [evidence]
    return {"question": "x", "evidence": listed, **more}


FINE = {
    "fine": of({"source_id": "a", "start_char": 0, "end_char": 5, "quote": "alpha"}),
    "fine-by-code-points": of({"source_id": "b", "start_char": 2, "end_char": 3, "quote": "B"}),
    "fine-negative": of({"source_id": "a", "relevance": 1}, answerable=False),
    "fine-none": {"question": "x", "answerable": False},
}
WRONG = {
    "outside": of({"source_id": "a", "start_char": 5, "end_char": 500}),
    "mismatch": of({"source_id": "a", "start_char": 0, "end_char": 5, "quote": "gamma"}),
    "utf-16": of({"source_id": "b", "start_char": 3, "end_char": 4, "quote": "B"}),
    "ambiguous": of({"source_id": "a", "quote": "Same words."}),
    "lost": of({"source_id": "a", "quote": "not there"}),
    "lost-anywhere": of({"quote": "not there"}),
    "source": of({"source_id": "zz", "quote": "alpha"}),
    "revision": of({"source_id": "a", "revision_id": "r9"}),
    "empty": of({"source_id": "a", "start_char": 5, "end_char": 5}),
    "inverted": of({"source_id": "a", "start_char": 9, "end_char": 5}),
    "unanswerable": of({"source_id": "a"}, answerable=False),
    "without": {"question": "x"},
    "without-gold": of({"source_id": "a", "relevance": 0}),
    "four": of({"source_id": "a", "relevance": 4}),
    "minus": of({"source_id": "a", "relevance": -1}),
}


def found(config: Path) -> list[dict]:
    said = command("validate", config, "--runs", config.parent / "runs")
    assert said.code == (2 if said.json["problems"] else 0)
    assert set(said.json) == {"problems", "warnings"}
    for problem in said.json["problems"]:
        assert problem["kind"]
        assert problem["message"]
    return said.json["problems"]


def write_jsonl(folder: Path, rows: list[dict]) -> str:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (folder / "golden.jsonl").write_text("".join(lines))
    return "golden.jsonl"


def write_parquet(folder: Path, rows: list[dict]) -> str:
    pq.write_table(pa.Table.from_pylist(padded(rows)), folder / "golden.parquet")
    return "golden.parquet"


def write_csv(folder: Path, rows: list[dict]) -> str:
    names = ["question_id", "question", "answerable", "evidence"]
    with (folder / "golden.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            cells = {"answerable": json.dumps(row.get("answerable", True))}
            if "evidence" in row:
                cells["evidence"] = json.dumps(row["evidence"], ensure_ascii=False)
            writer.writerow({"question_id": row["question_id"], "question": "x", **cells})
    return "golden.csv"


def padded(rows: list[dict]) -> list[dict]:
    """The same fields in every row and every piece of evidence, null where it says nothing."""
    fields = dict.fromkeys(
        ("source_id", "revision_id", "start_char", "end_char", "quote", "relevance")
    )
    return [
        {
            "answerable": None,
            **row,
            "evidence": [{**fields, **one} for one in row.get("evidence", [])] or None,
        }
        for row in rows
    ]


@pytest.mark.parametrize(
    ("write", "first"),
    [
        pytest.param(write_jsonl, 1, id="JSON Lines"),
        pytest.param(write_csv, 2, id="CSV"),
        pytest.param(write_parquet, 1, id="Parquet"),
    ],
)
def test_every_wrong_row_is_named_and_no_other(tmp_path, write, first):
    """first: the line of the first record (of a Parquet file, its row)."""
    rows = [{"question_id": name, **row} for name, row in {**FINE, **WRONG}.items()]
    rows.append({"question_id": "fine", **FINE["fine"]})  # an id that was there before
    name = write(tmp_path, rows)
    problems = found(project(tmp_path, DOCUMENTS, rows, golden={"path": name}))
    want = {(n, row["question_id"]) for n, row in enumerate(rows, first)}
    want -= {(n, name) for n, name in enumerate(FINE, first)}
    assert {(p["line"], p["question_id"]) for p in problems} == want
    assert {Path(p["file"]).name for p in problems} == {name}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"evidance": []}, "'evidence'"),
        ({"evidence": [{"source_id": "a", "relevence": 3}]}, "'relevance'"),
        ({"evidence_group": []}, "'evidence_groups'"),
        (
            {"evidence_groups": [{"group_id": "g", "alternative": []}]},
            "'alternatives'",
        ),
        ({"spilt": "dev"}, "'split'"),
    ],
    ids=["of a question", "of evidence", "singular", "of a group", "transposed"],
)
def test_unknown_fields_with_the_nearest_known_name(tmp_path, row, said):
    rows = [{"question_id": "q", "question": "x", "evidence": [{"source_id": "a"}], **row}]
    problems = found(project(tmp_path, DOCUMENTS, rows))
    assert {(p["line"], p["question_id"]) for p in problems} == {(1, "q")}
    assert any(said in p["message"] for p in problems)


@pytest.mark.parametrize(
    "line",
    [
        b'{"question_id": "bad", "question": "\xff\xfe", "answerable": false}',
        b'{"question_id": "bad", "question": "\\ud83d", "answerable": false}',
        b'{"question_id": "bad", "question": "half a recor',
    ],
    ids=["not UTF-8", "lone surrogate", "not JSON"],
)
def test_a_line_that_cannot_be_read_still_says_whose_it_is(tmp_path, line):
    config = project(tmp_path, DOCUMENTS, [])
    good = json.dumps({"question_id": "fine", **FINE["fine"]}).encode()
    (tmp_path / "golden.jsonl").write_bytes(b"\n".join([good, line, good.replace(b"fine", b"ok")]))
    assert [(p["line"], p["question_id"]) for p in found(config)] == [(2, "bad")]


@pytest.mark.parametrize(
    "record",
    [b"bad,\xff,alpha,", b'bad,"two\nlines \xff",alpha,', b'bad,x,,"[{""quote"": ""\\ud83d""}]"'],
    ids=["not UTF-8", "on the record's second line", "lone surrogate in a JSON cell"],
)
def test_a_csv_record_that_cannot_be_read_still_says_whose_it_is(tmp_path, record):
    config = project(tmp_path, DOCUMENTS, [], golden={"path": "golden.csv"})
    head = b"question_id,question,quote,evidence\nfine,x,alpha,\n"
    (tmp_path / "golden.csv").write_bytes(head + record + b"\nok,x,beta,\n")
    assert [p["question_id"] for p in found(config)] == ["bad"]


def test_documents_questions_and_configuration_at_once(tmp_path):
    """One thing wrong hides no other (§12: "every problem … at once")."""
    documents = [*DOCUMENTS, {"source_id": "c", "txt": "?"}, {**DOCUMENTS[0], "text": "again"}]
    questions = [{"question_id": "lost", **WRONG["lost"]}]
    config = project(
        tmp_path,
        documents,
        questions,
        chunk={"kind": "fixed", "sise": 100},
        fuse={"kind": "rrf", "weights": {"bm52": 2}},
    )
    places = {(Path(p["file"]).name, p.get("line"), p.get("question_id")) for p in found(config)}
    assert places == {
        ("rayeval.yaml", None, None),
        ("docs.jsonl", 3, None),
        ("docs.jsonl", 4, None),
        ("golden.jsonl", 1, "lost"),
    }


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("fuse={kind: rrf, weights: {bm52: 2}}", "bm25"),
        ("retrieve.arms.bm25.depht=3", "depth"),
        ("rerank={kind: cross_encoder, model: ./none}", "no model folder"),
        ("golden.splits=[dev]", "splits ['dev']"),
        ("golden.path=none.jsonl", "none.jsonl"),
        ("corpus.path=empty", "the folder has no file"),
        ("corpus.path=none", "no such file"),
        ("corpus.path='abc://none'", "abc://none"),
        ("metrics.names=[recal@5]", "recall@5"),
    ],
)
def test_what_is_wrong_with_a_configuration(tmp_path, override, said):
    """`validate` says it, and `run` ends with exit code 2 and leaves no run."""
    (tmp_path / "empty").mkdir()
    config = project(tmp_path, DOCUMENTS, [{"question_id": "fine", **FINE["fine"]}])
    runs = tmp_path / "runs"
    seen = command("validate", config, "--runs", runs, "--set", override)
    assert seen.code == 2
    assert any(said in problem["message"] for problem in seen.json["problems"])
    done = command("run", config, "--runs", runs, "--set", override)
    assert done.code == done.json["error"]["exit_code"] == 2
    assert said in done.json["error"]["message"]
    assert "Traceback" not in done.err
    assert [p.name for p in runs.iterdir()] in ([], [".store"])


def test_models_that_are_not_there_are_all_named(tmp_path):
    config = project(
        tmp_path,
        DOCUMENTS,
        [{"question_id": "fine", **FINE["fine"]}],
        retrieve={
            "arms": {
                "dense": {
                    "kind": "dense",
                    "embedder": {"kind": "sentence_transformers", "model": "./one"},
                }
            }
        },
        rerank={"kind": "cross_encoder", "model": "./two"},
    )
    messages = [p["message"] for p in found(config)]
    assert len(messages) == 2
    assert any("/one" in m for m in messages)
    assert any("/two" in m for m in messages)


def test_every_row_is_checked_whatever_splits_selects(tmp_path):
    rows = [
        {"question_id": "dev", "split": "dev", **FINE["fine"]},
        {"question_id": "test", "split": "test", **WRONG["lost"]},
    ]
    golden = {"path": "golden.jsonl", "splits": ["dev"]}
    config = project(tmp_path, DOCUMENTS, rows, golden=golden)
    assert [p["question_id"] for p in found(config)] == ["test"]


def test_an_unknown_origin_is_a_warning(tmp_path):
    rows = [
        {"question_id": "log", "created_from": "log: chat", **FINE["fine"]},
        {"question_id": "odd", "created_from": "somebody", **FINE["fine"]},
    ]
    config = project(tmp_path, DOCUMENTS, rows)
    said = command("validate", config, "--runs", tmp_path / "runs")
    assert (said.code, said.json["problems"]) == (0, [])
    assert [(w["line"], w["question_id"]) for w in said.json["warnings"]] == [(2, "odd")]
    run = finish(config)
    origins = dict(run.table("questions").select("question_id", "origin").iter_rows())
    assert origins == {"log": "log", "odd": "unknown"}
    assert "odd" in run.said.err
