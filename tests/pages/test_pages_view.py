"""`rayeval report` writes a page beside the run; `rayeval view` serves a folder to this machine alone."""

import http.client
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import urlopen

import pytest

from rayeval.cli.main import run_command
from rayeval.execution.decide.view import serve


def asked(server, path, method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body, answer.headers


def test_the_list_a_run_and_a_comparison_are_there(server, hostile):
    comparison, _ = hostile
    ids = [comparison.facts["base"], comparison.facts["new"]]
    status, body, headers = asked(server, "/")
    assert status == 200
    assert all(name in body for name in [*ids, comparison.comparison_id])
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert asked(server, f"/run/{ids[0]}")[0] == 200
    assert asked(server, f"/comparison/{comparison.comparison_id}")[0] == 200


def test_any_two_runs_are_compared_the_older_as_the_baseline(server, hostile):
    facts = hostile[0].facts
    status, body, _ = asked(server, f"/compare?run={facts['new']}&run={facts['base']}")
    assert status == 200
    older, newer = sorted((facts["base"], facts["new"]))  # ids begin with the time
    assert f"<title>{newer} against {older}</title>" in body


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/run/", "/run/nobody", "/run/../baselines.jsonl", "/run/%2e%2e%2fgolden.jsonl", "/../../etc/passwd",
     "/comparison/..%2f..", "/compare?run=a&run=b", "/compare", "/run/%ff", "/run/.store"],
)  # fmt: skip
def test_what_is_in_no_list_is_not_opened(server, path):
    status, body, _ = asked(server, path)
    assert status == 404
    assert "root:" not in body


def test_what_is_no_address_gets_an_answer_too(server):
    assert asked(server, "http://[::bad/")[0] == 400


def test_a_fault_of_one_page_is_shown_on_it(server, monkeypatch):
    def fails(*_):
        raise ValueError("<script>no</script>")

    monkeypatch.setattr("rayeval.execution.decide.view.listed", fails)
    status, body, _ = asked(server, "/")
    assert status == 500
    assert "<script>no" not in body


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "localhost:1",
        "127.0.0.1.evil.example:{port}",
    ],
)
def test_another_host_is_refused(server, host):
    status, body, _ = asked(server, "/", host=host.format(port=server.server_port))
    assert status == 403
    assert "rayeval ·" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_only_reads(server, method):
    assert asked(server, "/", method)[0] == 501


def test_localhost_is_this_machine_and_head_has_no_body(server):
    status, body, headers = asked(server, "/", "HEAD", host=f"localhost:{server.server_port}")
    assert (status, body) == (200, "")
    assert int(headers["Content-Length"]) > 1000


def test_runs_that_cannot_be_compared_say_why(hostile, tmp_path):
    comparison, runs = hostile
    for name in (comparison.facts["base"], comparison.facts["new"]):
        shutil.copytree(runs / name, tmp_path / name)
    path = tmp_path / comparison.facts["new"] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["golden"]["sha256"] = "00" * 32
    path.write_text(json.dumps(manifest))
    with serve(str(tmp_path), 0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        status, body, _ = asked(
            running, f"/compare?run={comparison.facts['base']}&run={comparison.facts['new']}"
        )
        running.shutdown()
        thread.join()
    assert status == 409
    assert "the golden set is another version" in body


@pytest.mark.parametrize("what", ["run", "comparison"])
def test_report_writes_the_page_anew_beside_the_run(hostile, what, tmp_path, capsys):
    comparison, runs = hostile
    name = comparison.comparison_id if what == "comparison" else comparison.facts["new"]
    first = runs / ("comparisons" if what == "comparison" else "") / name / "report.html"
    assert run_command(["report", name, "--runs", str(runs), "--json"]) == 0
    path = json.loads(capsys.readouterr().out)["path"]
    assert path == str(runs / "reports" / name / "report.html")
    assert Path(path).read_bytes() == first.read_bytes()
    assert (
        run_command(
            ["report", str(first.parent), "--runs", str(runs), "--out", str(tmp_path / "o.html")]
        )
        == 0
    )
    assert (tmp_path / "o.html").read_bytes() == first.read_bytes()
    assert run_command(["verify", comparison.facts["new"], "--runs", str(runs)]) == 0


def test_report_of_nothing_says_what_there_is(hostile, capsys):
    assert run_command(["report", "nobody", "--runs", str(hostile[1])]) == 2
    assert "no run 'nobody'" in " ".join(capsys.readouterr().err.split())


def test_a_damaged_comparison_is_said(hostile, tmp_path, capsys):
    comparison, runs = hostile
    folder = tmp_path / "comparisons" / "c"
    shutil.copytree(runs / "comparisons" / comparison.comparison_id, folder)
    (folder / "ranks.parquet").write_bytes(b"no")
    assert run_command(["report", "c", "--runs", str(tmp_path)]) == 2
    assert "is damaged" in " ".join(capsys.readouterr().err.split())


def test_ranks_and_unjudged_hits_of_a_comparison(hostile):
    found = hostile[0]
    moved = dict(found.ranks.filter(stage="bm25").select("question_id", "moved").iter_rows())
    assert set(moved) == set(found.transitions["question_id"])
    assert moved["2 ko"] == "same" or moved["2 ko"] == "absent"
    assert found.unjudged["base"].is_null().all()  # the deeper run finds all that the other did
    assert set(found.unjudged["new"]) <= {2, 3}
    assert found.facts["unjudged"]["hits"] == found.unjudged.filter(stage="bm25").height
    assert "unjudged hits" in str(found)


def test_the_command_says_its_address_and_serves(hostile):
    arguments = ["view", "--runs", str(hostile[1]), "--json"]
    command = [sys.executable, "-c", "from rayeval.cli.main import main; main()", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            with urlopen(url) as answer:
                assert hostile[0].comparison_id in answer.read().decode()
        finally:
            process.terminate()
