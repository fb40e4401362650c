"""The steps of a dense arm: vectors, exact search, index, approximate search."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.manifest import libraries
from rayeval.execution.plan.arm import Arm, filter_identity
from rayeval.execution.plan.builder import Builder, columns
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.plan.questions import drawn
from rayeval.execution.step import Step, digest
from rayeval.retrieve.dense.ann import INDEX, AnnSearch
from rayeval.retrieve.dense.config import Ann, Dense, Embedder, SentenceTransformers, Side
from rayeval.retrieve.dense.embed import embedder_revision
from rayeval.tables import FOUND, TEXT

VECTOR = pa.list_(pa.float32())
VECTORS = pa.schema(
    [
        ("chunk_id", TEXT),
        ("text_digest", pa.binary(16)),
        ("vector", VECTOR),
        ("tokens", pa.int64()),
        ("error", TEXT),
    ]
)
ASKED = pa.schema([pa.field("question_id", TEXT), *list(VECTORS)[1:]])


def dense_arm(
    builder: Builder, name: str, config: Dense, corpus: CorpusSteps, resolved: Step
) -> Arm:
    """Its exact search and, if configured, its approximate one."""
    vectors = _vectors(builder, name, config.embedder, corpus)
    queries = _query_vectors(builder, name, config.embedder, resolved)
    query = columns(queries, "vector", error=f"query_vectors:{name}.error")
    arm = Arm(
        name,
        config,
        stages={},
        sharded={"vectors": vectors.key, "chunks": corpus.chunks.key},
        whole={"catalogue": corpus.catalogue.key},
        query=(*columns(resolved, "question_id", "principals"), *query),
        queries=queries,
    )
    arm.stages[f"{name}_exact"] = _exact(builder, arm, config, resolved)
    if config.ann is not None:
        arm.stages[f"{name}_ann"] = _ann(builder, arm, config, config.ann)
    return arm


def _vectors(builder: Builder, name: str, embedder: Embedder, corpus: CorpusSteps) -> Step:
    identity = _embedder(embedder, "passage")
    return builder.add(
        Step(
            name=f"vectors:{name}",
            kind="map",
            fallible=True,
            identity=identity,
            make=partial(registry.embedder, embedder, "passage"),
            schema=VECTORS,
            batch=columns(corpus.chunks, "chunk_id", "text"),
            model=True,
            reuse=digest(identity),
        )
    )


def _query_vectors(builder: Builder, name: str, embedder: Embedder, resolved: Step) -> Step:
    identity = _embedder(embedder, "query")
    return builder.add(
        Step(
            name=f"query_vectors:{name}",
            kind="map",
            fallible=True,
            identity=identity,
            make=partial(registry.embedder, embedder, "query"),
            alone=partial(registry.embedder, one_at_a_time(embedder), "query"),
            schema=ASKED,
            batch=columns(resolved, "question_id", question="text", error="resolved.error"),
            model=True,
            reuse=digest(identity),
        )
    )


def one_at_a_time(config: Embedder) -> Embedder:
    """The embedder without rows to pad."""
    rows = {"rows": 1} if isinstance(config, SentenceTransformers) else {}
    return config.model_copy(update=rows)


def _exact(builder: Builder, arm: Arm, config: Dense, resolved: Step) -> Step:
    batch = arm.query
    if config.ann is not None and config.exact_sample is not None:
        size, seed = config.exact_sample, builder.run.seed
        batch += columns(drawn(builder, "exact_sample", size, seed, resolved), "sampled")
    return builder.add(
        Step(
            name=f"{arm.name}_exact",
            kind="scatter",
            fallible=True,
            identity={"step": "exact", "depth": config.depth, **filter_identity(builder)},
            make=partial(registry.search, config, builder.run.retrieve.filter),
            schema=FOUND,
            batch=batch,
            sharded=arm.sharded,
            whole=arm.whole,
            model=True,
        )
    )


def _ann(builder: Builder, arm: Arm, config: Dense, options: Ann) -> Step:
    index = builder.add(
        Step(
            name=f"index:{arm.name}",
            kind="produce",
            identity={**options.identity(), "faiss": _faiss()},
            make=partial(registry.ann_index, config),
            schema=INDEX,
            sharded={"vectors": arm.sharded["vectors"]},
            parts=options.partitions,
            pinned=True,
            model=True,
        )
    )
    return builder.add(
        Step(
            name=f"{arm.name}_ann",
            kind="scatter",
            fallible=True,
            identity={**options.identity(), "depth": config.depth, **filter_identity(builder)},
            make=partial(AnnSearch, config, builder.run.retrieve.filter),
            schema=FOUND,
            batch=arm.query,
            sharded=arm.sharded,
            own={"ann": index.key},
            whole=arm.whole,
            parts=options.partitions,
            pinned=True,
            model=True,
        )
    )


def _embedder(config: Embedder, side: Side) -> dict[str, object]:
    """Which vectors: the settings of one side, and the model's revision instead of its place."""
    settings = {name: v for name, v in config.identity_of(side).items() if name != "model"}
    return {"step": "vectors", **settings, "revision": embedder_revision(config)}


def _faiss() -> str | None:
    """The installed faiss: another version may build another index."""
    installed = libraries()
    return installed.get("faiss-gpu") or installed.get("faiss-cpu")
