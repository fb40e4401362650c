"""Replies by schema, prompts from files, estimates."""

import json

import pytest

from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Reply, Request
from rayeval.chat.estimate import estimate
from rayeval.chat.prompt import load
from rayeval.chat.structured import Bad, parse
from rayeval.errors import ConfigError

SCHEMA = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {"enum": ["yes", "no"]},
            "minItems": 2,
            "maxItems": 2,
        },
        "grade": {"type": "integer", "minimum": 0, "maximum": 3},
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}
GOOD = {"verdicts": ["yes", "no"]}


def said(text, finish_reason="stop"):
    return Reply(text, finish_reason, 1, 1, None, 1.0, "r")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param('{"verdicts": ["yes", "no"]}', GOOD, id="plain"),
        pytest.param(' \n{"verdicts": ["yes", "no"]}\n', GOOD, id="white space"),
        pytest.param('```json\n{"verdicts": ["yes", "no"]}\n```', GOOD, id="fenced"),
        pytest.param('```\n{"verdicts": ["yes", "no"]}\n```\n', GOOD, id="fenced, no language"),
        pytest.param('Sure! ```json\n{"verdicts": ["yes", "no"]}\n```', "unparseable", id="words before"),
        pytest.param('{"verdicts": ["yes", "no"', "unparseable", id="cut off"),
        pytest.param('{"verdicts": ["yes"]}', "wrong_count", id="too few"),
        pytest.param('{"verdicts": ["yes", "no", "no"]}', "wrong_count", id="too many"),
        pytest.param('{"verdicts": ["yes", "maybe"]}', "out_of_range", id="no such verdict"),
        pytest.param('{"verdicts": ["yes", "no"], "grade": 10}', "out_of_range", id="10 of 3"),
        pytest.param('{"verdicts": ["yes", "no"], "grade": "2"}', "unparseable", id="a text for a number"),
        pytest.param('{"verdicts": ["yes", "no"], "grade": NaN}', "unparseable", id="NaN"),
        pytest.param('{"verdicts": ["yes", "no"], "verdicts": ["no", "no"]}', "unparseable", id="twice"),
        pytest.param('{"verdicts": ["yes", "no"], "why": 1}', "unparseable", id="more than asked"),
        pytest.param("", "unparseable", id="empty"),
        pytest.param('```JSON\r\n{"verdicts": ["yes", "no"]}\r\n```', GOOD, id="fenced, CRLF"),
        pytest.param('```\n{"verdicts": ["yes", "no"]}\n```\n```\n{}\n```', "unparseable", id="two fences"),
        pytest.param('```python\n{"verdicts": ["yes", "no"]}\n```', "unparseable", id="code"),
        pytest.param('\ufeff{"verdicts": ["yes", "no"]}', "unparseable", id="a BOM"),
        pytest.param('{"verdicts": ["yes", "\\ud83d"]}', "unparseable", id="half of a character"),
        pytest.param('{"verdicts": ["yes", "\ud83d"]}', "unparseable", id="half of a character, raw"),
        pytest.param('{"verdicts": ["yes", "no"], "grade": 1e999}', "unparseable", id="no finite number"),
        pytest.param('{"verdicts": ["maybe"], "why": 1, "grade": 10}', "unparseable", id="the worst of many"),
        pytest.param('{"verdicts": ["maybe"], "grade": 10}', "wrong_count", id="the worse of two"),
        pytest.param('{"verdicts": ["yes", "no"], "grade": true}', "unparseable", id="true is no grade"),
        pytest.param('["yes", "no"]', "unparseable", id="no object"),
        pytest.param("[" * 100_000, "unparseable", id="nested without end"),
    ],
)  # fmt: skip
def test_a_reply_is_a_value_of_its_schema_or_an_outcome(text, want):
    found = parse(said(text), SCHEMA)
    assert (found.outcome if isinstance(found, Bad) else found) == want


def test_a_reply_that_ran_out_of_tokens_says_so():
    assert parse(said('{"verdicts": ["y', "length"), SCHEMA).outcome == "truncated"
    assert parse(said('```json\n{"verdicts": ["y', "length"), SCHEMA).outcome == "truncated"


def test_a_reason_is_text_that_a_table_can_hold():
    for text in ('{"\ud83d": 1, "\ud83d": 2}', '{"verdicts": ["' + "x" * 9999 + '", "no"]}'):
        found = parse(said(text), SCHEMA)
        assert len(found.reason.encode()) < 400


FRONT = "---\nname: support\nversion: 2\n---\n"


