"""`rayeval golden lint | anchor | split | stats` as their users type them."""

from __future__ import annotations

import csv
import json
import lzma
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rayeval.cli.main import run_command
from rayeval.golden.anchor import normal

HANDBOOK = Path(__file__).parents[2] / "rayeval" / "samples" / "handbook"
COMMANDS = ("lint", "anchor", "split", "stats")
Row = dict[str, Any]


def jsonl(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


@pytest.fixture
def ask(capsys) -> Callable[..., tuple[int, Any]]:
    """`rayeval golden … --json`: the exit code and the document."""

    def asked(*arguments: object) -> tuple[int, Any]:
        capsys.readouterr()
        code = run_command(["golden", *map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    assert run_command(["golden", command, "--help"]) == 0
    assert f"rayeval golden {command}" in capsys.readouterr().out.split("Example")[1]


def test_lint_finds_everything_at_once(tmp_path, ask):
    docs = jsonl(tmp_path / "docs.jsonl", [
        {"source_id": "a", "revision_id": "r1", "valid_from": "2025-01-01", "text": "Staff get 20 days."},
        {"source_id": "a", "revision_id": "r2", "valid_from": "2026-01-01", "text": "Staff get 25 days."},
        {"source_id": "b", "text": "A😀B. The canteen opens at 11:30."},
    ])  # fmt: skip
    golden = jsonl(tmp_path / "golden.jsonl", [
        {"question_id": "twin-1", "question": "How many days do staff get?", "split": "dev",
         "source_id": "a", "quote": "25 days"},
        {"question_id": "twin-2", "question": "how many days do staff get", "split": "test",
         "source_id": "a", "quote": "25 days"},
        {"question_id": "leak", "question": "is it so that the canteen opens at 11:30.",
         "source_id": "b", "quote": "The canteen opens at 11:30."},
        {"question_id": "old", "question": "days in 2025", "source_id": "a", "revision_id": "r1",
         "quote": "20 days"},
        {"question_id": "lost", "question": "x", "source_id": "b", "quote": "not there"},
        {"question_id": "utf-16", "question": "y", "source_id": "b", "start_char": 3, "end_char": 4,
         "quote": "B"},
        {"question_id": "made", "question": "z", "answerable": False, "created_from": "GPT wrote it",
         "origin": "expert"},
        {"question_id": "answered", "question": "when is lunch", "answerable": False,
         "reference_answer": "opens at 11:30"},
    ])  # fmt: skip
    code, found = ask("lint", golden, "--corpus", docs)
    assert code == 2
    kinds = {(row["question_id"], row["kind"]) for row in found["problems"]}
    assert kinds == {("lost", "quote_lost"), ("utf-16", "quote_mismatch")}
    said = next(row["message"] for row in found["problems"] if row["question_id"] == "utf-16")
    assert "UTF-16 units, which are the code points [2, 3)" in said
    doubts = {(row.get("question_id"), row["kind"]) for row in found["warnings"]}
    assert doubts - {(None, "too_few_questions")} == {
        ("twin-1", "near_duplicate"), ("twin-2", "near_duplicate"), ("leak", "gold_in_question"),
        ("old", "dead_revision"), ("made", "synthetic_unmarked"), ("answered", "answer_in_corpus"),
    }  # fmt: skip
    assert (None, "too_few_questions") in doubts
    assert all(row["file"] == str(golden) for row in found["warnings"])
    assert not (tmp_path / "runs").exists()


def test_lint_of_a_configuration_says_what_validate_says(tmp_path, ask):
    assert run_command(["init", str(tmp_path / "p")]) == 0
    config = tmp_path / "p" / "rayeval.yaml"
    code, found = ask("lint", config, "--runs", tmp_path / "runs", "--set", "metrics.full=7")
    assert code == 2
    assert [row["kind"] for row in found["problems"]] == ["invalid_configuration"]
    code, found = ask("lint", config, "--runs", tmp_path / "runs")
    assert (code, found["problems"]) == (0, [])


def test_lint_names_what_anchoring_cannot_settle(tmp_path, capsys):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("Ask HR first. Then go. Ask HR first. Come back.")
    golden = jsonl(tmp_path / "golden.jsonl", [
        {"question_id": "which", "question": "whom do I ask", "source_id": "leave.md",
         "start_char": 1, "end_char": 14, "quote": "Ask HR first."},
        {"question_id": "moved", "question": "and then", "source_id": "leave.md",
         "start_char": 1, "end_char": 9, "quote": "Then go."},
    ])  # fmt: skip
    about = [str(golden), "--corpus", str(docs)]

    def said(command, *more):
        assert run_command(["golden", command, *about, *more]) == 2
        return " ".join(capsys.readouterr().out.split())

    before = said("lint").partition("What to do next")[2]
    assert "for which; anchoring tells" in before and "quotes found again" in before
    assert "more of the text around it" in said("anchor", "--write")
    after = said("lint").partition("What to do next")[2]
    assert "for which; anchoring tells" in after and "quotes found again" not in after


def test_lint_in_the_terminal(capsys):
    golden = HANDBOOK / "golden.jsonl"
    assert run_command(["golden", "lint", str(golden), "--corpus", str(HANDBOOK / "docs")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "0 problems" in lines[-1]
    assert "What to do next" in lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["lint", "no.jsonl"], "there is no file", id="lint, no file"),
        pytest.param(["lint", "no.yaml", "--corpus", "x"], "--set corpus.path", id="two corpora"),
        pytest.param(["lint", "{golden}", "--set", "a=1"], "is a golden set", id="nothing to set"),
        pytest.param(["stats", "no.jsonl"], "there is no such file", id="stats, no file"),
        pytest.param(["anchor", "{golden}", "--corpus", "nowhere"], "no such file or folder", id="no corpus"),
        pytest.param(["anchor", "{golden}", "--corpus", "x", "--write", "--out", "y"], "keep one", id="twice"),
        pytest.param(["split", "{golden}", "--out", "{golden}.csv"], "ends in .jsonl", id="format"),
        pytest.param(["split", "{golden}", "--out", "{golden}", "--ratios", "train=1,train=2"], "not a new one",
                     id="a split twice"),
        pytest.param(["split", "{golden}", "--out", "{golden}", "--ratios", "train=nan"], "positive share",
                     id="no number"),
        pytest.param(["split", "{golden}", "--out", "{golden}", "--by", "time"], "has no `asked_at`", id="no time"),
        pytest.param(["split", "{golden}", "--out", "{golden}"], "names no source", id="no source"),
    ],
)  # fmt: skip
def test_bad_input_has_one_clear_message(tmp_path, capsys, arguments, said):
    golden = jsonl(tmp_path / "golden.jsonl", [{"question": "x", "quote": "y"}])
    before = golden.read_bytes()
    code = run_command(["golden", *(part.format(golden=golden) for part in arguments)])
    out = capsys.readouterr()
    assert code == 2
    assert said in " ".join((out.err + out.out).split())
    assert golden.read_bytes() == before


OLD = "# 휴가\r\n\r\nStaff get 20 days. 연차는 20일이다.\r\n\r\nAsk HR first. Ask HR first.\r\n"
ROWS = [
    {"question_id": "q1", "question": "a", "evidence": [{"source_id": "leave.md", "start_char": 8, "end_char": 26}]},
    {"question_id": "q2", "question": "b", "source_id": "leave.md", "quote": "연차는 20일이다."},
    {"question_id": "q3", "question": "c", "source_id": "leave.md", "start_char": 55, "end_char": 68, "quote": "Ask HR first."},
    {"question_id": "q4", "question": "d", "source_id": "leave.md"},
]  # fmt: skip


@pytest.fixture
def leave(tmp_path) -> Path:
    """A document of one folder, and a golden set about it with notes of what stands where."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_bytes(OLD.encode())
    golden = jsonl(tmp_path / "golden.jsonl", ROWS)
    assert (
        run_command(
            ["golden", "anchor", str(golden), "--corpus", str(tmp_path / "docs"), "--write"]
        )
        == 0
    )
    return tmp_path


def test_anchoring_what_did_not_change_changes_nothing(leave, ask):
    golden = leave / "golden.jsonl"
    before = golden.read_bytes()
    notes = (leave / "golden.anchors.jsonl").read_bytes()
    code, found = ask("anchor", golden, "--corpus", leave / "docs", "--write")
    assert code == 0
    assert found["counts"]["kept"] == 4
    assert found["changes"] == []
    assert golden.read_bytes() == before
    assert (leave / "golden.anchors.jsonl").read_bytes() == notes
    noted = [json.loads(line) for line in notes.decode().splitlines()]
    assert [row["question_id"] for row in noted] == ["q1", "q2", "q3", "q4"]
    assert (noted[0]["quote"], noted[0]["before"]) == ("Staff get 20 days.", "# 휴가\r\n\r\n")
    assert noted[2]["after"] == "\r\n"


def test_the_notes_follow_gold_through_a_change(leave, ask):
    golden, docs = leave / "golden.jsonl", leave / "docs"
    new = "# 휴가\n\nNew: read on.\n\nStaff get 20 days. 연차는 20일이다.\n\nAsk HR first. Ask HR first.\n"
    (docs / "leave.md").write_text(new)
    code, linted = ask("lint", golden, "--corpus", docs)
    assert code == 2
    assert {(r["question_id"], r["kind"]) for r in linted["problems"]} == {
        ("q1", "evidence_changed"), ("q3", "quote_ambiguous"),
    }  # fmt: skip
    before = golden.read_bytes()
    code, dry = ask("anchor", golden, "--corpus", docs)
    assert golden.read_bytes() == before
    code, found = ask("anchor", golden, "--corpus", docs, "--write")
    assert dry == found | {"written": None}
    status = {row["question_id"]: (row["status"], row["new"]) for row in found["changes"]}
    assert code == 0
    assert status == {"q1": ("moved", "Staff get 20 days."), "q3": ("moved", "Ask HR first.")}
    rows = [json.loads(line) for line in golden.read_text().splitlines()]
    assert [new[r["start_char"] : r["end_char"]] for r in (rows[0]["evidence"][0], rows[2])] == [
        "Staff get 20 days.", "Ask HR first.",
    ]  # fmt: skip
    assert rows[2]["start_char"] == new.rindex("Ask HR")  # the second of the two, as it was
    assert ask("lint", golden, "--corpus", docs)[1]["problems"] == []


def test_what_is_lost_or_ambiguous_stays_as_it_is_written(leave, ask):
    golden, docs = leave / "golden.jsonl", leave / "docs"
    (docs / "leave.md").write_text(
        "연차는 25일이다. So: Ask HR first! Or: Ask HR first? Ask HR first. Bye"
    )
    before = golden.read_text().splitlines()
    code, found = ask("anchor", golden, "--corpus", docs, "--write")
    assert code == 2
    assert {row["question_id"]: row["status"] for row in found["changes"]} == {
        "q1": "lost", "q2": "lost", "q3": "moved",
    }  # fmt: skip
    assert golden.read_text().splitlines()[:2] == before[:2]
    notes = [json.loads(line) for line in (leave / "golden.anchors.jsonl").read_text().splitlines()]
    assert notes[0]["quote"] == "Staff get 20 days."  # should it come back
    (docs / "leave.md").unlink()
    (docs / "other.md").write_text("x")
    code, found = ask("anchor", golden, "--corpus", docs)
    assert (code, found["counts"]["lost"]) == (2, 4)


@pytest.fixture
def changed(tmp_path) -> Path:
    """Documents of which one is gone, one says another number, and one took over a rule."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "library.md").write_text("# Loans\n\nThe loan period is 28 days, and then it ends.\n")
    (docs / "terms.md").write_text("# All\n\nNobody smokes in the reading  room, ever.\n\nBye.\n")
    (docs / "terms-of-pools.md").write_text("Swim.\n")
    jsonl(tmp_path / "golden.jsonl", [
        {"question_id": "days", "question": "how long", "reference_answer": "21 days",
         "source_id": "library.md", "quote": "The loan period is 21 days"},
        {"question_id": "smoke", "question": "may I smoke", "source_id": "terms-of-pool.md", "page": 2,
         "quote": "Nobody smokes in the reading room"},
        {"question_id": "gone", "question": "what else", "source_id": "terms-of-pool.md",
         "quote": "Quizzes happen quarterly"},
    ])  # fmt: skip
    return tmp_path


def test_lost_text_is_looked_for_and_listed_never_taken(changed, ask, capsys):
    golden, before = changed / "golden.jsonl", (changed / "golden.jsonl").read_bytes()
    code, found = ask("anchor", golden, "--corpus", changed / "docs", "--write")
    assert (code, found["counts"]["lost"]) == (2, 3)
    assert golden.read_bytes() == before
    rows = {row["question_id"]: row for row in found["changes"]}
    [near] = rows["days"]["suggested"]
    assert (near["source_id"], near["text"]) == ("library.md", "The loan period is 28 days")
    assert 0.9 < near["similarity"] < 1
    [near] = rows["smoke"]["suggested"]
    text = (changed / "docs" / "terms.md").read_text()
    assert (near["source_id"], near["similarity"]) == ("terms.md", 1.0)
    assert text[slice(*near["place"])] == near["text"] == "Nobody smokes in the reading  room"
    assert "did you mean" not in rows["smoke"]["message"]  # terms-of-pools.md has nothing of it
    assert rows["gone"]["suggested"] == []
    assert "nothing like it was found" in rows["gone"]["message"]
    assert run_command(["golden", "anchor", str(golden), "--corpus", str(changed / "docs")]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "~ word for word in terms.md [" in said and "--take QUESTION approves" in said


def test_a_suggestion_is_taken_where_somebody_approves_it(changed, ask):
    golden = changed / "golden.jsonl"
    about = ["anchor", golden, "--corpus", changed / "docs", "--write"]
    assert ask(*about, "--take", "gone")[0] == 2
    _, found = ask(*about, "--take-exact")
    assert (found["counts"]["moved"], found["counts"]["lost"]) == (1, 2)
    rows = [json.loads(line) for line in golden.read_text().splitlines()]
    assert rows[1] == {"question_id": "smoke", "question": "may I smoke", "source_id": "terms.md",
                       "quote": "Nobody smokes in the reading  room"}  # fmt: skip
    assert rows[0]["quote"] == "The loan period is 21 days"
    _, found = ask(*about, "--take", "days")
    [days] = [row for row in found["changes"] if row["question_id"] == "days"]
    assert days["message"].endswith("its reference_answer still says '21': is it right?")
    rows = [json.loads(line) for line in golden.read_text().splitlines()]
    assert rows[0]["quote"] == "The loan period is 28 days"
    _, found = ask("anchor", golden, "--corpus", changed / "docs")
    assert (found["counts"]["kept"], found["counts"]["lost"]) == (2, 1)


def test_text_in_several_documents_is_nobodys_to_choose(changed, ask):
    (changed / "docs" / "copy.md").write_text("Nobody smokes in the reading room.")
    about = ["anchor", changed / "golden.jsonl", "--corpus", changed / "docs"]
    _, found = ask(*about, "--take-exact")
    [smoke] = [row for row in found["changes"] if row["question_id"] == "smoke"]
    assert (smoke["status"], smoke["suggested"]) == ("lost", [])
    assert "word for word in copy.md, terms.md: name one" in smoke["message"]


def test_a_revision_that_is_gone_gives_way_to_the_valid_one(tmp_path, ask):
    old = jsonl(
        tmp_path / "old.jsonl", [{"source_id": "s", "revision_id": "r1", "text": "a: 5 days."}]
    )
    new = jsonl(
        tmp_path / "new.jsonl", [{"source_id": "s", "revision_id": "r2", "text": "a: 5 days."}]
    )
    golden = jsonl(tmp_path / "g.jsonl", [
        {"question_id": "q", "question": "x", "source_id": "s", "revision_id": "r1", "start_char": 3, "end_char": 9},
        {"question_id": "w", "question": "y", "source_id": "s", "revision_id": "r1", "quote": "5 days"},
    ])  # fmt: skip
    code, found = ask(
        "anchor", golden, "--corpus", new, "--was", old, "--out", tmp_path / "h.jsonl"
    )
    assert (code, found["counts"]["moved"]) == (0, 2)
    rows = [json.loads(line) for line in (tmp_path / "h.jsonl").read_text().splitlines()]
    assert [row["revision_id"] for row in rows] == ["r2", "r2"]
    assert "start_char" not in rows[1]
    assert ask("lint", tmp_path / "h.jsonl", "--corpus", new)[1]["problems"] == []


def test_split_keeps_groups_together_and_says_what_leaks(tmp_path, ask):
    golden, out = HANDBOOK / "golden.jsonl", tmp_path / "split.jsonl"
    code, found = ask("split", golden, "--out", out, "--corpus", HANDBOOK / "docs", "--seed", 3)
    assert code == 0
    assert found["leakage"]["sources"] == {"count": 0, "questions": 0, "examples": []}
    assert sum(part["questions"] for part in found["splits"].values()) == 310
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    olds = [json.loads(line) for line in golden.read_text().splitlines()]
    assert [{**row, "split": None} for row in rows] == [{**row, "split": None} for row in olds]
    jsonl(
        tmp_path / "more.jsonl",
        [{"question_id": "new", "question": "n", "answerable": False}, *reversed(olds)],
    )
    ask("split", tmp_path / "more.jsonl", "--out", out, "--corpus", HANDBOOK / "docs", "--seed", 3)
    more = {r["question_id"]: r["split"] for r in map(json.loads, out.read_text().splitlines())}
    assert all(more[row["question_id"]] == row["split"] for row in rows)


def test_stats(tmp_path, ask, capsys):
    golden = jsonl(tmp_path / "golden.jsonl", [
        {"question_id": "a", "question": "a", "language": "ko", "split": "dev", "slices": ["table"],
         "evidence": [{"source_id": "s", "quote": "x"}, {"source_id": "t", "start_char": 0, "end_char": 2}]},
        {"question_id": "b", "question": "b", "answerable": False},
    ])  # fmt: skip
    code, found = ask("stats", golden)
    assert code == 0
    assert found["questions"] == 2
    counts = found["counts"]
    assert counts["language"] == {"(none)": 1, "ko": 1}
    assert counts["answerable"] == {"false": 1, "true": 1}
    assert counts["evidence by"] == {"offsets": 1, "quote": 1}
    assert counts["groups"] == {"0": 1, "2": 1}
    assert counts["slice"] == {"table": 1}
    assert found["evidence"] == {"pieces": 2, "spans": 1}
    assert found["clusters"] == {"count": 2, "largest": "b", "questions": 1, "share": 0.5}
    assert found["slices"]["table"]["lacking"] == 149
    assert found["slices"]["table"]["detectable"] is None
    assert run_command(["golden", "stats", str(golden)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"table +1 +1 +too few +149", text)
    assert re.search(r"answerable:false +1 +1 +–", text)


@pytest.mark.parametrize("command", ["stats", "split"])
def test_tables_fit_the_terminal_whatever_a_slice_is_called(tmp_path, capsys, command):
    rows = [
        {"question": "x", "slices": ["\x1b[31m" + "long " * 40], "source_id": "[bold]" + "s" * 150}
    ]
    golden = jsonl(tmp_path / "golden.jsonl", rows)
    out = ["--out", str(tmp_path / "o.jsonl")] if command == "split" else []
    assert run_command(["golden", command, str(golden), *out]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 100


@pytest.mark.data
def test_covidqa_all_wrong_offsets_are_found_named_and_mended(shared_data, tmp_path, ask):
    articles = json.loads((shared_data("covidqa") / "200423_covidQA.json").read_text())["data"]
    docs, rows, wrong = [], [], set()
    for paragraph in (p for article in articles for p in article["paragraphs"]):
        source, text = f"doc-{paragraph['document_id']}", paragraph["context"]
        docs.append({"source_id": source, "text": text})
        for qa in paragraph["qas"]:
            [answer] = qa["answers"]
            start, quote = answer["answer_start"], answer["text"]
            rows.append({"question_id": str(qa["id"]), "question": qa["question"], "source_id": source,
                         "start_char": start, "end_char": start + len(quote), "quote": quote})  # fmt: skip
            wrong |= {str(qa["id"])} if text[start : start + len(quote)] != quote else set()
    assert len(wrong) == 234
    texts = {row["source_id"]: row["text"] for row in docs}
    corpus = jsonl(tmp_path / "docs.jsonl", docs)
    golden = jsonl(tmp_path / "golden.jsonl", rows)
    code, found = ask("lint", golden, "--corpus", corpus)
    assert code == 2
    twice = [row for row in found["problems"] if row["kind"] == "repeated_question"]
    assert len(twice) == 24  # asked of several papers, such as "What is the conclusion?"
    assert {row["question_id"] for row in found["problems"] if row not in twice} == wrong
    code, moved = ask("anchor", golden, "--corpus", corpus, "--write")
    unsure = {row["question_id"] for row in moved["changes"] if row["status"] == "ambiguous"}
    assert moved["counts"]["moved"] + len(unsure) == 234
    for row in map(json.loads, golden.read_text().splitlines()):
        there = texts[row["source_id"]][row["start_char"] : row["end_char"]]
        assert (there == row["quote"]) == (row["question_id"] not in unsure)


def site_policy(folder: Path, changes: int) -> dict[str, str]:
    """The documents after so many of the recorded changes."""
    with lzma.open(folder / "blobs.jsonl.xz", "rt") as lines:
        texts = {row["blob"]: row["text"] for row in map(json.loads, lines)}
    tree: dict[str, str] = {}
    with (folder / "revisions.tsv").open(newline="") as file:
        for row in list(csv.DictReader(file, delimiter="\t"))[:changes]:
            tree.pop(row["old_path"] or row["path"], None)
            if row["status"] != "D":
                tree[row["path"]] = texts[row["blob"]]
    return tree


@pytest.mark.data
def test_real_documents_through_real_changes(shared_data, tmp_path, ask):
    folder = shared_data("versions_site_policy")
    old, new = site_policy(folder, 900), site_policy(folder, 1181)
    for name, tree in (("old", old), ("new", new)):
        rows = [{"source_id": path, "text": text} for path, text in sorted(tree.items())]
        jsonl(tmp_path / f"{name}.jsonl", rows)
    golden = jsonl(tmp_path / "golden.jsonl", [
        {"question_id": f"{path}@{start}", "question": f"q {path} {start}", "source_id": path,
         "start_char": start, "end_char": start + 60}
        for path, text in sorted(old.items()) for start in range(50, len(text) - 60, 2503)
    ])  # fmt: skip
    shutil.copy(golden, tmp_path / "before.jsonl")
    arguments = (
        "anchor",
        golden,
        "--corpus",
        tmp_path / "new.jsonl",
        "--was",
        tmp_path / "old.jsonl",
    )
    code, found = ask(*arguments, "--write")
    assert code == 2  # some documents are gone
    before = [json.loads(line) for line in (tmp_path / "before.jsonl").read_text().splitlines()]
    after = [json.loads(line) for line in golden.read_text().splitlines()]
    changes = {row["question_id"]: row for row in found["changes"]}
    assert found["counts"]["moved"] > 100
    for was, now in zip(before, after, strict=True):
        quote = old[was["source_id"]][was["start_char"] : was["end_char"]]
        there = new.get(was["source_id"], "")
        status = changes.get(was["question_id"], {"status": "kept"})["status"]
        if status in ("lost", "ambiguous"):
            assert now == was
            assert status == "ambiguous" or normal(quote) not in normal(there)
        else:
            assert normal(there[now["start_char"] : now["end_char"]]) == normal(quote)
            assert status == "normalised" or there[now["start_char"] : now["end_char"]] == quote


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param(["runs", "list", "--runs", "nope"], "no folder nope", id="runs list"),
        pytest.param(["view", "--runs", "nope"], "no folder nope", id="view"),
        pytest.param(
            ["golden", "split", "g.jsonl", "--out", "h.jsonl", "--ratios", "train=1e308,test=1e308"],
            "add up to more than any number", id="ratios without a sum",
        ),
        pytest.param(
            ["score", "--golden", "q.txt", "--trace", "r.txt", "--convention", "trec", "--metrics", "map", "--cutoffs", "x"],
            "'x' is no cutoff", id="a cutoff beside names",
        ),
    ],
)  # fmt: skip
def test_what_was_passed_over_is_said(tmp_path, monkeypatch, capsys, command, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.jsonl").write_text('{"question_id": "q", "question": "?", "source_id": "d"}\n')
    (tmp_path / "q.txt").write_text("1 0 d 1\n")
    (tmp_path / "r.txt").write_text("1 Q0 d 1 1.0 x\n")
    assert run_command(command) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "h.jsonl").exists()
