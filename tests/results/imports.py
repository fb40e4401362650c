"""Imports every folder of public data that has gold, checks it, and prints a table (docs).

    python tests/results/imports.py ../shared/data

The collections in TREC form (cacm, vaswani) are turned into BEIR's files first: topics and documents
have no importer of their own. Problems are those of `rayeval golden lint` where that command exists,
else those of `rayeval validate`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

IMPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "chroma_chunking": ("chroma", ("questions_df.csv", "*.md")),
    "clapnq": ("clapnq", ("*.jsonl",)),
    "hipporag_multihop (HotpotQA)": ("hotpotqa", ("hotpotqa_train.json",)),
    "hipporag_multihop (MuSiQue)": ("musique", ("musique_train.json",)),
    "nomiracl_ko_en": ("nomiracl", ("*.jsonl",)),
    "mtrag_human": ("mtrag", ("reference.jsonl",)),
    "mtrag_human (analytics)": ("mtrag", ("reference_subset_with_human_evaluations.json",)),
    "covidqa": ("squad", ("*.json",)),
    "cacm": ("beir", ()),
    "vaswani": ("beir", ()),
}
DOC = re.compile(r"<DOC>\s*<DOCNO>\s*(\S+?)\s*</DOCNO>(.*?)</DOC>", re.DOTALL)
TOPIC = re.compile(r"<top>\s*<num>\s*(\S+?)\s*</num>\s*<title>(.*?)</title>", re.DOTALL)


def main(data: Path) -> None:
    print("| data | format | questions | evidence | spans | problems | import s | check s |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (kind, patterns) in IMPORTS.items():
        with tempfile.TemporaryDirectory() as work:
            folder = data / name.split()[0]
            files = [str(p) for pattern in patterns for p in sorted(folder.glob(pattern))]
            if not files:
                files = [str(beir_of(folder, Path(work) / "beir"))]
            print(row(name, kind, files, Path(work) / "out"), flush=True)


def row(name: str, kind: str, files: list[str], out: Path) -> str:
    start = time.perf_counter()
    command("golden", "import", kind, *files, "--out", str(out))
    imported = time.perf_counter()
    questions = [json.loads(line) for line in (out / "golden.jsonl").open()]
    evidence = [e for question in questions for e in question.get("evidence", ())]
    spans = sum(len(e.get("spans", ())) or ("start_char" in e) for e in evidence)
    begun = time.perf_counter()
    found = problems(out)
    checked = time.perf_counter()
    kinds: dict[str, int] = {}
    for problem in found:
        kinds[problem["kind"]] = kinds.get(problem["kind"], 0) + 1
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "0"
    counts = f"{len(questions):,} | {len(evidence):,} | {spans:,} | {said}"
    return f"| {name} | `{kind}` | {counts} | {imported - start:.1f} | {checked - begun:.1f} |"


def problems(out: Path) -> list[dict[str, Any]]:
    """Of lint where there is one, of validate else."""
    config = {"golden": {"path": "golden.jsonl"}, "corpus": {"path": "docs.jsonl"}}
    (out / "check.yaml").write_text(yaml.safe_dump(config))
    if "lint" in command("golden", "--help").stdout:
        found = command(
            "golden", "lint", str(out / "golden.jsonl"),
            "--corpus", str(out / "docs.jsonl"), "--json", ok=(0, 2),
        )  # fmt: skip
        return list(json.loads(found.stdout)["problems"])
    found = command(
        "validate", str(out / "check.yaml"), "--runs", str(out / "runs"), "--json", ok=(0, 2)
    )
    every = json.loads(found.stdout)["problems"]
    return [problem for problem in every if problem["kind"] != "invalid_configuration"]


def command(*arguments: str, ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "rayeval", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode not in ok:
        raise SystemExit(f"rayeval {' '.join(arguments)}: {done.returncode}\n{done.stderr}")
    return done


def beir_of(folder: Path, out: Path) -> Path:
    """A collection in TREC form as BEIR's files."""
    read: Callable[[Path], tuple[Iterator[tuple[str, str]], dict[str, str], Path]]
    read = cacm if folder.name == "cacm" else vaswani
    documents, queries, qrels = read(folder)
    (out / "qrels").mkdir(parents=True)
    write(out / "corpus.jsonl", ({"_id": n, "title": "", "text": t} for n, t in documents))
    write(out / "queries.jsonl", ({"_id": n, "text": t} for n, t in queries.items()))
    judged = (line.split() for line in qrels.read_text().splitlines())
    rows = [f"{name}\t{document}\t{grade}" for name, _, document, grade in judged]
    header = "query-id\tcorpus-id\tscore"
    (out / "qrels" / "all.tsv").write_text("\n".join([header, *rows, ""]))
    return out


def cacm(folder: Path) -> tuple[Iterator[tuple[str, str]], dict[str, str], Path]:
    def documents() -> Iterator[tuple[str, str]]:
        with tarfile.open(folder / "cacm.tar.gz") as archive:
            for member in archive:
                stream = archive.extractfile(member)
                if stream is not None and member.name.endswith(".html"):
                    text = stream.read().decode("utf-8", "replace")
                    yield Path(member.name).stem, text

    found = DOC.findall((folder / "topics.cacm.txt").read_text())
    return documents(), {n: " ".join(t.split()) for n, t in found}, folder / "qrels.cacm.txt"


def vaswani(folder: Path) -> tuple[Iterator[tuple[str, str]], dict[str, str], Path]:
    documents = ((n, t.strip()) for n, t in DOC.findall((folder / "doc-text.trec").read_text()))
    found = TOPIC.findall((folder / "query-text.trec").read_text())
    return documents, {n: " ".join(t.split()) for n, t in found}, folder / "qrels"


def write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
