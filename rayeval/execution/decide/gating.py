"""Gates on a run: their file, their verdicts, and what CI reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import ValidationError

from rayeval import files
from rayeval.calibration.unlock import Known
from rayeval.comparison.differences import refuse
from rayeval.comparison.measure import figure, known, stage_of
from rayeval.comparison.pairs import Pairs, pair
from rayeval.errors import ConfigError
from rayeval.execution.decide.calibrated import known_records, why_locked
from rayeval.execution.guard import revealed
from rayeval.execution.runs import Run
from rayeval.execution.values import line_of, parsed, place_text
from rayeval.gates.config import RELATIVE, Gates, Place, entries
from rayeval.gates.faults import faults
from rayeval.gates.verdicts import EXIT_CODES, Verdict, Word, overall, verdict
from rayeval.report.gates import gates_text, junit, step_summary


@dataclass(frozen=True)
class Judged:
    """Every limit's verdict on one run."""

    run_id: str
    baseline: str | None
    verdicts: tuple[Verdict, ...]
    clusters: int
    questions: int
    look: str | None = None
    """Which comparison on the test split it is, where it is one."""

    @property
    def verdict(self) -> Word:
        """Of all together."""
        return overall(self.verdicts)

    @property
    def exit_code(self) -> int:
        """DESIGN §8."""
        return EXIT_CODES[self.verdict]

    def document(self) -> dict[str, Any]:
        """What `gate --json` prints (DESIGN §12)."""
        gates = [{key: _plain(v) for key, v in asdict(each).items()} for each in self.verdicts]
        return {"verdict": self.verdict, "run": self.run_id, "baseline": self.baseline,
                "gates": gates, "warnings": [self.look] if self.look else []}  # fmt: skip

    def __str__(self) -> str:
        return gates_text(self)


def read_gates(path: str) -> Gates:
    """The file of gates. Raises ConfigError with everything that is wrong with it."""
    if not files.exists(path) or files.is_folder(path):
        raise ConfigError(f"no gates at {path}; expected a YAML file with `gates:`")
    data = files.read_bytes(path)
    values = parsed(data, path)
    try:
        gates = Gates.model_validate(values)
    except ValidationError as error:
        found = [(place, said) for place, said in faults(error, values)]
        raise ConfigError(_listed(path, data, found)) from error
    return gates.placed([f"{path}:{line_of(data, place)}" for place, _ in entries(values)])


def _listed(path: str, data: bytes, found: Sequence[tuple[Place, str]]) -> str:
    """A line per fault, in the file's order: file, line, place, what is wrong there."""
    placed = [(line_of(data, place), place_text(place), said) for place, said in found]
    placed.sort(key=lambda fault: fault[0] or 0)
    return "\n".join(
        f"{path}{f':{line}' if line else ''}: {f'{place}: ' if place else ''}{said}"
        for line, place, said in placed
    )


def judge(
    gates: Gates,
    run: Run,
    base: Run | None,
    *,
    shared: bool = False,
    allow: Collection[str] = (),
    calibration: Sequence[str] = (),
    purpose: str | None = None,
    seed: int = 42,
) -> Judged:
    """The verdicts of every limit, in the file's order.

    calibration: files of records, besides those that the run was made with. purpose: for the
    ledger, in which differences on questions of the test split are entered.

    Raises PairingError for a baseline that the run can't be compared with, unless allowed.
    """
    if base is not None:
        refuse(base, run, allow)
    pairs = None if base is None else pair(base, run, shared=shared)
    own = pair(run, run)
    records = known_records(calibration)
    any_hardware = "hardware" in allow
    verdicts = tuple(_verdicts(gates, run, pairs, records, seed, any_hardware=any_hardware))
    return Judged(
        run.run_id,
        None if base is None else base.run_id,
        verdicts,
        clusters=int(own.clusters.max()) + 1,
        questions=len(own.base.ids),
        look=None if base is None else _look(gates, base, run, purpose),
    )


def _look(gates: Gates, base: Run, run: Run, purpose: str | None) -> str | None:
    """The ledger's word on what these gates tell of a baseline."""
    told = {gate.slice for gate in gates.gates if any(kind in RELATIVE for kind in gate.limits)}
    return revealed(base, run, purpose, told)


def _verdicts(
    gates: Gates,
    run: Run,
    pairs: Pairs | None,
    records: Known,
    seed: int,
    *,
    any_hardware: bool,
) -> list[Verdict]:
    found = []
    for gate, stage in zip(gates.gates, _stages(gates, run), strict=True):
        for kind in gate.limits:
            sides = [run] if pairs is None or kind not in RELATIVE else [run, pairs.base.run]
            whys = (why_locked(gate.metric, side, records, gate.slice) for side in sides)
            lock = next(filter(None, whys), None)
            seen = figure(gate, kind, stage, run, pairs, seed, any_hardware=any_hardware)
            seen = replace(seen, obstacle=str(lock) if lock else seen.obstacle)
            found.append(verdict(gate, kind, stage, seen))
    return found


def _stages(gates: Gates, run: Run) -> list[str]:
    """Each gate's stage. Raises ConfigError with every gate whose metric, or stage, the run hasn't,
    and then also names the slices that it hasn't."""
    stages, wrong = list[str](), list[str]()
    for number, gate in enumerate(gates.gates):
        try:
            stages.append(stage_of(gate, run))
        except ConfigError as error:
            wrong.append(f"{gates.place(number)}{error}")
    if wrong:
        raise ConfigError("\n".join([*wrong, *_empty(gates, run)]))
    return stages


def _empty(gates: Gates, run: Run) -> Iterator[str]:
    """Of slices that no question has."""
    slices = run.select("questions", ["slices"])["slices"].explode().unique().drop_nulls().to_list()
    for number, gate in enumerate(gates.gates):
        try:
            if gate.slice is not None:
                known(gate.slice, slices, f"gate {gate.title}: slice")
        except ConfigError as error:
            yield f"{gates.place(number)}{error}"


def write_gates(judged: Judged, runs: str) -> str:
    """gates.json, junit.xml and summary.md below RUNS/gates; returns the folder."""
    name = judged.run_id if judged.baseline is None else f"{judged.run_id}_vs_{judged.baseline}"
    folder = f"{runs.rstrip('/')}/gates/{name}"
    files.write_json(f"{folder}/gates.json", judged.document())
    files.write_bytes(f"{folder}/junit.xml", junit(judged).encode())
    files.write_bytes(f"{folder}/summary.md", step_summary(judged).encode())
    return folder


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
