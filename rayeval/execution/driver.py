"""Running a plan: every step once, from where the store leaves off."""

from __future__ import annotations

from dataclasses import dataclass, field

from rayeval.errors import InfrastructureError
from rayeval.execution import inputs
from rayeval.execution.calls import UNEXPECTED, UPSTREAM
from rayeval.execution.executor import Executor
from rayeval.execution.progress import Watcher
from rayeval.execution.reuse import register
from rayeval.execution.step import Step
from rayeval.execution.store import Commit, Output
from rayeval.words import plural


@dataclass
class Done:
    """A step with its whole output."""

    step: Step
    commits: list[Commit]
    computed: frozenset[int] = field(default_factory=frozenset)
    """Partitions that this run computed; the others came from the store."""

    @property
    def rows(self) -> int:
        """Rows of the output."""
        return sum(commit.rows for commit in self.commits)

    @property
    def errors(self) -> list[tuple[str, str]]:
        """(id, error) of every row that failed."""
        return [error for commit in self.commits for error in commit.errors]


def run_step(root: str, step: Step, executor: Executor, watcher: Watcher) -> Done:
    """The step's whole output: stored, completed, or computed."""
    output = Output(root, step.key)
    finished = output.manifest()
    if finished is not None:
        done = Done(step, finished)
        watcher.cached(step.name, done.rows)
        return done
    commits = output.commits()
    todo = [part for part in range(parts_of(root, step)) if part not in commits]
    stream = executor.compute(step, todo) if todo else iter(())
    for commit in watcher.watch(step.name, stream, len(todo), rows_ahead(root, step) or 0):
        commits[commit.part] = commit
    done = Done(step, [commits[part] for part in sorted(commits)], frozenset(todo))
    _refuse_wreck(done)
    output.finish(commits.values())
    register(root, step)
    return done


def _refuse_wreck(done: Done) -> None:
    """Rows fail at stages of the user's; bookkeeping that fails, or a stage that does on all, is
    broken, and its rows are not to blame."""
    own = [(row, error) for row, error in done.errors if not error.startswith(UPSTREAM)]
    unexpected = [error for _, error in own if error.startswith(UNEXPECTED)]
    if own and (not done.step.fallible or len(unexpected) >= max(1, done.rows)):
        row, error = own[0]
        raise InfrastructureError(
            f"the step {done.step.name} failed on {plural(len(own), 'row')}, first on {row}: "
            f"{error}"
        )


def parts_of(root: str, step: Step) -> int:
    """How many partitions the step's output has."""
    if step.kind == "produce":
        return step.parts or 1
    return inputs.count(root, step.batch[0].key)


def rows_ahead(root: str, step: Step) -> int | None:
    """Rows that a step will be given; None where nobody knows yet."""
    if step.kind == "produce":
        return None
    upstream = Output(root, step.batch[0].key).manifest()
    return None if upstream is None else sum(commit.rows for commit in upstream)
