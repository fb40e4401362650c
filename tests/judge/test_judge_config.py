"""A judge's settings, and what makes it another judge."""

import pytest
from pydantic import ValidationError

from rayeval.errors import ConfigError
from rayeval.judge import prompts
from rayeval.judge.config import TASKS, OpenAIJudge

PROMPT = "---\nname: mine\nversion: 1\n---\n# user\n{{ question }} {{ reference }} {{ answer }}\n"


def config(**settings):
    return OpenAIJudge(url="http://127.0.0.1:1/v1", model="judge", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"tasks": []}, "at least 1", id="no task"),
        pytest.param({"tasks": ["faith"]}, "tasks", id="no such task"),
        pytest.param(
            {"tasks": ["correctness"], "prompts": {"support": "p.md"}},
            "prompts.support", id="a prompt of a task that is not asked",
        ),
        pytest.param({"twice": {"sample": 0}}, "greater than 0", id="nothing twice"),
        pytest.param({"prompt": "p.md"}, "extra", id="a typo"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_settings_is_said(settings, message):
    with pytest.raises(ValidationError, match=message):
        config(**settings)


def test_tasks_are_in_one_order_and_claims_come_with_what_needs_them():
    assert config().asked == list(TASKS)
    assert config(tasks=["citations", "support"]).asked == ["claims", "support", "citations"]
    assert config(tasks=["correctness"]).asked == ["correctness"]


def test_a_judge_is_another_by_its_prompts_content_and_not_by_what_lies_beside(tmp_path):
    paths = [tmp_path / "a.md", tmp_path / "b.md"]
    for path in paths:
        path.write_text(PROMPT)
    built_in = config().identity()
    one, same = (config(prompts={"correctness": str(path)}).identity() for path in paths)
    assert one == same != built_in
    paths[1].write_text(PROMPT + "Be strict.")
    assert config(prompts={"correctness": str(paths[1])}).identity() != one
    beside = config(twice={"sample": 3}, calibration=["c.json"], concurrency=1)
    assert beside.identity() == built_in
    assert config(temperature=0.5).identity() != built_in


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_prompt_of_its_own(task):
    prompt = prompts.load(task, None)
    assert prompt.name == f"rayeval-judge-{task}"
    assert [role for role, _ in prompt.parts] == ["system", "user"]


def test_a_prompt_with_a_place_that_nothing_fills_is_refused(tmp_path):
    path = tmp_path / "p.md"
    path.write_text(PROMPT.replace("answer", "context"))
    with pytest.raises(ConfigError, match="'context'"):
        config(prompts={"correctness": str(path)}).loaded()


def test_a_fence_is_in_none_of_the_texts_and_equal_for_equal_ones():
    values = {"text": "a", "claims": ["b"]}
    assert prompts.fence(values) == prompts.fence(dict(reversed(values.items())))
    assert prompts.fence(values) != prompts.fence({"text": "a", "claims": ["c"]})
    assert prompts.fence(values) not in str(values)
