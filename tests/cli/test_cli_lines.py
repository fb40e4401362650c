"""Messages on stderr: 100 columns, and nothing broken that somebody would copy."""

import json

import pytest
from rich.cells import cell_len

from rayeval.cli import options
from rayeval.cli.main import main
from rayeval.report.lines import wrapped

MORE = "and so on " * 12


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        pytest.param(f"rayeval: {'x/' * 30}my file.jsonl:12 [q 1 b] bad_grade: {MORE}", f"rayeval: {'x/' * 30}my file.jsonl:12 [q 1 b]", id="file, line and question"),
        pytest.param(f"warning  {'x' * 70}.md [q 1 b] bad_grade: {MORE}", f"{'x' * 70}.md [q 1 b]", id="a file without a line"),
        pytest.param(f"{'and so on ' * 8}`rayeval golden import beir F --out DIR`, then {MORE}", "`rayeval golden import beir F --out DIR`,", id="a command"),
        pytest.param(f"{'can not ' * 10}'/tmp/my own folder/x.md' {MORE}", "'/tmp/my own folder/x.md'", id="a quoted path"),
        pytest.param(f"c.yaml: x.y: unknown key {MORE}it: --set 'chunk={{kind: …}}'", "c.yaml: x.y: unknown key and", id="prose with a colon is no place"),
        pytest.param(f"{MORE}here: pip install 'rayeval[ko]'", "pip install 'rayeval[ko]'", id="what installs a package"),
        pytest.param(f"can't don't {'can not ' * 10}'my own id' {MORE}", "'my own id'", id="after an apostrophe"),
        pytest.param(f"{MORE}{'x' * 150} {MORE}", "x" * 150, id="a word that fits on no line"),
    ],
)  # fmt: skip
def test_nothing_is_broken_inside(text, whole):
    lines = wrapped(text).split("\n")
    assert len(lines) > 1 and any(whole in line for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])
    assert all(cell_len(line) <= 100 for line in lines if "x" * 150 not in line)
    assert " ".join("\n".join(lines).split()) == " ".join(text.split())


def test_short_lines_and_korean_ones():
    assert wrapped("  step      3 rows\n\nend") == "  step      3 rows\n\nend"
    lines = wrapped("배는 여섯 시에 " * 12).split("\n")
    assert len(lines) == 2 and max(map(cell_len, lines)) <= 100


def test_what_goes_on_is_below_its_own_indentation():
    assert wrapped("  - " + "so " * 40).split("\n")[1].startswith("    so")


def score(tmp_path, asked, *more):
    row = {"question_id": "q", "question": "How?", "labels": "none"}
    (tmp_path / "golden.jsonl").write_text(json.dumps(row))
    hit = {"question_id": asked, "stages": {"s": {"hits": ["So."]}}}
    (tmp_path / "trace.jsonl").write_text(json.dumps(hit))
    with pytest.raises(SystemExit) as stopped:
        main(["score", "--golden", str(tmp_path / "golden.jsonl"), "--trace",
              str(tmp_path / "trace.jsonl"), "--runs", str(tmp_path / "runs"), *more])  # fmt: skip
    return stopped.value.code


def test_errors_and_warnings_are_wrapped_and_their_json_is_not(tmp_path, capsys):
    assert score(tmp_path, "stranger") == 2
    error = capsys.readouterr().err
    assert "warning  " in error and "rayeval: " in error
    assert max(cell_len(line) for line in error.splitlines() if str(tmp_path) not in line) <= 100
    assert score(tmp_path, "stranger", "--json") == 2
    message = json.loads(capsys.readouterr().out)["error"]["message"]
    assert "\n" not in message and len(message) > 100


def test_warnings_stand_once_on_a_screen(tmp_path, capsys, monkeypatch):
    assert score(tmp_path, "q") == 0
    apart = capsys.readouterr()
    assert "not labelled yet (`labels:" in apart.out and "not labelled yet (`labels:" in apart.err
    monkeypatch.setattr(options, "one_screen", lambda: True)
    assert score(tmp_path, "q") == 0
    screen = "".join(capsys.readouterr())
    assert screen.count("not labelled yet (`labels:") == 1
    assert "1 warning, said above" in screen
