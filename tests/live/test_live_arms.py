"""Arms that are services or the user's own code, through whole runs."""

import sys
import threading
import time
from pathlib import Path

import pytest
from live_services import errors, hits, project, run, serving, value

from rayeval.errors import ConfigError
from rayeval.live import retry

BODY = {"q": "{question}", "k": "{depth}", "who": "{principals}"}
FIELDS = {"chunk_id": "id", "text": "t", "source_id": "meta.src", "score": "s",
          "start_char": "at.0", "end_char": "at.1"}  # fmt: skip
GOLD = {
    "how many days of paid leave": "Every employee has 25 days of paid leave.",
    '장비는 "며칠"?': "장비 신청은 포털에서 하며 5일이 걸린다.",
    "when do tokens expire": "VPN tokens expire after 90 days.",
}


def arm(server, **settings):
    return {"kind": "http", "url": server.url, "body": BODY, "hits": "r.items", "fields": FIELDS,
            **settings}  # fmt: skip


def answered(*items):
    return lambda request: (200, {"r": {"items": list(items)}}, {})


def gold(request):
    return answered({"id": 1, "t": GOLD[request["body"]["q"]], "s": 2.5})(request)


@pytest.fixture
def pauses(monkeypatch):
    """Waits are noted, not waited."""
    waited = []
    real = retry.pause
    from rayeval.live import service

    monkeypatch.setattr(service, "pause", lambda state: waited.append(real(state)) or 0.0)
    return waited


def test_a_service_is_an_arm_like_any_other(tmp_path):
    """Its text is found in the corpus, so that metrics see what it covers; it fuses with our own
    arms, and its passages reach the context and the files of the run."""
    with serving(gold) as server:
        path = project(
            tmp_path,
            {"svc": arm(server, depth=7), "bm25": {"kind": "bm25", "analyzer": {"kind": "whitespace"}}},
            fuse={"kind": "rrf", "depth": 5}, context={"kind": "budget", "max_tokens": 40},
            latency={"sample": 1},
        )  # fmt: skip
        found = run(path)
    assert {r["body"]["k"] for r in server.seen} == {7}
    asked = {r["body"]["q"]: r["body"]["who"] for r in server.seen}
    assert asked == {**dict.fromkeys(GOLD, []), '장비는 "며칠"?': ["hr", "it"]}
    [hit] = hits(found, "q-leave", "svc")
    assert (hit["source_id"], hit["spans"]) == ("leave.md", [{"start_char": 9, "end_char": 50}])
    assert (hit["score"], hit["tokens"]) == (2.5, 9)
    assert value(found, "q-it", "svc", "char_precision@1") == pytest.approx(7 / 23)
    assert value(found, "q-it", "svc", "recall@1") == 1
    assert [h["chunk_id"] for h in hits(found, "q-leave", "fused")].count(hit["chunk_id"]) == 1
    assert found.manifest["stages"] == ["svc", "bm25", "fused", "context"]
    assert hit["chunk_id"] in [h["chunk_id"] for h in hits(found, "q-leave", "context")]
    assert found.failures["status"].to_list() == ["success"] * 3
    serial = found.latency.filter(mode="serial")
    assert set(serial["stage"]) == {"svc", "bm25", "fused", "context", "retrieval", "end_to_end"}
    assert found.damage() == []


