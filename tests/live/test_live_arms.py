"""Arms that are services or the user's own code, through whole runs."""

import json
import sys
from pathlib import Path

import pytest
from live_services import (
    BODY,
    GOLD,
    answered,
    arm,
    errors,
    gold,
    hits,
    project,
    run,
    serving,
    value,
)

from rayeval.errors import ConfigError


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
    assert asked == {q: ["hr", "it"] if "며칠" in q else [] for q in GOLD}
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


WHERE = [
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
        pytest.param({"t": "Call 1234 for help."}, None, None, "ambiguous", id="stands twice"),
        pytest.param({"t": "no such thing"}, None, None, "lost", id="stands nowhere"),
        pytest.param({"id": "c-9"}, None, None, "lost", id="an id of theirs alone"),
        pytest.param(
            {"meta": {"src": "gone.md"}, "t": "VPN tokens expire"}, "gone.md", None, "lost",
            id="a source that is not there",
        ),
        pytest.param(
            {"meta": {"src": "vpn.md"}, "at": [0, 99]}, "vpn.md", None, "lost",
            id="a place that is not there",
        ),
]  # fmt: skip


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    """Every item of WHERE as the only hit of a question of its own, in one run."""
    folder = tmp_path_factory.mktemp("placed")
    items = {str(n): case.values[0] for n, case in enumerate(WHERE)}
    with serving(lambda request: answered(items[request["body"]["q"]])(request)) as server:
        path = project(folder, {"svc": arm(server)})
        evidence = [{"source_id": "vpn.md", "quote": "90 days"}]
        rows = [{"question_id": f"q-{n}", "question": n, "evidence": evidence} for n in items]
        (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return run(path)


@pytest.mark.parametrize("number", [pytest.param(n, id=c.id) for n, c in enumerate(WHERE)])
def test_where_a_hit_lies(placed, number):
    _, source, spans, said = WHERE[number].values
    [hit] = hits(placed, f"q-{number}", "svc")
    assert hit["source_id"] == source
    found = hit["spans"]
    assert spans == (found and [(s["start_char"], s["end_char"]) for s in found])
    assert hit["score"] == -1.0
    assert said is None or spans is None


def test_what_lies_nowhere_is_counted_and_said_once(placed):
    [warning] = [w for w in placed.manifest["warnings"] if "hits_not_located" in w]
    assert "5 of 11 hits find no gold" in warning
    assert (
        "1 ambiguous, 4 lost; first question q-10, hit 1: [0, 99) lies outside the text" in warning
    )


def test_chunks_of_ours_are_known_by_their_id_and_by_their_place(tmp_path):
    plain = {"bm25": {"kind": "bm25", "analyzer": {"kind": "whitespace"}}}
    ours = hits(run(project(tmp_path, plain)), "q-vpn", "bm25")[0]
    item = {"meta": {"src": "vpn.md"}}
    with serving(answered({"id": ours["chunk_id"]})) as server:
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
