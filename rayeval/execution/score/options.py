"""What a caller of `score` may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rayeval import files
from rayeval.answer.refusals import Counted
from rayeval.execution.job import Options
from rayeval.execution.load import judge_part
from rayeval.execution.score.config import ScoreConfig, score_config

Convention = Literal["rayeval", "trec"]


@dataclass(frozen=True)
class ScoreOptions:
    """How to score, and where the run goes."""

    convention: Convention = "rayeval"
    format: str | None = None
    """The tool that wrote the trace, as `golden import --help` lists them; None: rayeval's own."""
    corpus: str | None = None
    chunks: Sequence[str] = ()
    """Files with the chunks that hits name by id."""
    metrics: Sequence[str] | None = None
    relevant: int | None = None
    cutoffs: Sequence[int | str] | None = None
    any_order: bool = False
    """Order hits by their scores, whatever order they are listed in (`--sort score`)."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Stage → what it does (`config.ROLES`), where its name doesn't say so."""
    refusals: Counted = "whole"
    """Which answers are refusals where the trace doesn't say: those that say nothing else, or also
    those that go on to say only what is missing (`explained`)."""
    keep_trace: bool = False
    judge: str | None = None
    """A YAML file whose part `judge:` says who judges the trace's answers; None: nobody."""
    runs: str = "runs"
    store: str | None = None
    name: str = "score"
    label: str | None = None
    """What messages call the trace; None: its paths."""
    ray: bool = False
    ray_address: str | None = None
    workers: int | None = None

    @property
    def where(self) -> Options:
        """Where the run and the store lie, and who computes."""
        return Options(self.runs, self.store, self.ray, self.ray_address, self.workers)

    def config(self, golden: str, trace: Sequence[str]) -> ScoreConfig:
        """The configuration of a score; ConfigError lists what is wrong with it."""
        lists = {"names": self.metrics, "cutoffs": self.cutoffs}
        metrics: dict[str, Any] = {k: list(v) for k, v in lists.items() if v is not None}
        if self.relevant is not None:
            metrics["relevant"] = self.relevant
        values: dict[str, Any] = {
            "name": self.name,
            "golden": {"path": files.absolute(golden)},
            "trace": {
                "paths": [files.absolute(path) for path in trace],
                "label": self.label,
                "format": self.format,
                "any_order": self.any_order,
                "roles": dict(self.roles),
                "refusals": self.refusals,
                "keep": self.keep_trace,
            },
            "corpus": None if self.corpus is None else {"path": files.absolute(self.corpus)},
            "chunks": [files.absolute(path) for path in self.chunks],
            "metrics": metrics,
            "judge": None if self.judge is None else judge_part(self.judge),
        }
        return score_config(values)
