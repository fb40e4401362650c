"""Arms that are services or the user's own code, through whole runs."""

import json

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


def test_what_may_pass_is_asked_again_by_the_next_run_and_by_no_other(tmp_path):
    """An error is never taken for an answer; what was answered is not asked again."""
    down = True

    def answer(request):
        return (
            (503, b"down", {})
            if down and request["body"]["q"].startswith("when")
            else gold(request)
        )

    with serving(answer) as server:
        path = project(tmp_path, {"svc": arm(server, retries=0)})
        first = run(path)
        down = False
        second = run(path)
        assert server.questions().count("when do tokens expire") == 2
        assert len(server.seen) == 3 + 1
        run(path)
        assert len(server.seen) == 3 + 1
    assert (first.summary()["status"]["error"], second.summary()["status"]["error"]) == (1, 0)


def test_what_will_not_pass_is_not_asked_again(tmp_path):
    with serving(lambda request: (404, b"no such index", {})) as server:
        path = project(tmp_path, {"svc": arm(server)})
        for _ in range(2):
            assert run(path).summary()["status"]["error"] == 3
        assert len(server.seen) == 3


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
