"""What the stages of a trace do: by their names, as the caller says, as far as hits show."""

import pyarrow as pa
import pytest

import rayeval
from rayeval.cli.main import main
from rayeval.errors import ConfigError
from rayeval.execution.score.stages import in_order, pipeline_of, roles_of
from rayeval.tables import TEXT

B, X = [{"source_id": "B"}], [{"source_id": "X"}]
GOLDEN = [{"question_id": "q", "question": "?", "evidence": [{"source_id": "B"}]}]
OWN = ("elastic", "vectors", "rrf", "cohere")


def shape(listed, given=None):
    """The arms, the later stages with their kinds, and what is a guess; `listed`: per question."""
    rows = [(str(n), stage) for n, line in enumerate(listed) for stage in line.split()]
    ids, stages = zip(*rows, strict=True)
    names = pa.table({"question_id": pa.array(ids, TEXT), "stage": pa.array(stages, TEXT)})
    roles = roles_of(list(dict.fromkeys(stages)), None, given or {})
    order = in_order(names, roles)
    pipeline = pipeline_of(order.stages, roles)
    later = " ".join(f"{stage.name}:{stage.kind}" for stage in pipeline.later)
    return " ".join(arm.name for arm in pipeline.arms), later, " ".join(order.doubtful)


KNOWN = "fused:fuse reranked:rerank context:context"


@pytest.mark.parametrize(
    ("listed", "given", "want"),
    [
        pytest.param(["reranked fused"], {}, ("", "fused:fuse reranked:rerank", ""), id="known, the wrong way round"),
        pytest.param(["context reranked fused dense bm25"], {}, ("dense bm25", KNOWN, ""), id="known, all of it backwards"),
        pytest.param(["bm25 fused", "reranked fused", "context bm25"], {}, ("bm25", KNOWN, ""), id="known, each question in part"),
        pytest.param(["fused reranked", "reranked fused"], {}, ("", "fused:fuse reranked:rerank", ""), id="questions that contradict each other"),
        pytest.param(["bm25 dense reranked"], {}, ("bm25 dense", "reranked:rerank", ""), id="arms by name, without fusion"),
        pytest.param(["a b fused extra"], {}, ("a b", "fused:fuse extra:unknown", ""), id="what stands before fused is an arm"),
        pytest.param(["splade bm25 reranked"], {}, ("splade bm25", "reranked:rerank", ""), id="nothing stands before an arm but an arm"),
        pytest.param(["bm25 dense mmr reranked"], {}, ("bm25 dense", "mmr:unknown reranked:rerank", ""), id="between known ones"),
        pytest.param(["context fused mmr reranked"], {}, ("", "fused:fuse mmr:unknown reranked:rerank context:context", ""), id="where its neighbours are"),
        pytest.param(["reranked x fused"], {}, ("x", "fused:fuse reranked:rerank", "x"), id="between known ones that change places"),
        pytest.param(["x y", "y x"], {}, ("", "x:unknown y:unknown", "x y"), id="of no known role, in both orders"),
        pytest.param(["elastic vectors rrf cohere"], {}, ("", "elastic:unknown vectors:unknown rrf:unknown cohere:unknown", ""), id="nothing known"),
        pytest.param(["cohere rrf elastic vectors"], dict(zip(OWN, ("arm", "arm", "fused", "reranked"), strict=True)), ("elastic vectors", "rrf:fuse cohere:rerank", ""), id="as the caller says"),
        pytest.param(["elastic vectors rrf cohere"], {"vectors": "arm"}, ("elastic vectors", "rrf:unknown cohere:unknown", ""), id="the last arm is enough"),
        pytest.param(["fused bm25"], {"fused": "arm", "bm25": "reranked"}, ("fused", "bm25:rerank", ""), id="rather than by name"),
        pytest.param(["a rrf mid rrf2"], {"rrf": "fused", "rrf2": "fused"}, ("a", "rrf:fuse mid:unknown rrf2:fuse", ""), id="two of a role"),
    ],
)  # fmt: skip
def test_what_stages_do(listed, given, want):
    assert shape(listed, given) == want


@pytest.mark.parametrize("listed", [("reranked", "fused"), ("reranked", "fused", "bm25")])
def test_no_stage_is_dropped_in_whatever_order_it_is_listed(scored, listed):
    run = scored(GOLDEN, [{"question_id": "q", "stages": {
        stage: {"hits": B, "latency_ms": 1.0} for stage in listed}}])  # fmt: skip
    want = [stage for stage in ("bm25", "fused", "reranked") if stage in listed]
    assert run.manifest["stages"] == want
    assert run.aggregate["stage"].unique(maintain_order=True).to_list() == want
    assert sorted(run.latency["stage"]) == want
    assert sorted(run.trace["stage"]) == want
    assert [s for s in run.failures["reached_stages"][0] if s != "retrieve"] == want


