"""`golden add`, `golden label` and `golden ledger` as a user types them, at a terminal and without."""

import csv
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rayeval.cli.main import run_command
from rayeval.execution.runs import load
from rayeval.golden.ledger import Entry, reveal


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> Path:
    """What `rayeval init` writes, with small chunks, run once."""
    folder = tmp_path_factory.mktemp("started") / "project"
    assert run_command(["init", str(folder)]) == 0
    sets = ["--set", "chunk.size=120", "--set", "metrics.cutoffs=[3]"]
    runs = ["--runs", str(folder / "runs")]
    assert run_command(["run", str(folder / "rayeval.yaml"), *sets, *runs]) == 0
    return folder


@pytest.fixture
def golden(started, tmp_path) -> Path:
    path = tmp_path / "golden.jsonl"
    path.write_bytes((started / "golden.jsonl").read_bytes())
    return path


@pytest.fixture
def run(started) -> str:
    return next(str(p) for p in (started / "runs").iterdir() if p.name != ".store")


def add(golden, started, *arguments):
    store = str(started / "runs" / ".store")
    corpus = str(started / "docs")
    return run_command(
        ["golden", "add", str(golden), "--corpus", corpus, "--store", store, *arguments]
    )


ASKED = ["--question", "When is a certificate needed?"]
QUOTE = "A certificate is needed from the fourth day on."


@pytest.mark.parametrize("command", ["add", "label", "ledger"])
def test_help_has_an_example(command, capsys):
    assert run_command(["golden", command, "--help"]) == 0
    assert f"rayeval golden {command}" in capsys.readouterr().out.split("Example")[1]


def test_add_by_flags_locates_the_quote(started, golden, capsys):
    before = golden.read_bytes()
    flags = ["--answer", "From the fourth day.", "--slice", "number_date", "--split", "regression"]
    assert add(golden, started, *ASKED, "--quote", QUOTE, *flags, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    after = golden.read_bytes()
    assert after.startswith(before)
    row = json.loads(after[len(before) :])
    assert row == found["row"]
    assert row["evidence"] == [{"source_id": "leave.md", "quote": QUOTE}]
    assert (row["origin"], row["split"], row["slices"]) == ("report", "regression", ["number_date"])
    [place] = found["places"]
    text = (started / "docs" / "leave.md").read_text()
    assert text[place["start_char"] : place["end_char"]] == QUOTE
    assert run_command(["validate", str(started / "rayeval.yaml"), "--runs", str(started / "runs"),
                        "--set", f"golden.path={golden}"]) == 0  # fmt: skip


def test_add_writes_the_source_s_own_text(started, golden, capsys):
    quote = "requested in the   people portal and approved"
    assert add(golden, started, *ASKED, "--quote", quote, "--json") == 0
    [evidence] = json.loads(capsys.readouterr().out)["row"]["evidence"]
    assert evidence["quote"] == "requested in the people portal and\napproved"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(["--quote", "dayz"], "quote_lost", id="a quote that stands nowhere"),
        pytest.param(["--quote", "days"], "stands at 2 places: 'leave.md' [", id="at two places"),
        pytest.param(["--quote", "days", "--source", "leave.md"], "more of the text", id="in a source"),
        pytest.param(["--quote", QUOTE, "--source", "leav.md"], "mean 'leave.md'", id="another source"),
        pytest.param(["--quote", "a", "--source", "b", "--source", "c"], "one for each", id="pairs"),
        pytest.param([], "--unanswerable", id="no quote"),
        pytest.param(["--quote", "a", "--unanswerable"], "is answerable", id="both"),
        pytest.param(["--unanswerable", "--split", "tset"], "unknown_split", id="a split"),
        pytest.param(["--unanswerable", "--slice", "split:dev"], "reserved_slice", id="a slice"),
        pytest.param(["--unanswerable", "--id", "parking"], ":4 is the question", id="an id twice"),
    ],
)  # fmt: skip
def test_what_add_refuses_is_not_written(started, golden, flags, said, capsys):
    before = golden.read_bytes()
    assert add(golden, started, *ASKED, *flags) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert golden.read_bytes() == before


def test_add_says_what_is_nearly_the_same_and_gives_ids_of_its_own(started, golden, capsys):
    ids = set()
    for _ in range(3):
        asked = [
            "--question",
            "Where can I park my bicycles?",
            "--unanswerable",
            "--json",
            "--force",
        ]
        assert add(golden, started, *asked) == 0
        found = json.loads(capsys.readouterr().out)
        ids.add(found["row"]["question_id"])
    assert len(ids) == 3
    assert {"parking"} < {row["question_id"] for row in found["near"]}


@pytest.mark.parametrize(
    "asked", ["Where can I park my bicycle", "  where can I PARK my bicycle? "]
)
def test_a_question_that_is_there_needs_force(started, golden, asked, capsys):
    before = golden.read_bytes()
    assert add(golden, started, "--question", asked, "--unanswerable") == 2
    assert "there already, as parking; nothing was added" in " ".join(
        capsys.readouterr().err.split()
    )
    assert golden.read_bytes() == before
    assert add(golden, started, "--question", asked, "--unanswerable", "--force") == 0


