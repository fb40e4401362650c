"""Whatever stands in a YAML file or after --set is a configuration or one clear error."""

from pathlib import Path

import pytest
import yaml
from execution_project import CONFIG

from rayeval.errors import ConfigError
from rayeval.execution.job import Options
from rayeval.execution.load import load_config, load_values

BAD_VALUES = [
    pytest.param("2026-13-45", "month must be in 1..12", id="no date"),
    pytest.param("!!float x", "could not convert", id="no float"),
    pytest.param("!!int x", "invalid literal", id="no int"),
    pytest.param("!!bool x", "not valid YAML", id="no bool"),
    pytest.param("!!timestamp x", "not valid YAML", id="no time"),
    pytest.param("1" * 5000, "4300 digits", id="5,000 digits"),
    pytest.param("[" * 3000 + "]" * 3000, "nested too deeply", id="3,000 levels"),
    pytest.param("&a [*a]", "holds itself", id="a value that holds itself"),
    pytest.param("{{x", "not valid YAML", id="no YAML"),
    pytest.param(".inf", "expected a finite number, found inf", id="infinite"),
    pytest.param(".nan", "expected a finite number, found nan", id="not a number"),
    pytest.param("10000000000000000000000", r"up to 2\^53, found one of 74 bits", id="74 bits"),
]


@pytest.mark.parametrize(("value", "says"), BAD_VALUES)
def test_a_file_with_a_value_that_is_none(tmp_path, value, says):
    path = tmp_path / "rayeval.yaml"
    path.write_text(f"seed: {value}\n" + yaml.safe_dump(CONFIG))
    with pytest.raises(ConfigError, match=f"(?s){path}.*{says}"):
        load_config(str(path))


@pytest.mark.parametrize(("value", "says"), BAD_VALUES)
def test_an_override_with_a_value_that_is_none(value, says):
    with pytest.raises(ConfigError, match=f"(?s){says}"):
        load_values(CONFIG, [f"seed={value}"])


def test_arms_may_share_settings_by_merge_key(tmp_path):
    path = tmp_path / "rayeval.yaml"
    arms = "  arms:\n    one: &one {kind: bm25, depth: 7, k1: 2}\n    two: {<<: *one, depth: 9}\n"
    rest = {key: value for key, value in CONFIG.items() if key != "retrieve"}
    path.write_text(yaml.safe_dump(rest) + "retrieve:\n" + arms)
    found = load_config(str(path)).config.retrieve.arms
    assert [(arm.depth, arm.k1) for arm in found.values()] == [(7, 2), (9, 2)]


@pytest.mark.parametrize(
    "text", ["seed: 1\n'seed': 2\n", "chunk: {<<: {size: 4}, size: 5, size: 6}\n"]
)
def test_a_key_given_twice_is_an_error(tmp_path, text):
    path = tmp_path / "rayeval.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="given twice"):
        load_config(str(path))


@pytest.mark.parametrize("setting", ["golden.path", "corpus.path"])
def test_an_empty_path_is_not_the_folder_of_the_configuration(setting):
    with pytest.raises(ConfigError, match=f"{setting}.*at least 1 char"):
        load_values(CONFIG, [f"{setting}=''"])


def test_what_goes_to_an_endpoint_is_never_taken_for_a_path(tmp_path, monkeypatch):
    (tmp_path / "bge-m3").mkdir()
    monkeypatch.chdir(tmp_path)
    embedder = {"kind": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "bge-m3",
                "query_body": {"path": "x", "model": "bge-m3"}}  # fmt: skip
    arms = {"dense": {"kind": "dense", "embedder": embedder}}
    found = load_values(CONFIG | {"retrieve": {"arms": arms}}).config.retrieve.arms["dense"]
    assert (found.embedder.model, found.embedder.query_body) == ("bge-m3", embedder["query_body"])


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"runs": ""}, id="runs at the root"),
        pytest.param({"store": ""}, id="store at the root"),
        pytest.param({"workers": 0}, id="no worker"),
        pytest.param({"limit": -1}, id="negative limit"),
    ],
)
def test_options_that_cannot_be(options):
    with pytest.raises(ConfigError, match=r"name a folder|1 or more"):
        Options(**options)


@pytest.mark.parametrize("path", ["foo://x", "file://", "file:///a b", "a\0b"])
@pytest.mark.parametrize("setting", ["golden.path", "corpus.path"])
def test_paths_that_nothing_can_open(project, evaluate, tmp_path, setting, path):
    with pytest.raises(ConfigError, match=r"can't open|no path"):
        evaluate(f"{setting}={yaml.safe_dump(path).splitlines()[0]}")
    assert not [p for p in Path(tmp_path / "runs").iterdir() if p.name != ".store"]
