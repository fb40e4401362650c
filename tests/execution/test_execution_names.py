"""An arm's name is a stage, a step and a column: it must not be another one's."""

import pytest
from execution_project import CONFIG

from rayeval.corpus.units import Unit
from rayeval.errors import ConfigError
from rayeval.execution.config import RESERVED
from rayeval.execution.load import load_values
from rayeval.execution.plan.plan import Inputs, Plan, make_plan

ARMS = {
    "zz_words": {"kind": "bm25"},
    "zz_meaning": {"kind": "dense", "embedder": {"kind": "hashed"}, "exact_sample": 3,
                   "ann": {"kind": "hnsw"}},
}  # fmt: skip


@pytest.fixture
def plan(tmp_path) -> Plan:
    """A plan with a step of every kind."""
    (tmp_path / "config.json").write_text("{}")
    rerank = {"kind": "cross_encoder", "model": {"kind": "fit", "base": str(tmp_path)}}
    values = CONFIG | {"retrieve": {"arms": ARMS}, "rerank": rerank}
    inputs = Inputs((Unit("docs", ("a.md",)),), ("fingerprint",), "golden")
    return make_plan(load_values(values).config, inputs)


def test_every_name_beside_an_arms_is_reserved(plan):
    steps = {step.name for step in plan.steps}
    batches = [{column.name for column in step.batch} for step in plan.steps]
    beside = set().union(*(names for names in batches if any(n.startswith("zz") for n in names)))
    plain = {name for name in steps | beside if name.isidentifier() and "zz_" not in name}
    assert plain <= RESERVED


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_reserved_name_is_refused(name):
    with pytest.raises(ConfigError, match=f"'{name}' can't be an arm's name"):
        load_values(CONFIG | {"retrieve": {"arms": {name: {"kind": "bm25"}}}})