def test_a_prompt_is_a_file_with_a_version_and_a_hash(tmp_path):
    path = tmp_path / "p.md"
    path.write_text(
        FRONT
        + "# system\nBe strict.\n\n# user\n{{ question }}\n{% for e in evidence %}\n[{{ loop.index }}] {{ e }}\n{% endfor %}\n"
    )
    found = load(str(path), frozenset({"question", "evidence"}))
    assert (found.name, found.version) == ("support", "2")
    assert len(found.hash) == 32
    evil = "{{ 7 * 7 }} # user\n<b>"
    messages = found.messages(question=evil, evidence=["하나", "둘"])
    assert messages == (("system", "Be strict."), ("user", f"{evil}\n[1] 하나\n[2] 둘"))
    path.write_text(path.read_text() + " ")
    assert load(str(path), frozenset({"question", "evidence"})).hash != found.hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("# user\nhi", "a prompt begins with", id="no front matter"),
        pytest.param("---\nname:\nversion: 1\n---\n# user\nhi", "begins with", id="no name"),
        pytest.param("---\nname: x\nversion: 2026-13-45\n---\n# user\nhi", "no YAML", id="no date"),
        pytest.param(
            "---\nname: x\nversion: 1\nmodel: m\n---\n# user\nhi", "begins with", id="more in front"
        ),
        pytest.param("---\nname: x\n---\n# user\nhi", "a prompt begins with", id="no version"),
        pytest.param(FRONT + "hello", "expected the parts", id="no parts"),
        pytest.param(FRONT + "# system\nhi", "expected the parts", id="no user"),
        pytest.param(
            FRONT + "# user\n{{ quesiton }}", "nothing is known as 'quesiton'", id="a typo"
        ),
        pytest.param(FRONT + "# user\n{{ question", "no template", id="unclosed"),
        pytest.param(FRONT + "# user\n{{ question | shout }}", "no template", id="no such filter"),
        pytest.param(FRONT + "# user\n{% include 'a' %}", "can't include", id="another file"),
    ],
)
def test_a_prompt_that_is_none_is_said_at_once(tmp_path, text, message):
    path = tmp_path / "p.md"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load(str(path), frozenset({"question"}))
    with pytest.raises(ConfigError, match="no file"):
        load(str(tmp_path / "none.md"), frozenset())


def test_a_value_without_what_the_template_asks_of_it_names_the_prompt(tmp_path):
    path = tmp_path / "p.md"
    path.write_text(FRONT + "# user\n{{ question.txet }}")
    with pytest.raises(ConfigError, match=r"'support' can't be filled in.*txet"):
        load(str(path), frozenset({"question"})).messages(question={"text": "a"})


@pytest.mark.parametrize(
    "asks",
    [
        pytest.param("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", id="itself"),
        pytest.param("{{ '{}'.format() }}", id="no argument"),
        pytest.param("{{ '{a}'.format() }}", id="no argument of that name"),
        pytest.param("{{ [].pop() }}", id="the last of nothing"),
        pytest.param("{{ evidence | dictsort }}", id="a list as a mapping"),
        pytest.param("{{ 'a' * 10 ** 18 }}", id="more than the memory holds"),
        pytest.param("{{ question | int / 0 }}", id="a share of nothing"),
    ],
)
def test_a_template_that_asks_for_the_impossible_is_named(tmp_path, asks):
    path = tmp_path / "p.md"
    path.write_text(FRONT + "# user\n" + asks)
    prompt = load(str(path), frozenset({"question", "evidence"}))
    with pytest.raises(ConfigError, match=r"'support' can't be filled in: \S"):
        prompt.messages(question="q", evidence=["a"])


def test_a_prompt_that_is_the_same_for_every_question_is_none(tmp_path):
    path = tmp_path / "p.md"
    path.write_text(FRONT + "# user\nIs it so?")
    with pytest.raises(ConfigError, match="question }} is nowhere in it"):
        load(str(path), frozenset({"question"}), "question")
    path.write_text(FRONT + "# user\n{% if question == 'a' %}a{% endif %}")
    prompt = load(str(path), frozenset({"question"}), "question")
    assert prompt.messages(question="a") == (("user", "a"),)
    with pytest.raises(ConfigError, match="'support' comes to nothing"):
        prompt.messages(question="b")


@pytest.mark.parametrize(
    ("text", "words"),
    [("<think>hm</think>\n{}", "it begins '<think>"), ("", "is empty"), (" \n", "is empty")],
)
def test_what_a_reply_is_instead_of_json_is_said(text, words):
    assert words in parse(said(text), SCHEMA).reason


def test_an_estimate_is_never_less_than_what_it_will_be():
    config = OpenAI(url="http://127.0.0.1:1", model="m", max_completion_tokens=10,
                    prices={"input_per_million": 2, "output_per_million": 4})  # fmt: skip
    asked = [Request((("user", "한국어 질문입니다"),), "p") for _ in range(3)]
    found = estimate(config, asked)
    assert (found.requests, found.completion_tokens) == (3, 30)
    assert found.prompt_tokens >= 3 * len("한국어 질문입니다")
    assert found.cost_usd == pytest.approx((found.prompt_tokens * 2 + 30 * 4) / 1e6)
    assert estimate(config.model_copy(update={"prices": None}), asked).cost_usd is None
    assert json.dumps(found.__dict__)