@pytest.mark.parametrize(
    ("lists", "want"),
    [
        pytest.param((X, B, B, B), (None, None), id="the last one has it"),
        pytest.param((X, B, X, B), (None, None), id="and one between has not"),
        pytest.param((X, B, X, X), ("RETRIEVAL_MISSED_GOLD", "rrf"), id="lost after it was found"),
        pytest.param((B, X, B, X), ("RETRIEVAL_MISSED_GOLD", "cohere"), id="lost at the end"),
        pytest.param((X, X, X, X), ("RETRIEVAL_MISSED_GOLD", "elastic"), id="never found"),
    ],
)
def test_gold_that_a_later_stage_lists_was_not_lost_before(scored, lists, want):
    stages = {stage: {"hits": hits} for stage, hits in zip(OWN, lists, strict=True)}
    run = scored(GOLDEN, [{"question_id": "q", "stages": stages}])
    assert run.failures.select("code", "stage").row(0) == want
    reached = [stage for stage, hits in zip(OWN, lists, strict=True) if hits == B]
    assert run.failures["reached_stages"][0].to_list() == reached  # what each one has, as it is


def test_of_stages_with_known_names_too(scored):
    stages = {"fused": {"hits": X}, "reranked": {"hits": B}}
    run = scored(GOLDEN, [{"question_id": "q", "stages": stages}])
    assert run.failures["status"].to_list() == ["success"]


def test_roles_name_the_loss(scored):
    stages = {stage: {"hits": hits} for stage, hits in zip(OWN, (B, X, X, X), strict=True)}
    roles = dict(zip(OWN, ("arm", "arm", "fused", "reranked"), strict=True))
    run = scored(GOLDEN, [{"question_id": "q", "stages": stages}], roles=roles)
    assert run.failures.select("code", "stage").row(0) == ("FUSION_DEMOTED_GOLD", "rrf")
    assert run.manifest["warnings"] == []


def test_a_context_by_another_name_is_what_answers_are_handed(scored):
    trace = [{"question_id": "q", "stages": {"search": {"hits": X}, "prompt": {"hits": B}},
              "answer": "yes", "citations": ["B"]}]  # fmt: skip
    run = scored(GOLDEN, trace, roles={"prompt": "context"})
    at = run.per_query.filter(stage="answer").row(0, named=True)
    assert at["citation_validity"] == 1


def test_hits_against_the_order_are_told(scored):
    stages = {"elastic": {"hits": X}, "vectors": {"hits": B}}
    run = scored(GOLDEN, [{"question_id": "q", "stages": stages}])
    [said] = run.manifest["warnings"]
    assert said == (
        "1 question (q) has all gold at vectors and not at elastic, which is listed before it. If "
        "they search side by side: --role elastic=arm --role vectors=arm"
    )


def test_an_order_that_is_a_guess_is_told(scored):
    trace = [{"question_id": name, "stages": {stage: {"hits": B} for stage in order}}
             for name, order in (("q", ("x", "y")), ("r", ("y", "x")))]  # fmt: skip
    run = scored([*GOLDEN, {**GOLDEN[0], "question_id": "r"}], trace)
    [said] = run.manifest["warnings"]
    assert said.startswith("questions list x, y in different places")
    assert "taken as x, then y. Say what they do: --role x=arm" in said


def test_a_role_of_no_stage_is_refused(scored):
    trace = [{"question_id": "q", "stages": {"search": {"hits": B}}}]
    with pytest.raises(ConfigError, match=r"'serach'.*no such stage; it has search"):
        scored(GOLDEN, trace, roles={"serach": "arm"})
    with pytest.raises(ConfigError, match=r"trace\.roles\.search.*'arm', 'fused'"):
        scored(GOLDEN, trace, roles={"search": "fusion"})
    with pytest.raises(ConfigError, match="roles is 'search'"):
        scored(GOLDEN, trace, roles="search")


@pytest.mark.parametrize("role", ["elastic", "=arm", "elastic=arms"])
def test_a_role_on_the_command_line(role, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["score", "--golden", "g", "--trace", "t", "--role", role])
    assert "expected STAGE=ROLE" in " ".join(capsys.readouterr().err.split())


def test_a_trec_run_has_no_roles(tmp_path):
    with pytest.raises(ConfigError, match="leave out --role"):
        rayeval.score("qrels", "run", convention="trec", roles={"trace": "arm"}, runs=tmp_path)


def test_the_error_of_a_whole_question_is_kept_at_the_first_stage_that_it_lacks(scored):
    trace = [{"question_id": "q", "stages": {"a": {"hits": B}, "b": {"hits": B}}},
             {"question_id": "r", "stages": {"a": {"hits": B}}, "error": "TimeoutError"}]  # fmt: skip
    run = scored([*GOLDEN, {**GOLDEN[0], "question_id": "r"}], trace)
    row = run.failures.filter(question_id="r").row(0, named=True)
    assert (row["status"], row["stage"], row["message"]) == ("error", "b", "TimeoutError")
    kept = run.trace.filter(question_id="r").select("stage", "error").rows()
    assert kept == [("a", None), ("b", "TimeoutError")]
