"""What the models of NoMIRACL's published outputs refuse, as `rayeval score` says (docs).

    python tests/results/refusals.py ../shared/data

The golden set is the importer's; a trace holds one model's outputs. What counts as a refusal is the
list for foreign traces: the whole answer says nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KINDS = ("relevant", "non_relevant")


def main(data: Path) -> None:
    folder = data / "nomiracl_ko_en"
    print("| language | model | right refusals | false refusals | precision | accuracy |")
    print("|---|---|---:|---:|---:|---:|")
    for language in ("ko", "en"):
        with tempfile.TemporaryDirectory() as work:
            golden = imported(folder, language, Path(work))
            for model in models(folder, language):
                found = refusals(folder, language, model, golden, Path(work))
                print(row(language, model, found), flush=True)


def imported(folder: Path, language: str, work: Path) -> Path:
    """The golden set of one language."""
    files = [str(folder / f"{language}.{kind}.jsonl") for kind in KINDS]
    command("golden", "import", "nomiracl", *files, "--out", str(work / "golden"))
    return work / "golden" / "golden.jsonl"


def models(folder: Path, language: str) -> list[str]:
    return sorted(next(records(folder, language))["results"])


def refusals(
    folder: Path, language: str, model: str, golden: Path, work: Path
) -> dict[str, dict[str, Any]]:
    """`refusals` of the scored run of one model."""
    trace = work / "trace.jsonl"
    with trace.open("w") as file:
        for record in records(folder, language):
            hits = [{"source_id": f"{language}-{name}"} for name in record["docids"]]
            line = {
                "question_id": f"{language}-{record['query_id']}",
                "context": hits,
                "answer": record["results"][model],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    options = ("--golden", str(golden), "--trace", str(trace), "--runs", str(work / "runs"))
    return json.loads(command("score", *options, "--json"))["refusals"]["answer"]


def row(language: str, model: str, found: dict[str, Any]) -> str:
    of = [f"{found[f'{kind}_refusals']} of {found[which]}"
          for kind, which in (("right", "unanswerable"), ("false", "answerable"))]  # fmt: skip
    precision = "–" if found["precision"] is None else f"{found['precision']:.3f}"
    return f"| {language} | {model} | {of[0]} | {of[1]} | {precision} | {found['accuracy']:.3f} |"


def records(folder: Path, language: str) -> Iterator[dict[str, Any]]:
    for kind in KINDS:
        with (folder / f"{language}.{kind}.jsonl").open() as lines:
            yield from map(json.loads, lines)


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rayeval", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"rayeval {' '.join(words[:3])}: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
