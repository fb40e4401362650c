"""The steps that search: term counts, vectors, indexes, and each arm's stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval import registry
from rayeval.execution.manifest import libraries
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Column, Step, digest
from rayeval.retrieve.dense.ann import INDEX, AnnSearch
from rayeval.retrieve.dense.config import Ann, Dense, Embedder, SentenceTransformers, Side
from rayeval.retrieve.dense.embed import embedder_revision
from rayeval.retrieve.lexical import analyzers, terms
from rayeval.retrieve.lexical.bm25 import Bm25
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


@dataclass(frozen=True)
class Arm:
    """What the rest of the plan needs of one arm."""

    name: str
    config: Bm25 | Dense
    stages: dict[str, Step]
    """Trace stage → its step; the last one goes on to fusion."""
    sharded: dict[str, str] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    query: tuple[Column, ...] = ()
    """A question's batch where it is more than the question."""
    queries: Step | None = None
    """The step that embeds questions, where there is one."""

    @property
    def name_exact(self) -> str:
        """The trace stage of its exact (or only) search."""
        return next(iter(self.stages))

    @property
    def identity(self) -> dict[str, Any]:
        """Its settings; whatever else decides its scores is in the keys of its inputs."""
        return {**self.config.identity(), "arm": self.name}

    def asked(self, resolved: Step) -> tuple[Column, ...]:
        """What a question's batch holds for this arm."""
        own = columns(resolved, "question_id", "question", "principals", error="resolved.error")
        return self.query or own

    @property
    def onward(self) -> tuple[str, Step]:
        """The stage whose hits go on."""
        return list(self.stages.items())[-1]


def arm_steps(builder: Builder, name: str, corpus: CorpusSteps, resolved: Step) -> Arm:
    """The steps of the arm called `name`."""
    match builder.config.retrieve.arms[name]:
        case Bm25() as config:
            return _lexical(builder, name, config, corpus, resolved)
        case Dense() as config:
            return _dense(builder, name, config, corpus, resolved)


def _lexical(builder: Builder, name: str, config: Bm25, corpus: CorpusSteps, resolved: Step) -> Arm:
    analysis = analyzers.build(config.analyzer)
    analyzer = {"name": analysis.name, "version": analysis.version}
    counts = builder.add(
        Step(
            name=f"terms:{name}",
            kind="map",
            fallible=True,
            identity={"step": "terms", **analyzer},
            make=partial(registry.term_counter, config.analyzer),
            schema=with_error(terms.TERMS),
            batch=columns(corpus.chunks, "chunk_id", "text"),
        )
    )
    statistics = builder.add(
        Step(
            name=f"statistics:{name}",
            kind="produce",
            identity={"step": "statistics"},
            make=registry.statistics,
            schema=terms.STATISTICS,
            sharded={"terms": counts.key},
        )
    )
    sharded = {"terms": counts.key, "chunks": corpus.chunks.key}
    whole = {"statistics": statistics.key, "catalogue": corpus.catalogue.key}
    search = builder.add(
        Step(
            name=name,
            kind="scatter",
            fallible=True,
            identity={**config.identity(), "analyzer": analyzer, **_filter(builder)},
            make=partial(registry.search, config, builder.config.retrieve.filter),
            schema=FOUND,
            batch=columns(
                resolved, "question_id", "question", "principals", error="resolved.error"
            ),
            sharded=sharded,
            whole=whole,
        )
    )
    return Arm(name, config, {name: search}, sharded, whole)


def _dense(builder: Builder, name: str, config: Dense, corpus: CorpusSteps, resolved: Step) -> Arm:
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
        batch += columns(_sample(builder, config.exact_sample, resolved), "sampled")
    return builder.add(
        Step(
            name=f"{arm.name}_exact",
            kind="scatter",
            fallible=True,
            identity={"step": "exact", "depth": config.depth, **_filter(builder)},
            make=partial(registry.search, config, builder.config.retrieve.filter),
            schema=FOUND,
            batch=batch,
            sharded=arm.sharded,
            whole=arm.whole,
            model=True,
        )
    )


def _sample(builder: Builder, size: int, resolved: Step) -> Step:
    """Which questions are among the `size` that the seed draws, by id."""
    seed = builder.config.seed
    return builder.add(
        Step(
            name="exact_sample",
            kind="produce",
            identity={"size": size, "seed": seed},
            make=partial(registry.sample, size, seed),
            schema=pa.schema([("question_id", TEXT), ("sampled", pa.bool_())]),
            sharded={"resolved": resolved.key},
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
            identity={**options.identity(), "depth": config.depth, **_filter(builder)},
            make=partial(AnnSearch, config, builder.config.retrieve.filter),
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


def _filter(builder: Builder) -> dict[str, object]:
    return {"filter": builder.config.retrieve.filter.identity()}


def _embedder(config: Embedder, side: Side) -> dict[str, object]:
    """Which vectors: the settings of one side, and the model's revision instead of its place."""
    settings = {name: v for name, v in config.identity_of(side).items() if name != "model"}
    return {"step": "vectors", **settings, "revision": embedder_revision(config)}


def _faiss() -> str | None:
    """The installed faiss: another version may build another index."""
    installed = libraries()
    return installed.get("faiss-gpu") or installed.get("faiss-cpu")
