"""A whole run whose answers, and the judgements of them, come from a real model."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from serving import MODEL, TOKENS, finished

from rayeval.chat import running
from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.runs import Run

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("default")]

QUESTIONS = [
    {
        "question_id": "q-leave",
        "question": "How many days of paid leave has an employee?",
        "reference_answer": "25 days.",
        "evidence": [{"source_id": "leave.md", "quote": "25 days of paid leave"}],
    },
    {
        "question_id": "q-수도",
        "question": "대한민국의 수도는 어디인가?",
        "language": "ko",
        "reference_answer": "서울",
        "evidence": [{"source_id": "seoul.md", "quote": "수도는 서울이다"}],
    },
]
DOCUMENTS = {
    "leave.md": "Every employee has 25 days of paid leave.\n",
    "seoul.md": "대한민국의 수도는 서울이다.\n",
}
CONFIG: dict[str, Any] = {
    "golden": {"path": "golden.jsonl"},
    "corpus": {"path": "docs"},
    "chunk": {"kind": "fixed", "size": 60},
    "retrieve": {"arms": {"bm25": {"kind": "bm25", "analyzer": {"kind": "char_ngram", "n": 2}}}},
    "context": {"kind": "top_k", "depth": 2},
    "metrics": {"cutoffs": [1]},
}
OUTCOMES = {"ok", "truncated", "unparseable"}
"""Of a weak model that every schema binds: a wrong count or range can't be; it may go on and on."""


@pytest.fixture
def config(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    kind = request.param
    chat: dict[str, Any] = {"kind": kind, "max_completion_tokens": 96}
    if kind == "openai":
        url = f"{request.getfixturevalue('server')}/v1"
        chat |= {"url": url, "model": MODEL, "deadline_s": 120}
    else:
        model = str(request.getfixturevalue("model"))
        chat |= {"model": model, "max_model_len": TOKENS, "enforce_eager": True}
    (tmp_path / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).write_text(text)
    rows = (json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS)
    (tmp_path / "golden.jsonl").write_text("".join(rows))
    path = tmp_path / "rayeval.yaml"
    path.write_text(yaml.safe_dump({**CONFIG, "answer": chat, "judge": chat}, allow_unicode=True))
    return path


def ran(config: Path, runs: str, *, ray: bool = False) -> Run:
    options = Options(runs=str(config.parent / runs), ray=ray)
    return run_config(load_config(str(config)), options, Silent())


def ran_again(config: Path) -> Run:
    """A run that has nothing of the first but the log of its requests."""
    kept = Path(".store") / "requests"
    shutil.copytree(config.parent / "first" / kept, config.parent / "second" / kept)
    return ran(config, "second")


def check(run: Run) -> None:
    answers = pl.read_parquet(f"{run.path}/answers.parquet")
    assert sorted(answers["question_id"]) == ["q-leave", "q-수도"]
    assert answers["completion_tokens"].min() > 0
    judged = pl.read_parquet(f"{run.path}/judgements.parquet").explode("outcomes")
    found = judged.unnest("outcomes").drop_nulls("outcome")
    assert found.height and set(found["outcome"]) <= OUTCOMES


def equal(first: Run, second: Run) -> None:
    for table in ("answers", "judgements", "per_query"):
        old, new = (Path(f"{run.path}/{table}.parquet").read_bytes() for run in (first, second))
        assert old == new, table


@pytest.mark.parametrize("config", ["openai"], indirect=True)
def test_answers_and_judge_over_http(config: Path, server: str):
    before = finished(server)
    first = ran(config, "first")
    check(first)
    asked = finished(server) - before
    assert asked > 4
    second = ran_again(config)
    assert finished(server) - before == asked
    equal(first, second)


@pytest.mark.parametrize("config", ["vllm"], indirect=True)
@pytest.mark.parametrize("ray", [pytest.param(False, id="local"), pytest.param(True, id="Ray")])
def test_answers_and_judge_in_the_worker(config: Path, ray: bool):
    first = ran(config, "first", ray=ray)
    check(first)
    running.end()
    second = ran_again(config)
    assert running._running == []  # the log had every reply
    equal(first, second)