@pytest.mark.parametrize(("key", "added"), [("y", 1), ("n", 0)])
def test_a_question_that_is_there_needs_a_yes_at_a_terminal(golden, key, added):
    question = json.loads(golden.read_text().splitlines()[0])["question"]
    before = len(golden.read_text().splitlines())
    terminal = Terminal("golden", "add", str(golden), "--question", question, "--unanswerable")
    terminal.until("Add it again?")
    terminal.type(f"{key}\n")
    terminal.until("Added" if added else "nothing was added")
    assert terminal.end() == (0 if added else 2)
    assert len(golden.read_text().splitlines()) == before + added


def test_add_to_a_set_with_problems_changes_nothing(started, golden, capsys):
    golden.write_bytes(golden.read_bytes() + b"{not json\n")
    before = golden.read_bytes()
    assert add(golden, started, *ASKED, "--unanswerable") == 2
    assert "golden.jsonl:5" in " ".join(capsys.readouterr().err.split())
    assert golden.read_bytes() == before


def test_label_by_sheet_and_batch(run, golden, tmp_path, capsys):
    sheet = tmp_path / "hits.csv"
    common = ["golden", "label", run, "--golden", str(golden), "--stage", "bm25", "--k", "3"]
    before = golden.read_bytes()
    assert run_command([*common, "--sheet", str(sheet), "--json"]) == 0
    left = json.loads(capsys.readouterr().out)["left"]
    assert golden.read_bytes() == before
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == left > 2
    assert not {name for name in rows[0] if "rank" in name or "run" in name}
    rows[0] |= {"grade": "3", "group": "new:both"}
    rows[1] |= {"grade": "2", "group": "new:both"} if same_question(rows) else {"grade": "0"}
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert run_command([*common, "--batch", str(sheet), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["grade"] for one in found["graded"]] == [3, int(rows[1]["grade"])]
    assert found["left"] <= left - 2
    assert found["metrics"]["judged@3"]["after"] > found["metrics"]["judged@3"]["before"]
    assert set(found["questions"]) == {rows[0]["question_id"], rows[1]["question_id"]}
    after = golden.read_bytes()
    assert run_command([*common, "--batch", str(sheet)]) == 0
    assert "2 grades" in " ".join(capsys.readouterr().err.split())
    assert golden.read_bytes() == after


def same_question(rows):
    return rows[0]["question_id"] == rows[1]["question_id"]


def test_every_wrong_grade_is_said_at_once_and_nothing_written(run, golden, tmp_path, capsys):
    hit = load(run).trace.filter(load(run).trace["question_id"] == "carry-over")
    chunk = hit.filter(hit["stage"] == "bm25")["hits"][0][1]["chunk_id"]
    batch = tmp_path / "grades.jsonl"
    rows = [{"question_id": "carry-over", "chunk_id": chunk, "grade": 0},
            {"question_id": "carry-over", "chunk_id": chunk, "grade": 1},
            {"question_id": "nobody", "chunk_id": chunk, "grade": 1},
            {"question_id": "carry-over", "chunk_id": "no", "grade": 1},
            {"question_id": "carry-over", "chunk_id": chunk, "grade": 4},
            {"question_id": "carry-over", "chunk_id": chunk, "grade": 2, "group": "e7"},
            {"question_id": "carry-over", "chunk_id": chunk, "grade": None}]  # fmt: skip
    batch.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before = golden.read_bytes()
    assert (
        run_command(["golden", "label", run, "--golden", str(golden), "--batch", str(batch)]) == 2
    )
    said = capsys.readouterr().err
    assert re.findall(r"grades\.jsonl:(\d)", said) == ["2", "3", "4", "5", "6"]
    assert golden.read_bytes() == before


def test_label_without_a_terminal_says_what_to_do(run, golden, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run_command(["golden", "label", run, "--golden", str(golden)]) == 2
    assert "--sheet OUT.csv" in " ".join(capsys.readouterr().err.split())


def test_the_ledger_is_listed_and_shown(started, golden, tmp_path, capsys):
    assert run_command(["golden", "ledger", str(golden)]) == 0
    assert "No comparison" in capsys.readouterr().out
    reveal(
        str(golden), Entry("r1", "r2", {"chunk.size": [400, 300]}, "smaller\x1b[31m", "지수", "t")
    )
    assert run_command(["golden", "ledger", str(golden)]) == 0
    text = capsys.readouterr().out
    assert "1 comparison" in text and "r1 → r2" in text and "400 → 300" in text and "지수" in text
    assert "\x1b" not in text
    assert run_command(["golden", "ledger", str(golden), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"][0]["run"] == "r2"


def test_show_says_how_often_the_test_split_was_looked_at(started, golden, tmp_path, capsys):
    runs = ["--runs", str(tmp_path / "runs")]
    rows = [{**json.loads(line), "split": "test"} for line in golden.read_text().splitlines()]
    golden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = [str(started / "rayeval.yaml"), "--set", f"golden.path={golden}"]
    assert run_command(["run", *config, "--set", "golden.splits=[test]", *runs, "--json"]) == 0
    run_id = json.loads(capsys.readouterr().out)["run_id"]
    assert run_command(["show", run_id, *runs]) == 0
    assert "0 comparisons on it in the ledger" in capsys.readouterr().out
    reveal(str(golden), Entry("r1", "r2"))
    assert run_command(["show", run_id, *runs]) == 0
    assert "1 comparison on it in the ledger" in capsys.readouterr().out


class Terminal:
    """A command at a pseudo-terminal."""

    def __init__(self, *arguments: str) -> None:
        self.screen, side = pty.openpty()
        command = [sys.executable, "-m", "rayeval", *arguments]
        self.process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, close_fds=True,
                                        start_new_session=True)  # fmt: skip
        os.close(side)
        self.seen = ""

    def until(self, words: str) -> str:
        """Reads on until `words` appear; what came before them."""
        while words not in self.seen:
            ready, _, _ = select.select([self.screen], [], [], 180)
            assert ready, f"waiting for {words!r}, seen {self.seen!r}"
            try:
                data = os.read(self.screen, 65536)
            except OSError:  # the other side is closed
                data = b""
            assert data, f"ended before {words!r}: {self.seen!r}"
            self.seen += data.decode(errors="replace")
        before, _, self.seen = self.seen.partition(words)
        return before

    def type(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def end(self) -> int:
        code = self.process.wait(60)
        os.close(self.screen)
        return code


def test_add_at_a_terminal_asks_again_for_a_lost_quote(started, golden):
    store = str(started / "runs" / ".store")
    terminal = Terminal(
        "golden", "add", str(golden), "--corpus", str(started / "docs"), "--store", store
    )
    terminal.until("Question")
    terminal.type("언제 진단서가 필요해요?\n")
    terminal.until("answer it?")
    terminal.type("y\n")
    terminal.until("Answer")
    terminal.type("\n")
    terminal.until("Quote")
    terminal.type("dayz\n")
    terminal.until("source")
    terminal.type("\n")
    terminal.until("quote_lost")
    terminal.until("Quote")
    terminal.type(QUOTE + "\n")
    terminal.until("source")
    terminal.type("leave.md\n")
    terminal.until("▶A certificate is needed")
    terminal.until("no more")
    terminal.type("\n")
    terminal.until("Slices")
    terminal.type("number_date, hr\n")
    terminal.until("Add it?")
    terminal.type("\n")
    terminal.until("Added")
    assert terminal.end() == 0
    row = json.loads(golden.read_text().splitlines()[-1])
    assert row["question"] == "언제 진단서가 필요해요?"
    assert row["slices"] == ["number_date", "hr"]
    assert row["evidence"] == [{"source_id": "leave.md", "quote": QUOTE}]


def test_label_at_a_terminal_survives_a_kill(run, golden):
    """Grades, a group, an undo; then the process is killed, and nothing that was graded is lost."""
    arguments = ["golden", "label", run, "--golden", str(golden), "--stage", "bm25", "--k", "3"]
    before = golden.read_text()
    terminal = Terminal(*arguments)
    terminal.until("[1 of ")
    total = int(terminal.until("]"))
    shown = terminal.until("q quit")
    assert "rank" not in shown and "other run" not in shown
    terminal.type("x3")  # x is no key
    terminal.until("Which fact")
    terminal.until("same as e1")
    terminal.type("1")
    terminal.until("fact e1, written")
    terminal.until("judged@3")  # figures at once, of what is graded
    terminal.until("mean:")
    terminal.until("q quit")
    assert golden.read_text() != before
    terminal.type("u")
    terminal.until(f"[1 of {total}]")
    terminal.until("q quit")
    assert [json.loads(a) for a in golden.read_text().splitlines()] == [
        json.loads(b) for b in before.splitlines()
    ]
    terminal.type("0")
    terminal.until("grade 0, written")
    terminal.until("mean:")
    terminal.until("q quit")
    os.kill(terminal.process.pid, signal.SIGKILL)
    assert terminal.end() == -signal.SIGKILL
    rows = [json.loads(line) for line in golden.read_text().splitlines()]
    assert [
        e["relevance"] for row in rows for e in row.get("evidence", []) if "relevance" in e
    ] == [0]
    again = Terminal(*arguments)
    again.until(f"[1 of {total - 1}]")
    again.until("q quit")
    again.type("s")
    again.until(f"[2 of {total - 1}]")
    again.until("q quit")
    os.kill(again.process.pid, signal.SIGINT)  # what Ctrl-C does
    again.until("Nothing was graded")
    assert again.end() == 0
