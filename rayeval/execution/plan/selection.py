"""The steps after search: fuse, rerank, select; and where everything found lies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval import registry
from rayeval.chunk import lookup
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.plan.questions import GoldenFile, question_steps
from rayeval.execution.step import Step
from rayeval.models import model_path
from rayeval.rerank.config import Fit
from rayeval.rerank.folder import FILES
from rayeval.rerank.stage import reranker_revision
from rayeval.tables import FOUND, PASSAGES, TEXT

CANDIDATES = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))


def _model(identity: dict[str, Any]) -> dict[str, Any]:
    """A stage's identity without the place of its model: the revision says which it is."""
    return {name: v for name, v in identity.items() if name not in ("model", "base")}


def counting(*names: str) -> pa.Schema:
    """FOUND with counters."""
    counters = [pa.field(name, pa.int64()) for name in names]
    return pa.schema([*list(FOUND)[:-1], *counters, FOUND.field("error")])


def fuse_step(builder: Builder, arms: Sequence[Arm], resolved: Step) -> dict[str, Step]:
    """`fused`, or the only arm's last stage where nothing is fused; none for arms side by side."""
    config, onward = builder.run.fuse, [arm.onward for arm in arms]
    if config is None:
        return dict(onward) if len(onward) == 1 else {}
    lists = {arm.name: arm.onward[1] for arm in arms}
    step = Step(
        name="fused",
        kind="map",
        fallible=True,
        identity=config.identity(),
        make=partial(registry.fuser, config, tuple(lists)),
        schema=FOUND,
        batch=(*columns(resolved, "question_id"), *found(lists)),
    )
    return {"fused": builder.add(step)}


def rerank_step(
    builder: Builder,
    before: tuple[str, Step],
    corpus: CorpusSteps,
    resolved: Step,
    golden: GoldenFile,
) -> Step | None:
    """`reranked`, with the texts of its candidates fetched first."""
    config = builder.run.rerank
    if config is None:
        return None
    label, step = before
    candidates = builder.add(
        Step(
            name="candidates",
            kind="scatter",
            identity={"depth": config.candidates, "column": label},
            make=partial(lookup.Candidates, label, config.candidates),
            schema=per_question(candidates=CANDIDATES),
            batch=(*columns(resolved, "question_id"), *found({label: step})),
            sharded={"chunks": corpus.chunks.key},
        )
    )
    model = (
        _fitted(builder, config.model, corpus, golden) if isinstance(config.model, Fit) else None
    )
    return builder.add(
        Step(
            name="reranked",
            kind="map",
            fallible=True,
            identity={**_model(config.identity()), "revision": reranker_revision(config)},
            make=partial(registry.reranker, config, label),
            alone=partial(registry.reranker, config.model_copy(update={"batch": 1}), label),
            schema=counting("reranked_pairs"),
            batch=(
                *columns(resolved, "question_id", "question"),
                *found({label: step}),
                *columns(candidates, "candidates", error="candidates.error"),
            ),
            whole={} if model is None else {"model": model.key},
            model=True,
        )
    )


def _fitted(builder: Builder, fit: Fit, corpus: CorpusSteps, golden: GoldenFile) -> Step:
    """The cross-encoder fitted on one split, as the files of its folder."""
    config = golden.config.model_copy(update={"splits": [fit.split]})
    train = question_steps(
        builder, GoldenFile(config, golden.sha256), corpus, suffix=f":{fit.split}"
    )
    return builder.add(
        Step(
            name="fitted",
            kind="produce",
            identity={**_model(fit.identity()), "revision": model_path(fit.base)[1]},
            make=partial(registry.fitted, fit),
            schema=FILES,
            sharded={
                "resolved": train.key,
                "documents": corpus.documents.key,
                "elements": corpus.elements.key,
            },
            model=True,
        )
    )


def passages_step(
    builder: Builder, hits: dict[str, Step], corpus: CorpusSteps, resolved: Step
) -> Step:
    """Where every hit of every arm lies."""
    return builder.add(
        Step(
            name="passages",
            kind="scatter",
            identity={"columns": list(hits)},
            make=partial(lookup.Passages, tuple(hits)),
            schema=per_question(passages=PASSAGES),
            batch=(*columns(resolved, "question_id"), *found(hits)),
            sharded={"chunks": corpus.chunks.key},
            tolerant=True,
        )
    )


def context_step(
    builder: Builder, before: tuple[str, Step], passages: Step, resolved: Step
) -> Step | None:
    """`context`, selected from the last list of hits."""
    config = builder.run.context
    if config is None:
        return None
    label, step = before
    return builder.add(
        Step(
            name="context",
            kind="map",
            fallible=True,
            identity={**config.identity(), "column": label},
            make=partial(registry.selector, config, label),
            schema=counting("context_tokens", "duplicates"),
            batch=(
                *columns(resolved, "question_id"),
                *found({label: step}),
                *columns(passages, "passages"),
            ),
        )
    )
