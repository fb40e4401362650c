"""The same bytes on a real Ray cluster (law 3), through lost nodes and a killed driver (law 8)."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from execution_project import contents

from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.placement import Placement
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.execution.runs import Run, load

pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning"),
]

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # everything here is on loopback

ROOT = Path(__file__).parents[2]
REAL = ["placement.workers=2", "placement.shards=4", "placement.batch=7"]


@pytest.fixture(scope="module")
def local(project, tmp_path_factory) -> dict[str, bytes]:
    runs = str(tmp_path_factory.mktemp("local"))
    loaded = load_config(str(project / "rayeval.yaml"))
    return contents(run_config(loaded, Options(runs=runs), Silent()))


@pytest.fixture
def cluster():
    """A head that only drives, and two nodes that work and claim a GPU each."""
    import ray
    from ray.cluster_utils import Cluster

    started = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False},
    )
    worker = {"num_cpus": 2, "num_gpus": 1, "node_ip_address": "127.0.0.1"}
    nodes = [started.add_node(**worker) for _ in range(2)]
    yield started, nodes
    ray.shutdown()
    started.shutdown()


@pytest.mark.parametrize(
    "sets",
    [
        pytest.param([], id="one worker, one shard"),
        pytest.param(REAL, id="two workers, four shards, batches of seven"),
    ],
)
def test_ray_gives_the_same_bytes_as_local(project, tmp_path, local, sets):
    loaded = load_config(str(project / "rayeval.yaml"), sets)
    run = run_config(loaded, Options(runs=str(tmp_path), ray=True), Silent())
    assert contents(run) == local


def test_models_are_placed_on_gpus(project, tmp_path, local, cluster):
    """GPUs are bookkeeping here: workers that claim a quarter, on nodes that claim to have one."""
    started, _ = cluster
    loaded = load_config(str(project / "rayeval.yaml"), [*REAL, "placement.gpus=0.25"])
    run = run_config(loaded, Options(runs=str(tmp_path), ray_address=started.address), Silent())
    assert contents(run) == local


def test_too_few_gpus_are_said(project, tmp_path, cluster):
    started, _ = cluster
    from rayeval.errors import InfrastructureError

    loaded = load_config(str(project / "rayeval.yaml"), ["placement.gpus=8"])
    with pytest.raises(InfrastructureError, match=r"asks for 1\.0 CPUs and 8\.0 GPUs"):
        run_config(loaded, Options(runs=str(tmp_path), ray_address=started.address), Silent())


def test_a_node_lost_in_the_middle_changes_nothing(project, tmp_path, local, cluster):
    started, nodes = cluster

    def lose() -> None:
        while len(list(tmp_path.glob(".store/*/*/commits/*.json"))) < 12:
            time.sleep(0.05)
        started.remove_node(nodes[0], allow_graceful=False)

    thread = threading.Thread(target=lose)
    thread.start()
    loaded = load_config(str(project / "rayeval.yaml"), REAL)
    run = run_config(loaded, Options(runs=str(tmp_path), ray_address=started.address), Silent())
    thread.join()
    assert contents(run) == local


def test_bad_input_on_ray_is_the_same_error(project, tmp_path):
    from rayeval.errors import InputError

    override = "retrieve.arms.dense.embedder={kind: openai, base_url: 'http://127.0.0.1:9/v1', "
    override += "model: none, api_key_env: RAYEVAL_NO_SUCH_KEY}"
    loaded = load_config(str(project / "rayeval.yaml"), [override])
    with pytest.raises(InputError, match="RAYEVAL_NO_SUCH_KEY"):
        run_config(loaded, Options(runs=str(tmp_path), ray=True), Silent())


def test_a_killed_driver_is_resumed_on_ray(project, tmp_path, local):
    command = [sys.executable, "-c", "from rayeval.cli.main import main; main()", "run",
               str(project / "rayeval.yaml"), "--runs", str(tmp_path), "--ray"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(list(tmp_path.glob(".store/*/*/commits/*.json"))) < 12:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    run = next(p.name for p in tmp_path.iterdir() if p.name != ".store")
    assert contents(resume_run(run, str(tmp_path), Silent(), ray=True)) == local


@pytest.fixture
def head(tmp_path):
    """A head from `cluster/local.sh`, with its job server."""
    gcs, dashboard, agent = free_ports(3)
    environment = {
        **os.environ,
        "RAYEVAL_CLUSTER": str(tmp_path / "cluster"),
        "RAY": str(Path(sys.executable).with_name("ray")),
        "RAYEVAL_DASHBOARD_PORT": dashboard,
        "RAYEVAL_RAY_PORT": gcs,
        "RAYEVAL_AGENT_PORT": agent,
        "RAY_AUTH_MODE": "token",
        "RAY_ADDRESS": f"http://127.0.0.1:{dashboard}",
    }
    script = [str(ROOT / "cluster/local.sh")]
    try:
        subprocess.run([*script, "start", "--num-cpus=2"], env=environment, check=True, timeout=180)
        yield environment
    finally:
        subprocess.run([*script, "stop"], env=environment, check=True, timeout=60)


def free_ports(count: int) -> list[str]:
    """Ports that nobody listens on at the moment."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [str(each.getsockname()[1]) for each in sockets]


def submit(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [environment["RAY"], "job", "submit", "--working-dir", str(ROOT), "--",
               sys.executable, "jobs/evaluate.py", *arguments]  # fmt: skip
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=400
    )


def test_a_submitted_job_writes_its_verdict(project, tmp_path, local, head):
    verdict = tmp_path / "verdict.json"
    done = submit(head, str(project / "rayeval.yaml"), "--runs", str(tmp_path / "runs"),
                  "--verdict", str(verdict))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(verdict.read_text())
    assert said["exit_code"] == 0
    assert "Means over answerable questions" in done.stdout
    assert said["path"] in done.stdout
    assert contents(load(said["path"])) == local
    bad = submit(head, str(project / "rayeval.yaml"), "--set", "chunk.sise=4", "--verdict",
                 str(verdict))  # fmt: skip
    assert bad.returncode != 0
    assert json.loads(verdict.read_text())["exit_code"] == 2
    assert "did you mean size" in json.loads(verdict.read_text())["error"]


def test_json_on_ray_is_one_document(project, tmp_path):
    command = [sys.executable, "-c", "from rayeval.cli.main import main; main()", "run",
               str(project / "rayeval.yaml"), "--runs", str(tmp_path), "--ray", "--json"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 92
    assert isinstance(load(json.loads(done.stdout)["path"]), Run)
    shutil.rmtree(tmp_path)


def test_placement_defaults_are_one_of_everything():
    assert Placement() == Placement(workers=1, shards=1, batch=64, cpus=1.0, gpus=0.0)
