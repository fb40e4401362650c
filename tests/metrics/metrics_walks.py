"""Questions for the walk: a small corpus, a pipeline of every kind of stage, gold for every fate."""

from metrics_batches import evidence, hits, place, question, table

from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.pipeline import Arm, Later, Pipeline

BM25 = Arm("bm25", "lexical", 10, "bm25")
DENSE = Arm("dense", "dense", 10, "dense_exact", "dense_ann", sampled=True)
LATER = (Later("fused", "fuse"), Later("reranked", "rerank"), Later("context", "context"))
PIPELINE = Pipeline((BM25, DENSE), LATER)

# Gold [10, 20) lies in chunk g; h holds [30, 40), n neither. l and r split [50, 60) between them.
CHUNKS = [
    place("g", (0, 25)),
    place("h", (25, 45)),
    place("l", (45, 55)),
    place("r", (55, 70)),
    place("n", (70, 99)),
]
E = evidence("e", (10, 20))
F = evidence("f", (30, 40))
SPLIT = evidence("s", (50, 60))
NOTHING_RANKED = {
    f"{name}:{arm}": [] for arm in ("bm25", "dense") for name in ("scores", "ranks", "severed")
}


def row(*gold, every=None, **given):
    """A question whose gold every stage finds, but for what is given."""
    found = hits(every if every is not None else "ghlr")
    stages = dict.fromkeys(PIPELINE.stages, found)
    base = {"evidence": list(gold or [E]), "passages": CHUNKS, "gold_chunks": CHUNKS[:4]}
    return question(**base, removed_gold=[], **stages) | NOTHING_RANKED | given


def first(asked, pipeline=PIPELINE):
    (result,) = FirstFailure(pipeline, full=0.8)(table([asked])).to_pylist()
    return result


def end(asked, pipeline=PIPELINE):
    result = first(asked, pipeline)
    return result["status"], result["code"], result["stage"], result["group_id"]


def ranked(arm, *, rank=None, chunk="g"):
    """What the search beyond depth says of a gold chunk in one arm."""
    found = rank is not None
    return {f"scores:{arm}": hits(chunk if found else ""), f"ranks:{arm}": [rank] if found else []}


def unfound(every="n", **given):
    """No arm has the gold, which is in chunk g."""
    return row(every=every, **given)


GONE = evidence("e", found="missing_source")
OLD = evidence("e", found="missing_revision")
LOST = evidence("e", (10, 20), parsed=False)
NOWHERE = evidence("e", (200, 210))
