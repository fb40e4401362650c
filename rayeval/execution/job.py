"""A run under way, and what `plan.json` keeps of it so that `resume` can go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from rayeval import files
from rayeval.errors import ConfigError, RunError
from rayeval.execution.config import RunConfig
from rayeval.execution.load import validated
from rayeval.execution.runs import PLAN, record
from rayeval.execution.score.config import ScoreConfig, score_config
from rayeval.execution.stored import damaged
from rayeval.folders import in_the_way

NEEDED = {"run_id": str, "config_path": str, "config": dict, "options": dict, "started": str,
          "inputs": dict}  # fmt: skip
"""What every `plan.json` has."""


@dataclass(frozen=True)
class Options:
    """How and where to run; none of it changes a number, except `limit`."""

    runs: str = "runs"
    store: str | None = None
    ray: bool = False
    ray_address: str | None = None
    workers: int | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        """A run written below '' would land at the root of the file system."""
        if not self.runs or self.store == "":
            raise ConfigError("the folder of runs or the store is empty text; name a folder")
        for name, path in (("runs", self.runs), ("store", self.root)):
            if not files.is_uri(path) and (file := in_the_way(path)):
                raise ConfigError(
                    f"--{name}: {path} can't be a folder: {file} is a file; name another place"
                )
        if min(self.workers or 1, self.limit or 1) < 1 or 0 in (self.workers, self.limit):
            raise ConfigError(f"workers {self.workers}, limit {self.limit}: expected 1 or more")

    @property
    def root(self) -> str:
        """The store."""
        return (self.store or f"{self.runs.rstrip('/')}/.store").rstrip("/")


@dataclass
class Job:
    """One run, from its first moment."""

    run_id: str
    folder: str
    config_path: str
    config: RunConfig | ScoreConfig
    options: Options
    started: str
    pinned: dict[str, str] = field(default_factory=dict)
    """Content hashes of golden set and corpus, once known."""

    @property
    def of_run(self) -> RunConfig:
        """The configuration, where rayeval runs the pipeline itself."""
        return cast("RunConfig", self.config)

    @property
    def of_score(self) -> ScoreConfig:
        """The configuration, where a trace is scored."""
        return cast("ScoreConfig", self.config)

    def save(self) -> None:
        """Writes `plan.json`."""
        value: dict[str, Any] = {
            "run_id": self.run_id,
            "config_path": files.absolute(self.config_path),
            "config": self.config.model_dump(mode="json"),
            "options": asdict(self.options) | {"store": files.absolute(self.options.root)},
            "started": self.started,
            "inputs": self.pinned,
        }
        files.write_json(f"{self.folder}/{PLAN}", value)

    def pin(self, found: Mapping[str, str]) -> None:
        """Notes what the run reads, by hash; a resumed run must find the same."""
        again = "score" if isinstance(self.config, ScoreConfig) else f"run {self.config_path}"
        for name, value in self.pinned.items():
            if value != found[name]:
                raise RunError(
                    f"the {name} is no longer what run {self.run_id} began with; a run is one "
                    f"thing: start a new one with `rayeval {again}`"
                )
        if not self.pinned:
            self.pinned = dict(found)
            self.save()


def read_job(folder: str) -> Job:
    """The run under way in `folder`."""
    value = record(folder, PLAN, NEEDED)
    config: RunConfig | ScoreConfig
    if "trace" in value["config"]:
        config = score_config(value["config"])
    else:
        config = validated(value["config"], value["config_path"])
    try:
        options = Options(**value["options"])
    except TypeError as error:
        raise damaged(folder, f"{PLAN} has options of another version: {error}") from error
    job = Job(value["run_id"], folder, value["config_path"], config, options, value["started"])
    job.pinned = value["inputs"]
    return job
