"""`rayeval doctor` asks whether chat endpoints are there, and nothing that costs."""

import json

import pytest
from faulty import Fault, serving
from judge_runs import project, rule

from rayeval.cli.main import run_command


def finding(capsys, config, name):
    code = run_command(["doctor", str(config), "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return code, next(one for one in found if one["name"] == name)


def listing(*names):
    return Fault(body=json.dumps({"data": [{"id": name} for name in names]}).encode())


@pytest.mark.parametrize(
    ("models", "code", "state", "said"),
    [
        pytest.param(listing("scripted-judge"), 0, "ok", "has scripted-judge", id="listed"),
        pytest.param(listing("a", "모델"), 0, "note", "is not on its list of models: a, 모델", id="not listed"),
        pytest.param(Fault(status=404, body=b"{}"), 0, "note", "lists no models", id="no list"),
        pytest.param(Fault(body=b"<html>"), 0, "note", "no list of models but HTTP 200", id="a web page"),
        pytest.param(Fault(status=401, body=b"no"), 2, "missing", "the key was refused", id="refused"),
        pytest.param(Fault(status=503, body=b"busy"), 2, "missing", "is the server up", id="not ready"),
        pytest.param(Fault(reset=True), 2, "missing", "is the server up", id="cut off"),
    ],
)  # fmt: skip
def test_an_endpoint_is_asked_for_its_models(tmp_path, capsys, models, code, state, said):
    with serving(rule) as server:
        server.models = models
        config = project(tmp_path, server.url)
        got, judge = finding(capsys, config, "judge.url")
        assert (got, judge["state"]) == (code, state)
        assert said in judge["detail"]
        assert server.seen == [], "nothing is paid for"


def test_an_endpoint_that_is_down_is_named_before_a_run_waits_for_it(tmp_path, capsys):
    with serving(rule) as server:
        config = project(tmp_path, server.url)
    code, answer = finding(capsys, config, "answer.url")
    assert (code, answer["state"]) == (2, "missing")
    assert server.url in answer["detail"]
