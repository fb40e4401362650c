"""The steps that search: each arm's, by its kind."""

from __future__ import annotations

from functools import partial

from rayeval import registry
from rayeval.execution.plan.arm import Arm, filter_identity
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.plan.dense import dense_arm
from rayeval.execution.step import Step
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.lexical import analyzers, terms
from rayeval.retrieve.lexical.bm25 import Bm25
from rayeval.tables import FOUND


def arm_steps(builder: Builder, name: str, corpus: CorpusSteps, resolved: Step) -> Arm:
    """The steps of the arm called `name`."""
    match builder.run.retrieve.arms[name]:
        case Bm25() as config:
            return _lexical(builder, name, config, corpus, resolved)
        case Dense() as config:
            return dense_arm(builder, name, config, corpus, resolved)


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
            identity={**config.identity(), "analyzer": analyzer, **filter_identity(builder)},
            make=partial(registry.search, config, builder.run.retrieve.filter),
            schema=FOUND,
            batch=columns(
                resolved, "question_id", "question", "principals", error="resolved.error"
            ),
            sharded=sharded,
            whole=whole,
        )
    )
    return Arm(name, config, {name: search}, sharded, whole)
