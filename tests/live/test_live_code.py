"""Arms that are the user's own code, through whole runs."""

import sys
from pathlib import Path

import pytest
from live_services import errors, hits, project, run

from rayeval.errors import ConfigError

CODE = """
from asyncio import CancelledError
import pyarrow as pa

class Search:
    def __init__(self, answers, **_):
        self.answers = answers

    def __call__(self, batch):
        assert batch.column_names == ["question_id", "question", "principals", "depth"]
        return [self.answers.get(name, []) for name in batch["question_id"].to_pylist()]

def as_table(answers):
    def search(batch):
        hits = [[{"text": t, "score": 1.0} for t in answers.get(n, [])] for n in batch["question_id"].to_pylist()]
        return pa.table({"hits": hits})
    return search

def failing(answers):
    def search(batch):
        if "q-vpn" in batch["question_id"].to_pylist():
            raise answers_error[answers](f"no luck")
        return [[] for _ in range(batch.num_rows)]
    return search

class Broken(Exception):
    def __str__(self):
        raise RuntimeError("no words")

def halved(text):
    return ValueError(text + "\\udcff")

answers_error = {"value": ValueError, "connection": ConnectionError, "halved": halved,
                 "broken": Broken, "exit": SystemExit,
                 "cancelled": CancelledError, "closed": GeneratorExit, "lost": lambda text: OSError(text + "\\udcff")}

def a_set(**_):
    return lambda batch: {"VPN tokens expire", "other", "third"}

def sets(**_):
    return lambda batch: [{"VPN tokens expire", "other"} for _ in range(batch.num_rows)]

def short(**_):
    return lambda batch: []

def nothing():
    return None
"""
ANSWERS = {"q-vpn": ["VPN tokens expire after 90 days."]}


def python(factory, **settings):
    return {"code": {"kind": "python", "factory": f"own_search:{factory}", "settings": settings}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own_search.py").write_text(CODE)
    yield tmp_path
    sys.modules.pop("own_search", None)
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]


@pytest.mark.parametrize("factory", ["Search", "as_table"])
def test_code_beside_the_configuration_is_an_arm(folder, factory):
    found = run(project(folder, python(factory, answers=ANSWERS)))
    assert [h["source_id"] for h in hits(found, "q-vpn", "code")] == ["vpn.md"]
    assert hits(found, "q-it", "code") == []
    [failed] = found.failures.filter(question_id="q-it").to_dicts()
    assert (failed["code"], failed["stage"]) == ("RETRIEVAL_MISSED_GOLD", "code")
    assert [(c["stage"], c["code"], c["rank"]) for c in failed["contributing"]] == [
        ("code", "RETRIEVAL_MISSED_GOLD", None)
    ]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        pytest.param("value", "unexpected ValueError: no luck", id="an exception"),
        pytest.param(
            "connection",
            "ConnectionError: no luck; the next run asks again",
            id="a lost connection",
        ),
        pytest.param("halved", "unexpected ValueError: no luck\\udcff", id="half a character"),
        pytest.param("broken", "unexpected Broken, of which no text can be had", id="no words"),
        pytest.param("exit", "SystemExit: no luck", id="an exit"),
        pytest.param("cancelled", "CancelledError: no luck", id="a cancelled task"),
        pytest.param("closed", "GeneratorExit: no luck", id="a closed generator"),
        pytest.param("lost", "OSError: no luck\\udcff; the next run asks again", id="both of them"),
    ],
)
def test_what_the_code_raises_is_the_rows_error(folder, answers, message):
    found = run(project(folder, python("failing", answers=answers)))
    assert errors(found, "code") == {"q-vpn": message}


def test_a_changed_source_is_computed_anew_and_a_declared_version_is_not(folder):
    first = run(project(folder, python("Search", answers=ANSWERS)))
    (folder / "own_search.py").write_text(CODE.replace("get(name, [])", "get(name, ['x'])"))
    second = run(folder / "rayeval.yaml")
    assert hits(first, "q-it", "code") == []
    assert [h["text"] for h in hits(second, "q-it", "code")] == ["x"]
    declared = "retrieve.arms.code.version=1"
    run(folder / "rayeval.yaml", declared)
    (folder / "own_search.py").write_text(CODE)
    third = run(folder / "rayeval.yaml", declared)
    assert [h["text"] for h in hits(third, "q-it", "code")] == ["x"]


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        pytest.param("own_search:gone", "names no function or class", id="no such name"),
        pytest.param("gone_search:Search", "there is no module 'gone_search'", id="no such module"),
        pytest.param(
            "own_search:Search", "can't be built with the settings []: TypeError", id="settings"
        ),
        pytest.param(
            "own_search:nothing", "gives NoneType, which can't be called", id="no callable"
        ),
        pytest.param("own_search", "factory: String should match", id="no factory named"),
    ],
)
def test_code_that_can_not_be_built(folder, factory, message):
    with pytest.raises(ConfigError) as caught:
        run(project(folder, {"code": {"kind": "python", "factory": factory}}))
    assert message in str(caught.value)


def test_code_that_never_answers_is_an_error_of_every_row(folder):
    found = run(project(folder, python("short")))
    assert set(errors(found, "code").values()) == {"0 answers for 1 question"}


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        pytest.param("a_set", "expected a list with an answer per question, got set", id="rows"),
        pytest.param("sets", "the hits are a set, which has no order", id="hits"),
    ],
)
def test_a_set_is_no_list(folder, factory, message):
    found = run(project(folder, python(factory)))
    assert all(error.startswith(message) for error in errors(found, "code").values())
    assert len(errors(found, "code")) > 1


def test_two_workers_give_the_same(folder):
    one = run(project(folder, python("Search", answers=ANSWERS)))
    two = run(folder / "rayeval.yaml", "placement.workers=2", "placement.shards=3",
              runs=str(folder / "other"))  # fmt: skip
    for name in ("trace", "passages", "per_query", "failures"):
        a, b = (Path(r.path, f"{name}.parquet").read_bytes() for r in (one, two))
        assert a == b
