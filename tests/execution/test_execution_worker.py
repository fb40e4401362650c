"""What a model's worker gets on Ray: its GPU, and an environment of its own (vLLM's, say)."""

import sys

import pyarrow as pa
import pytest

from rayeval.execution.placement import Placement
from rayeval.execution.step import Step
from rayeval.execution.store import Output, read
from rayeval.tables import TEXT

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning"),
]
SEEN = pa.schema([("gpus", pa.int64()), ("mark", TEXT), ("actor", pa.bool_())])


def seen(shard: object):
    """One row: what this worker has."""
    import os

    import ray

    row = {
        "gpus": len(ray.get_runtime_context().get_accelerator_ids()["GPU"]),
        "mark": os.environ.get("RAYEVAL_MARK"),
        "actor": ray.get_runtime_context().get_actor_id() is not None,
    }
    yield pa.Table.from_pylist([row], SEEN), []


@pytest.fixture(scope="module")
def cluster():
    """One node that claims to have a GPU."""
    import ray
    from ray.cluster_utils import Cluster

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    node = {"num_cpus": 2, "num_gpus": 1, "node_ip_address": "127.0.0.1"}
    started = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    yield started.address
    ray.shutdown()
    started.shutdown()


@pytest.mark.parametrize(
    ("model", "want"),
    [
        pytest.param(True, {"gpus": 1, "mark": "own", "actor": True}, id="a model's worker"),
        pytest.param(False, {"gpus": 0, "mark": None, "actor": False}, id="any other worker"),
    ],
)
def test_only_a_model_gets_the_gpu_and_the_environment(cluster, tmp_path, model, want):
    from rayeval.execution.ray import RayExecutor

    placement = Placement(gpus=1, runtime_env={"env_vars": {"RAYEVAL_MARK": "own"}})
    executor = RayExecutor(str(tmp_path), placement, cluster)
    step = Step("seen", "produce", {"model": model}, seen, SEEN, parts=1, model=model)
    [commit] = executor.compute(step, [0])
    Output(str(tmp_path), step.key).finish([commit])
    executor.close()
    [path] = Output(str(tmp_path), step.key).paths()
    assert read(path).to_pylist() == [want]
