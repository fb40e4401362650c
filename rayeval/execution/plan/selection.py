"""The steps after search: fuse, rerank, select; and where everything found lies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval import registry
from rayeval.chunk import lookup
from rayeval.context.live import HttpSelector, PythonSelector
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.plan.live import request_log
from rayeval.execution.plan.questions import GoldenFile, question_steps
from rayeval.execution.step import Column, Step
from rayeval.live.config import Http
from rayeval.models import model_path
from rayeval.rerank.config import CrossEncoder, Fit
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


def _foreign(arms: Sequence[Arm]) -> tuple[Column, ...]:
    """The passages that arms bring with them."""
    return tuple(column for arm in arms for column in arm.foreign)


def _names(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


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
    arms: Sequence[Arm],
    corpus: CorpusSteps,
    resolved: Step,
    golden: GoldenFile,
) -> Step | None:
    """`reranked`, with the texts of its candidates fetched first."""
    config = builder.run.rerank
    if config is None:
        return None
    label, step = before
    candidates = candidates_step(builder, before, config.candidates, arms, corpus, resolved)
    alone, identity, model, requests = config, config.identity(), None, None
    if isinstance(config, CrossEncoder):
        alone = config.model_copy(update={"batch": 1})
        identity = {**_model(identity), "revision": reranker_revision(config)}
        if isinstance(config.model, Fit):
            model = _fitted(builder, config.model, corpus, golden)
    else:
        requests = request_log(config)
    return builder.add_asking(
        Step(
            name="reranked",
            kind="map",
            fallible=True,
            identity=identity,
            make=partial(registry.reranker, config, label, requests),
            alone=partial(registry.reranker, alone, label, None),
            schema=counting("reranked_pairs"),
            batch=(
                *columns(resolved, "question_id", "question"),
                *found({label: step}),
                *columns(candidates, "candidates", error="candidates.error"),
            ),
            whole={} if model is None else {"model": model.key},
            model=isinstance(config, CrossEncoder),
            single=isinstance(config, Http),
        )
    )


def candidates_step(
    builder: Builder,
    before: tuple[str, Step],
    depth: int | None,
    arms: Sequence[Arm],
    corpus: CorpusSteps,
    resolved: Step,
    *,
    name: str = "candidates",
) -> Step:
    """What the best hits of a list say."""
    label, step = before
    foreign = _foreign(arms)
    return builder.add(
        Step(
            name=name,
            kind="scatter",
            identity={"depth": depth, "column": label},
            make=partial(lookup.Candidates, label, depth, _names(foreign)),
            schema=per_question(candidates=CANDIDATES),
            batch=(*columns(resolved, "question_id"), *found({label: step}), *foreign),
            sharded={"chunks": corpus.chunks.key},
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
    builder: Builder, arms: Sequence[Arm], corpus: CorpusSteps, resolved: Step
) -> Step:
    """Where every hit of every arm lies."""
    hits = {stage: step for arm in arms for stage, step in arm.stages.items()}
    foreign = _foreign(arms)
    return builder.add(
        Step(
            name="passages",
            kind="scatter",
            identity={"columns": list(hits)},
            make=partial(lookup.Passages, tuple(hits), _names(foreign)),
            schema=per_question(passages=PASSAGES),
            batch=(*columns(resolved, "question_id"), *found(hits), *foreign),
            sharded={"chunks": corpus.chunks.key},
            tolerant=True,
        )
    )


def context_step(
    builder: Builder,
    before: tuple[str, Step],
    passages: Step,
    arms: Sequence[Arm],
    corpus: CorpusSteps,
    resolved: Step,
) -> Step | None:
    """`context`, selected from the last list of hits; a live selector is given their texts."""
    config = builder.run.context
    if config is None:
        return None
    label, step = before
    further: tuple[Column, ...] = ()
    requests = None
    if isinstance(config, HttpSelector | PythonSelector):
        depth, name = config.candidates, "offered"
        texts = candidates_step(builder, before, depth, arms, corpus, resolved, name=name)
        further = columns(resolved, "question") + columns(texts, "candidates")
        requests = request_log(config)
    return builder.add_asking(
        Step(
            name="context",
            kind="map",
            fallible=True,
            identity={**config.identity(), "column": label},
            make=partial(registry.selector, config, label, requests),
            alone=partial(registry.selector, config, label, None),
            schema=counting("context_tokens", "duplicates"),
            batch=(
                *columns(resolved, "question_id"),
                *found({label: step}),
                *columns(passages, "passages"),
                *further,
            ),
            single=isinstance(config, Http),
        )
    )
