"""What the models of NoMIRACL's published outputs refuse, as `rayeval score` says (docs).

    python tests/results/refusals.py ../shared/data

Nothing but commands: `golden import nomiracl` leaves the golden set and a trace per model. What counts
as a refusal is the list for foreign traces: the whole answer says nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KINDS = ("relevant", "non_relevant")


def main(data: Path) -> None:
    print("| language | model | right refusals | false refusals | precision | accuracy |")
    print("|---|---|---:|---:|---:|---:|")
    for language in ("ko", "en"):
        with tempfile.TemporaryDirectory() as work:
            folder = imported(data / "nomiracl_ko_en", language, Path(work))
            for trace in sorted(folder.glob("trace-*.jsonl")):
                model = trace.stem.removeprefix("trace-")
                print(row(language, model, refusals(folder, model)), flush=True)


def imported(folder: Path, language: str, work: Path) -> Path:
    """What the importer makes of one language."""
    files = [str(folder / f"{language}.{kind}.jsonl") for kind in KINDS]
    command("golden", "import", "nomiracl", *files, "--out", str(work / "golden"))
    return work / "golden"


def refusals(folder: Path, model: str) -> dict[str, dict[str, Any]]:
    """`refusals` of the scored run of one model."""
    trace = str(folder / f"trace-{model}.jsonl")
    options = ("--golden", str(folder / "golden.jsonl"), "--trace", trace)
    scored = command("score", *options, "--runs", str(folder / "runs"), "--json")
    return json.loads(scored)["refusals"]["answer"]


def row(language: str, model: str, found: dict[str, Any]) -> str:
    of = [f"{found[f'{kind}_refusals']} of {found[which]}"
          for kind, which in (("right", "unanswerable"), ("false", "answerable"))]  # fmt: skip
    precision = "–" if found["precision"] is None else f"{found['precision']:.3f}"
    return f"| {language} | {model} | {of[0]} | {of[1]} | {precision} | {found['accuracy']:.3f} |"


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rayeval", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"rayeval {' '.join(words[:3])}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
