"""What a run says of how far people agree with its judge."""

from pathlib import Path

import pytest
from faulty import serving
from judge_runs import answer_runs, project, rule

from rayeval.calibration.record import Judge, Record, Records
from rayeval.execution.load import load_config
from rayeval.execution.models import judge_pins
from rayeval.report.terminal import run_text


def record(pins, task, language, n=31, low=0.6, **judge):
    about = Judge(model=pins["model"], prompt=pins["prompts"][task]["hash"], task=task,
                  language=language, **judge)  # fmt: skip
    figures = dict.fromkeys(("agreement", "sensitivity", "specificity", "alpha",
                             "prevalence_human"), 0.8)  # fmt: skip
    return Record(judge=about, n=n, clusters=9, kappa=0.78, kappa_quadratic=None, made="2026-01-01",
                  intervals={"kappa": [low, 0.9]}, labels_sha256={}, **figures)  # fmt: skip


@pytest.fixture
def judged(tmp_path):
    """A run whose judge has the records that `of` makes of its pins; questions are ko and unsaid."""

    def made(of=lambda pins: ()):
        with serving(rule) as server:
            path = project(
                tmp_path, server.url, judge={"tasks": ["claims", "support", "correctness"]}
            )
            records = tuple(of(judge_pins(load_config(str(path)).config.judge)))
            if records:
                (tmp_path / "records.json").write_text(Records(records=records).model_dump_json())
            files = ["records.json"] if records else []
            return answer_runs.run(path, f"judge.calibration={files}")

    return made


def said(text, title):
    return text.partition(f"\n{title}\n")[2].partition("\n\n")[0].splitlines()


TITLE = "Judge: what people's labels say of it"


def test_a_judge_without_records_is_said_to_have_none(judged, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = judged()
    text = run_text(run)
    assert said(text, TITLE) == [
        "- support: ko, no language stated: not calibrated",
        "- correctness: ko, no language stated: not calibrated",
    ]
    assert "faithfulness *" in text
    assert "answer_correctness *" in text
    assert "citation_validity *" not in text
    assert "* by a judge that is not calibrated for it" in text
    assert (
        "support: ko, no language stated: not calibrated"
        in Path(run.path, "summary.md").read_text()
    )


def test_records_count_by_task_and_language(judged, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = judged(lambda pins: (
        record(pins, "support", "ko"),
        record(pins, "support", None, n=29),
        record(pins, "correctness", "ko"),
        record(pins, "correctness", None),
    ))  # fmt: skip
    text = run_text(run)
    assert " ".join(map(str.strip, said(text, TITLE))) == (
        "- support: ko: calibrated, κ 0.78 [0.60, 0.90], n 31; no language stated: not calibrated, of "
        "the 30 items that must be labelled at least, 29 are "
        "- correctness: ko, no language stated: calibrated, κ 0.78 [0.60, 0.90], n 31"
    )
    assert "faithfulness *" in text, "not in every language"
    assert "answer_correctness *" not in text
    [first, *_] = run.summary()["judge"]["calibration"]
    assert (first["task"], first["language"], first["calibrated"]) == ("support", "ko", True)
    page = Path(run.path, "report.html").read_text()
    assert "of the 30 items that must be labelled at least, 29 are" in page


def test_records_of_another_judge_say_nothing(judged, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = judged(lambda pins: [record(pins, "support", "ko", revision="7")])
    assert said(run_text(run), TITLE) == [
        "- support: ko, no language stated: not calibrated",
        "- correctness: ko, no language stated: not calibrated",
        "- records of another judge, revision or prompt, which say nothing here: support",
    ]