@pytest.mark.parametrize(
    ("item", "source", "spans", "said"),
    [
        pytest.param({"t": "VPN tokens expire"}, "vpn.md", [(0, 17)], None, id="text alone"),
        pytest.param({"t": "VPN  tokens\nexpire"}, "vpn.md", [(0, 17)], None, id="but for white space"),
        pytest.param({"meta": {"src": "vpn.md"}}, "vpn.md", [(0, 33)], None, id="a whole document"),
        pytest.param({"meta": {"src": "vpn.md"}, "at": [4, 10]}, "vpn.md", [(4, 10)], None, id="a place"),
        pytest.param(
            {"meta": {"src": "it.md"}, "t": "Call 1234 for help."}, "it.md", [(31, 50)], None,
            id="a text that stands twice, its source named",
        ),
        pytest.param(
            {"meta": {"src": "vpn.md"}, "at": [0, 6], "t": "tokens"}, "vpn.md", [(4, 10)], None,
            id="wrong offsets, the text's place is known",
        ),
        pytest.param({"t": "Call 1234 for help."}, None, [], "1 ambiguous, 0 lost", id="stands twice"),
        pytest.param({"t": "no such thing"}, None, [], "0 ambiguous, 1 lost", id="stands nowhere"),
        pytest.param({"id": "c-9"}, None, [], "0 ambiguous, 1 lost", id="an id of theirs alone"),
        pytest.param(
            {"meta": {"src": "gone.md"}, "t": "VPN tokens expire"}, None, [], "0 ambiguous, 1 lost",
            id="a source that is not there",
        ),
        pytest.param(
            {"meta": {"src": "vpn.md"}, "at": [0, 99]}, None, [], "lies outside the text",
            id="a place that is not there",
        ),
    ],
)  # fmt: skip
def test_where_a_hit_lies(tmp_path, item, source, spans, said):
    with serving(answered(item)) as server:
        found = run(project(tmp_path, {"svc": arm(server)}), limit=1)
    [hit] = hits(found, "q-it", "svc")
    assert hit["source_id"] == source
    assert [(s["start_char"], s["end_char"]) for s in hit["spans"]] == spans
    assert hit["score"] == -1.0
    warnings = [w for w in found.manifest["warnings"] if "hits_not_located" in w]
    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_chunks_of_ours_are_known_by_their_id_and_by_their_place(tmp_path):
    plain = {"bm25": {"kind": "bm25", "analyzer": {"kind": "whitespace"}}}
    ours = hits(run(project(tmp_path, plain)), "q-vpn", "bm25")[0]
    item = {"meta": {"src": "vpn.md"}}
    with serving(lambda request: answered({"id": ours["chunk_id"]})(request)) as server:
        by_id = hits(run(project(tmp_path, {"svc": arm(server)})), "q-vpn", "svc")
    with serving(answered(item)) as server:
        by_place = hits(run(project(tmp_path, {"svc": arm(server)})), "q-vpn", "svc")
    same = ("chunk_id", "source_id", "spans", "text", "tokens")
    assert [{n: h[n] for n in same} for h in (*by_id, *by_place)] == [
        {n: ours[n] for n in same}
    ] * 2


