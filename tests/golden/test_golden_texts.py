"""What gold evidence says, by its spans."""

import pyarrow as pa
import pytest

from rayeval.golden.texts import GoldTexts
from rayeval.tables import DOCUMENTS, LOCATED, TEXT, conform

TEXTS = {"a": "A😀B one. 둘은 두 개다.", "b": "the other document"}


class Shard:
    """Documents of one of `count` shards."""

    def __init__(self, number, count):
        self.number, self.count = number, count

    def tables(self, name):
        mine = list(TEXTS.items())[self.number :: self.count]
        rows = [{"source_id": n, "revision_id": "1", "text": t} for n, t in mine]
        yield conform(pa.Table.from_pylist(rows, pa.schema([DOCUMENTS.field(n) for n in ("source_id", "revision_id", "text")])), DOCUMENTS)  # fmt: skip


def item(name, source, *spans, group=None, **more):
    known = {"evidence_id": name, "group_id": group or name, "source_id": source, "revision_id": "1",
             "spans": [{"start_char": a, "end_char": b} for a, b in spans], "relevance": 3, "gold": True}  # fmt: skip
    return {**known, **more}


def said(*evidence, count=1):
    ids, column = pa.array(["q"], TEXT), pa.array([list(evidence)], pa.list_(LOCATED))
    batch = pa.table({"question_id": ids, "evidence": column})
    scatter = GoldTexts()
    parts = [scatter.load(Shard(n, count))(batch) for n in range(count)]
    [found] = scatter.gather(parts)["gold_texts"].to_pylist()
    return [(one["chunk_id"], one["text"]) for one in found]


@pytest.mark.parametrize(
    ("evidence", "want"),
    [
        pytest.param([item("e", "a", (2, 3))], [("e", "B")], id="code points"),
        pytest.param([item("e", "a", (0, 3), (9, 11))], [("e", "A😀B\n둘은")], id="a line for each span"),
        pytest.param([item("e2", "b", (0, 3)), item("e1", "a", (0, 1))], [("e2", "the"), ("e1", "A")], id="in order of evidence"),
        pytest.param(
            [item("x", "a", (0, 1), group="g", relevance=2), item("y", "b", (0, 3), group="g")],
            [("y", "the")], id="a group's best grade",
        ),
        pytest.param(
            [item("x", "a", (0, 1), group="g"), item("y", "b", (0, 3), group="g")],
            [("x", "A")], id="alike, the first",
        ),
        pytest.param(
            [item("x", None, group="g", quote="lost"), item("y", "b", (0, 3), group="g", relevance=2)],
            [("y", "the")], id="located goes first",
        ),
        pytest.param([item("x", None, quote="lost")], [("x", "lost")], id="the quote of what is lost"),
        pytest.param([item("x", "gone")], [], id="nothing says anything"),
        pytest.param([item("x", "a", (0, 1), gold=False)], [], id="what is no gold"),
        pytest.param([], [], id="no evidence"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [1, 2, 3])
def test_gold_texts(evidence, want, count):
    assert said(*evidence, count=count) == want
