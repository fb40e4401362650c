"""A committed run, as Polars frames."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from rayeval import files
from rayeval.answer import rows as answers
from rayeval.errors import RunError
from rayeval.execution.stored import Stored, damaged
from rayeval.judge import rows as judgements
from rayeval.metrics.answers.per_answer import ANSWERED
from rayeval.metrics.answers.refusals import ABSTENTION
from rayeval.metrics.answers.scores import CURVES, THRESHOLDS
from rayeval.metrics.answers.spread import SPREAD

MANIFEST, PLAN = "manifest.json", "plan.json"
NEEDED = {"run_id": str, "name": str, "files": dict, "stages": list, "corpus": dict, "models": dict,
          "warnings": list}  # fmt: skip
"""What every manifest has."""


class Run(Stored):
    """One immutable run. `print(run)` shows its metrics; the tables are Polars frames."""

    def __init__(self, path: str) -> None:
        self.path = path
        if not files.exists(f"{path}/{MANIFEST}"):
            raise _not_a_run(path)
        self.manifest = record(path, MANIFEST, NEEDED)
        stated = self.manifest["files"]
        if not all(isinstance(f, dict) and "sha256" in f for f in stated.values()):
            raise damaged(path, f"{MANIFEST} lacks the hash of a file")

    @classmethod
    def uncommitted(cls, path: str, manifest: dict[str, Any]) -> Run:
        """A run whose tables are written and whose manifest is not yet."""
        run = cls.__new__(cls)
        run.path, run.manifest = path, manifest
        return run

    @property
    def run_id(self) -> str:
        """The run's name below its folder of runs."""
        return str(self.manifest["run_id"])

    @cached_property
    def questions(self) -> pl.DataFrame:
        """The questions as evaluated, with resolved evidence."""
        return self._table("questions")

    @cached_property
    def trace(self) -> pl.DataFrame:
        """A row per (question_id, stage): the hits, or the error."""
        return self._table("trace")

    @cached_property
    def passages(self) -> pl.DataFrame:
        """Text and spans of every chunk in the trace and of the gold."""
        return self._table("passages")

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """A row per (question_id, stage): status and a column per metric."""
        return self._table("per_query")

    @cached_property
    def failures(self) -> pl.DataFrame:
        """A row per answerable question: status, first failure, what contributed; of an error also
        `message`, what it said."""
        from rayeval.report.errors import messages

        said = messages(self)
        return self._table("failures").join(
            said, on="question_id", how="left", maintain_order="left"
        )

    @cached_property
    def aggregate(self) -> pl.DataFrame:
        """A row per (stage, metric): mean and the counts behind it."""
        return self._table("aggregate")

    @cached_property
    def slices(self) -> pl.DataFrame:
        """A row per (slice, stage, metric)."""
        return self._table("slices")

    @cached_property
    def answers(self) -> pl.DataFrame:
        """A row per (question_id, variant, repeat); none where nothing was answered."""
        return self._optional("answers", answers.ROWS)

    @cached_property
    def judgements(self) -> pl.DataFrame:
        """A row per judged answer; none where nothing was judged."""
        return self._optional("judgements", judgements.ROWS)

    @cached_property
    def judged_again(self) -> pl.DataFrame:
        """As `judgements`, of the answers that were judged a second time."""
        return self._optional("judged_again", judgements.ROWS)

    @cached_property
    def per_answer(self) -> pl.DataFrame:
        """A row per (question_id, stage, repeat): what each answer is worth."""
        return self._optional("per_answer", ANSWERED)

    @cached_property
    def abstention(self) -> pl.DataFrame:
        """Answers counted by slice, stage, and what is told of them."""
        return self._optional("abstention", ABSTENTION)

    @cached_property
    def spread(self) -> pl.DataFrame:
        """How far answers to one question differ: a row per (stage, metric)."""
        return self._optional("spread", SPREAD)

    @cached_property
    def thresholds(self) -> pl.DataFrame:
        """Scores of answerable against unanswerable questions: a row per (stage, slice)."""
        return self._optional("thresholds", THRESHOLDS)

    @cached_property
    def risk_coverage(self) -> pl.DataFrame:
        """What goes wrong when only questions above a score are answered."""
        return self._optional("risk_coverage", CURVES)

    @cached_property
    def latency(self) -> pl.DataFrame:
        """A row per (question_id, stage): milliseconds, counters, mode."""
        return self._table("latency")

    def summary(self) -> dict[str, Any]:
        """What `run --json` prints (DESIGN §12)."""
        from rayeval.report.summary import summary

        return summary(self)

    def damage(self) -> list[str]:
        """What differs from the manifest: a line per file that is missing, altered or added."""
        lines = []
        for name, stated in sorted(self.manifest["files"].items()):
            path = f"{self.path}/{name}"
            if not files.exists(path):
                lines.append(f"{name}: missing")
            elif hashlib.sha256(files.read_bytes(path)).hexdigest() != stated["sha256"]:
                lines.append(f"{name}: its content is not what the run wrote")
        stated = self.manifest.get("sha256")  # runs of older versions have none
        if stated is not None and stated != sealed(self.manifest)["sha256"]:
            lines.append(f"{MANIFEST}: its content is not what the run wrote")
        known = {*self.manifest["files"], MANIFEST}
        found = [name for name in files.list_files(self.path) if not name.startswith(".")]
        return lines + [f"{name}: the run did not write it" for name in found if name not in known]

    def __str__(self) -> str:
        from rayeval.report.terminal import metrics_text

        return metrics_text(self)


def record(path: str, name: str, needed: Mapping[str, type]) -> dict[str, Any]:
    """One of a run's JSON files.

    needed: the types of fields that it must have.
    Raises RunError if it is none.
    """
    try:
        value = files.read_json(f"{path}/{name}")
    except ValueError as error:
        raise damaged(path, f"{name} is not JSON: {error}") from error
    found = value if isinstance(value, dict) else {}
    if wrong := [key for key, type_ in needed.items() if not isinstance(found.get(key), type_)]:
        raise damaged(path, f"{name} lacks {', '.join(wrong)}")
    return found


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with the hash of all that it says."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    text = json.dumps(rest, ensure_ascii=True, sort_keys=True)
    return {**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def load(path: str, runs: str = "runs") -> Run:
    """The run at `path`, or of that id below the folder `runs`."""
    return Run(locate(path, runs))


def locate(run: str, runs: str) -> str:
    """Where the run named `run` lies: a path, or an id (or its unique beginning) below `runs`."""
    for path in (run, f"{runs.rstrip('/')}/{run}"):
        if any(files.exists(f"{path}/{name}") for name in (MANIFEST, PLAN)):
            return path.rstrip("/")
    places = [name.split("/") for name in files.list_files(runs)]
    known = sorted({place[0] for place in places if place[1:] in ([MANIFEST], [PLAN])})
    matching = [name for name in known if name.startswith(run)] if run else []
    if len(matching) == 1:
        return f"{runs.rstrip('/')}/{matching[0]}"
    shown = ", ".join(known[-5:]) or "none"
    raise RunError(f"no run {run!r}: neither a path nor an id below {runs} (latest there: {shown})")


def _not_a_run(path: str) -> RunError:
    if files.exists(f"{path}/{PLAN}"):
        return RunError(
            f"the run at {path} was never finished: it has no {MANIFEST}. "
            f"`rayeval resume {path}` goes on where it stopped."
        )
    return RunError(f"no run at {path}: there is no {MANIFEST}")