def test_the_same_passage_under_two_ids_of_theirs_is_two_hits(tmp_path):
    text = "VPN tokens expire after 90 days."
    with serving(answered({"id": "a", "t": text}, {"id": "b", "t": text})) as server:
        found = run(project(tmp_path, {"svc": arm(server)}))
    first, second = hits(found, "q-vpn", "svc")
    assert first["chunk_id"] != second["chunk_id"]
    assert first["spans"] == second["spans"]
    assert value(found, "q-vpn", "svc", "precision@3") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param((404, b"no index", {}), "HTTP 404: no index", id="404"),
        pytest.param((400, {"error": "too long"}, {}), 'HTTP 400: {"error": "too long"}', id="400"),
        pytest.param((302, b"", {"Location": "http://127.0.0.1:9/"}), "HTTP 302", id="elsewhere"),
        pytest.param((200, {"items": []}, {}), "the answer has nothing at 'r.items'", id="no list"),
        pytest.param((200, {"r": {"items": {}}}, {}), "has a dict at 'r.items'", id="no list there"),
        pytest.param((200, {"r": {"items": [{"x": 1}]}}, {}), "hit 1 says nothing", id="no fields"),
        pytest.param(
            (200, b'{"r": {"items": [{"t": "a", "s": NaN}]}}', {}), "score nan; expected a finite", id="NaN"
        ),
        pytest.param(
            (200, {"r": {"items": [{"id": 1}, {"id": "1"}]}}, {}), "same chunk_id '1'", id="an id twice"
        ),
        pytest.param(
            (200, {"r": {"items": [{"t": "a", "s": 1}, {"t": "b", "s": 2}]}}, {}),
            "hit 2 has the score 2, more than", id="scores against the order",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_good_is_the_rows_error(tmp_path, pauses, answer, message):
    """Never an empty list, and no other row's."""

    def mixed(request):
        return answer if request["body"]["q"].startswith("when") else gold(request)

    with serving(mixed) as server:
        found = run(project(tmp_path, {"svc": arm(server)}))
    assert list(errors(found, "svc")) == ["q-vpn"]
    assert message in errors(found, "svc")["q-vpn"]
    assert pauses == []
    assert len(server.seen) == 3
    rows = {row["question_id"]: row["status"] for row in found.failures.to_dicts()}
    assert rows == {"q-it": "success", "q-leave": "success", "q-vpn": "error"}


@pytest.mark.parametrize(
    ("failures", "waits"),
    [
        pytest.param([(429, b"", {"Retry-After": "7"})], [7.0], id="waits as long as it is told"),
        pytest.param([(503, b"", {}), (500, b"", {})], [0.5, 1.0], id="waits longer each time"),
        pytest.param([(200, b"<html>", {})], [0.5], id="no JSON"),
        pytest.param([0.5], [0.5], id="no answer in time"),
    ],
)
def test_what_may_pass_is_tried_again(tmp_path, pauses, monkeypatch, failures, waits):
    script = list(failures)
    from rayeval.live.service import _Turns

    monkeypatch.setattr(_Turns, "hold", lambda self, seconds: None)

    def answer(request):
        step = script.pop(0) if script else gold
        if isinstance(step, float):
            time.sleep(step)
            step = gold
        return step(request) if callable(step) else step

    with serving(answer) as server:
        found = run(project(tmp_path, {"svc": arm(server, deadline_s=0.25, concurrency=1)}))
    assert errors(found, "svc") == {}
    assert pauses == waits
    assert len(server.seen) == 3 + len(failures)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(lambda _: (503, b"down", {}), "HTTP 503: down", id="still down"),
        pytest.param(lambda _: time.sleep(0.4) or (200, {}, {}), "no whole answer within 0.1 s", id="hangs"),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_the_rows_error(tmp_path, pauses, answer, message):
    def mixed(request):
        return answer(request) if request["body"]["q"].startswith("when") else gold(request)

    with serving(mixed) as server:
        found = run(project(tmp_path, {"svc": arm(server, deadline_s=0.1, retries=1)}))
    assert list(errors(found, "svc")) == ["q-vpn"]
    assert message in errors(found, "svc")["q-vpn"]
    assert len(server.seen) == 2 + 2


def test_a_server_that_drips_does_not_hold_the_run(tmp_path, pauses):
    """Bytes keep coming, so no wait for one is long; the whole answer never is there."""
    import socket

    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip():
        while not over.is_set():
            peer, _ = listener.accept()
            with peer:
                try:
                    peer.recv(65536)
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                    while not over.wait(0.02):
                        peer.sendall(b" ")
                except OSError:
                    continue

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    svc = {
        "kind": "http",
        "url": url,
        "body": BODY,
        "deadline_s": 0.2,
        "retries": 0,
        "concurrency": 1,
    }
    found = run(project(tmp_path, {"svc": svc}))
    over.set()
    listener.close()
    assert set(errors(found, "svc")) == {"q-it", "q-leave", "q-vpn"}
    assert "no whole answer within 0.2 s" in errors(found, "svc")["q-it"]


def test_limits_hold(tmp_path):
    def slow(request):
        time.sleep(0.03)
        return gold(request)

    with serving(slow) as server:
        run(project(tmp_path, {"svc": arm(server, rate_per_s=20, concurrency=2)}))
    assert server.most <= 2
    assert server.times[-1] - server.times[0] >= 2 / 20 - 0.01


def test_secrets_stay_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "s3cret-value")

    def answer(request):
        key = request["headers"]["Authorization"]
        return (
            (403, f"bad {key}".encode(), {}) if "tokens" in request["body"]["q"] else gold(request)
        )

    headers = {"Authorization": "Bearer ${SEARCH_KEY}", "X-Tenant": "a"}
    with serving(answer) as server:
        found = run(project(tmp_path, {"svc": arm(server, headers=headers)}))
    assert {r["headers"]["Authorization"] for r in server.seen} == {"Bearer s3cret-value"}
    assert {r["headers"]["X-Tenant"] for r in server.seen} == {"a"}
    assert "HTTP 403: bad Bearer [SEARCH_KEY]" in errors(found, "svc")["q-vpn"]
    written = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert written
    assert not [p for p in written if b"s3cret" in p.read_bytes()]
    monkeypatch.delenv("SEARCH_KEY")
    with pytest.raises(ConfigError, match="lacks SEARCH_KEY, which a header needs"):
        run(project(tmp_path, {"svc": arm(server, headers=headers, version="2")}))


