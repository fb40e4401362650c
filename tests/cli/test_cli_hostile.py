"""Names and texts that a terminal, a markup language or an encoding would take for its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rayeval.cli.main import run_command

COMMAND = [sys.executable, "-c", "from rayeval.cli.main import main; main()"]
HOSTILE = "[/nope] [bold]x[/] \x1b[31mred\x07 <script>alert(1)</script> | \"' {{7*7}} \r\n\t\x00 \u2028 한"
CONFIG = {
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "docs"},
    "chunk": {"kind": "fixed", "size": 400},
    "retrieve": {"arms": {"bm25": {"kind": "bm25", "depth": 1}}},
    "metrics": {"cutoffs": [1]},
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A finished run whose every name is hostile; one question fails, one has no answer."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.txt").write_text("The desk is open. " + HOSTILE)
    (folder / "docs" / "b.txt").write_text("zebra " + HOSTILE)
    gold = [{"source_id": "a.txt", "quote": "The desk is open."}]
    rows = [
        {"question_id": HOSTILE + "1", "question": "zebra " + HOSTILE, "evidence": gold,
         "slices": [HOSTILE, "[/x]"], "language": HOSTILE, "reference_answer": HOSTILE},
        {"question_id": HOSTILE + "2", "question": HOSTILE, "answerable": False},
        {"question_id": "lost", "question": "x", "evidence": [{"source_id": HOSTILE}]},
    ]  # fmt: skip
    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rayeval.yaml").write_text(yaml.safe_dump(CONFIG))
    command = ["run", str(folder / "rayeval.yaml"), "--runs", str(folder / "runs")]
    assert run_command(command) == 0
    return next(p for p in (folder / "runs").iterdir() if p.name != ".store")


def obeyed(text: str) -> set[str]:
    """Control characters that a terminal would act on."""
    return {c for c in text if (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0) and c != "\n"}


@pytest.mark.parametrize("question", [None, HOSTILE + "1", HOSTILE + "2", "lost"])
def test_show_writes_names_as_they_are(hostile, question, capsys):
    named = [] if question is None else [question]
    assert run_command(["show", "--", str(hostile), *named]) == 0
    text = capsys.readouterr().out
    assert "[/nope] [bold]x[/]" in text.replace("\n", " ")
    assert obeyed(text) == set()
    assert run_command(["show", "--json", "--", str(hostile), *named]) == 0
    assert HOSTILE in json.dumps(json.loads(capsys.readouterr().out), ensure_ascii=False).replace(
        json.dumps(HOSTILE, ensure_ascii=False)[1:-1], HOSTILE
    )


def test_validate_writes_names_as_they_are(hostile, capsys):
    config = str(hostile.parent.parent / "rayeval.yaml")
    assert run_command(["validate", config, "--runs", str(hostile.parent)]) == 2
    text = capsys.readouterr().out
    assert "unknown_source" in text
    assert obeyed(text) == set()


def test_reports_hold_names_without_obeying_them(hostile):
    page = (hostile / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    text = (hostile / "summary.md").read_text()
    assert "<script>" not in text
    assert "&lt;script>alert(1)" in text
    rows = text.splitlines()
    assert [row for row in rows if row and row[0] not in "#|-SM3"] == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "euc-kr", "utf-8"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_any_encoding_of_the_terminal_will_do(hostile, encoding, more):
    done = subprocess.run(
        [*COMMAND, "show", *more, "--", str(hostile), HOSTILE[:0] + "lost"],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    if more:
        assert json.loads(done.stdout.decode(encoding))["question_id"] == "lost"


def test_an_argument_that_is_no_text_is_an_error_in_json_too():
    done = subprocess.run(
        [*COMMAND, "run", b"\xff.yaml", "--json"], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "ConfigError"


def test_a_reader_that_goes_away_is_no_fault_worth_words(hostile):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "show", str(hostile)], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (4, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_output_that_cannot_be_written_is_said(hostile, more):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "show", *more, str(hostile)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 4
    assert b"No space left" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(["golden", "stats", "nope.jsonl"], 2, id="a refusal"),
        pytest.param(["show", "--nope"], 2, id="a wrong option"),
        pytest.param(["score", "--json"], 0, id="a run"),
    ],
)
def test_words_that_cannot_be_written_change_no_exit_code(tmp_path, words, code):
    golden = tmp_path / "g.jsonl"
    golden.write_text('{"question_id": "q", "question": "?", "evidence": [{"source_id": "d"}]}\n')
    trace = tmp_path / "t.jsonl"
    trace.write_text('{"question_id": "q", "stages": {"s": {"hits": [{"source_id": "d"}]}}}\n')
    if words[0] == "score":
        words = [*words, "--golden", str(golden), "--trace", str(trace), "--runs", str(tmp_path)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=full, cwd=tmp_path, check=False
        )
    assert done.returncode == code
    if code == 0:
        assert json.loads(done.stdout)
        assert len(list(tmp_path.glob("*/manifest.json"))) == 1


def test_a_closed_stderr_takes_nothing_and_nothing_goes_to_stdout():
    command = (
        f"{sys.executable} -c 'from rayeval.cli.main import main; main()' golden stats nope 2>&-"
    )
    done = subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


INTERRUPTED = """
import signal, os
from rayeval.cli import main as cli
from rayeval.execution.score import spool
def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
spool.hashed = interrupt
cli.main()
"""


def test_an_interrupt_says_what_goes_on_and_has_an_exit_code_of_its_own(tmp_path):
    (tmp_path / "g.jsonl").write_text('{"question_id": "q", "question": "?"}\n')
    (tmp_path / "t.jsonl").write_text('{"question_id": "q", "stages": {"s": {"hits": ["x"]}}}\n')
    words = ["score", "--golden", "g.jsonl", "--trace", "t.jsonl", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *words], capture_output=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 130
    assert b"stopped; `rayeval resume runs/" in done.stderr
    assert b"interrupted; `rayeval resume RUN` goes on" in done.stderr
    assert json.loads(done.stdout)["error"]["exit_code"] == 130