def test_what_was_answered_is_not_asked_again(tmp_path):
    with serving(gold) as server:
        path = project(tmp_path, {"svc": arm(server)})
        first = run(path)
        assert len(server.seen) == 3
        again = run(path)
        assert len(server.seen) == 3
        golden = path.parent / "golden.jsonl"
        more = {
            "question_id": "q-more",
            "question": "how many days of paid leave",
            "answerable": False,
        }
        import json

        golden.write_text(golden.read_text() + json.dumps(more) + "\n")
        run(path)
        assert len(server.seen) == 3  # the same question, for another row of the golden set
        run(path, "retrieve.arms.svc.version=two")
        assert len(server.seen) == 3 + 3
    assert first.per_query.equals(again.per_query)


def test_get_and_a_body_of_text(tmp_path):
    with serving(answered("VPN tokens expire after 90 days.")) as server:
        url = f"{server.url}?q={{question}}&k={{depth}}&who={{principals}}"
        svc = {"kind": "http", "method": "GET", "url": url, "hits": "r.items", "depth": 3}
        run(project(tmp_path, {"svc": svc}))
        body = '{"query": {question}, "text": "ask: {question}", "size": {depth}}'
        run(project(tmp_path, {"svc": {**svc, "url": server.url, "method": "POST", "body": body}}))
    paths = [r["path"] for r in server.seen if r["body"] is None]
    assert (
        "/search?q=%EC%9E%A5%EB%B9%84%EB%8A%94%20%22%EB%A9%B0%EC%B9%A0%22%3F&k=3&who=hr%2Cit"
        in paths
    )
    bodies = [r["body"] for r in server.seen if r["body"] is not None]
    korean = '장비는 "며칠"?'
    assert {"query": korean, "text": f"ask: {korean}", "size": 3} in bodies


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"url": "ftp://x"}, "url: String should match", id="no http"),
        pytest.param(
            {"url": "http://u:p@x/"}, "url: String should match", id="a password in the url"
        ),
        pytest.param(
            {"body": {"q": "x"}}, "neither url nor body holds {question}", id="nothing asked"
        ),
        pytest.param({"body": {"q": "{quesiton}"}}, "unknown placeholder {quesiton}", id="a typo"),
        pytest.param({"body": '{"q": {question}'}, "body is not JSON", id="no JSON"),
        pytest.param(
            {"headers": {"X-Api-Key": "abc"}}, "headers.X-Api-Key: write ${NAME}", id="a key"
        ),
        pytest.param({"retires": 1}, "did you mean retries", id="an unknown setting"),
        pytest.param({"depth": 0}, "depth", id="no depth"),
    ],
)
def test_settings_that_can_not_be(tmp_path, change, message):
    svc = {"kind": "http", "url": "http://127.0.0.1:9/", "body": BODY, **change}
    with pytest.raises(ConfigError) as caught:
        run(project(tmp_path, {"svc": svc}))
    assert message in str(caught.value)


CODE = """
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

answers_error = {"value": ValueError, "connection": ConnectionError}

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
        pytest.param("connection", "ConnectionError: no luck", id="a lost connection"),
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
    assert set(errors(found, "code").values()) == {"0 answers for 1 questions"}


def test_two_workers_give_the_same(folder):
    one = run(project(folder, python("Search", answers=ANSWERS)))
    two = run(folder / "rayeval.yaml", "placement.workers=2", "placement.shards=3",
              runs=str(folder / "other"))  # fmt: skip
    for name in ("trace", "passages", "per_query", "failures"):
        a, b = (Path(r.path, f"{name}.parquet").read_bytes() for r in (one, two))
        assert a == b
