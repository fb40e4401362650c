import numpy as np
import pyarrow as pa
import pytest

from rayeval.retrieve.filter import METADATA, Filter, FilterTrace, Visibility
from rayeval.tables import CATALOGUE, CHUNKS, TEXTS, conform

OPEN, HR, OLD, BOTH = "open", "hr", "old", "hr-and-it"


def chunks(*rows):
    return conform(
        pa.Table.from_pylist([dict(zip(METADATA.names, row, strict=True)) for row in rows]), CHUNKS
    )


CORPUS = chunks(
    (OPEN, "a.md", "2", []),
    (HR, "b.md", "1", ["hr"]),
    (OLD, "a.md", "1", []),
    (BOTH, "c.md", "1", ["hr", "it"]),
    ("old-hr", "b.md", "0", ["hr"]),
)
DOCUMENTS = conform(
    pa.table(
        {
            "source_id": ["a.md", "a.md", "b.md", "b.md", "c.md"],
            "revision_id": ["1", "2", "0", "1", "1"],
            "current": [False, True, False, True, True],
        }
    ),
    CATALOGUE,
)


class OneShard:
    number, count = 0, 1

    def __init__(self, *partitions):
        self.partitions = partitions

    def tables(self, name):
        assert name == "chunks"
        return iter(self.partitions)

    def table(self, name):
        assert name == "catalogue"
        return DOCUMENTS


def asked(*principals):
    return pa.array(principals, TEXTS)


def seen(config, principals):
    group, masks = Visibility(config, CORPUS, DOCUMENTS).groups(asked(*principals))
    ids = np.array(CORPUS["chunk_id"].to_pylist())
    return [set(ids if masks[g] is None else ids[masks[g]]) for g in group]


@pytest.mark.parametrize(
    ("config", "principals", "want"),
    [
        pytest.param({}, [], {OPEN, HR, OLD, BOTH, "old-hr"}, id="no filter shows everything"),
        pytest.param({"access": True}, [], {OPEN, OLD}, id="anonymous sees what is everyone's"),
        pytest.param({"access": True}, None, {OPEN, OLD}, id="null principals are none"),
        pytest.param({"access": True}, ["it"], {OPEN, OLD, BOTH}, id="one of two grants is enough"),
        pytest.param({"access": True}, ["HR"], {OPEN, OLD}, id="principals are compared exactly"),
        pytest.param({"current": True}, [], {OPEN, HR, BOTH}, id="current revisions only"),
        pytest.param(
            {"access": True, "current": True}, ["hr", "x"], {OPEN, HR, BOTH}, id="both filters"
        ),
    ],
)
def test_what_an_asker_may_find(config, principals, want):
    assert seen(Filter(**config), [principals]) == [want]


def test_equal_sets_share_a_mask_whatever_their_order_and_strangers():
    visibility = Visibility(Filter(access=True), CORPUS, DOCUMENTS)
    group, masks = visibility.groups(
        asked(["it", "hr"], ["hr", "it", "hr"], [], ["nobody"], ["hr", "nobody", "it"], ["it"])
    )
    assert len(masks) == 3
    assert group[0] == group[1] == group[4]
    assert group[2] == group[3]
    assert len({group[0], group[2], group[5]}) == 3


def test_everything_visible_needs_no_mask():
    _, masks = Visibility(Filter(access=True), CORPUS, DOCUMENTS).groups(asked(["hr", "it"]))
    assert masks == [None]


def test_a_document_that_the_catalogue_lacks_is_not_current():
    stray = chunks(("stray", "nowhere.md", "1", []))
    _, masks = Visibility(Filter(current=True), stray, DOCUMENTS).groups(asked([]))
    assert masks[0].tolist() == [False]


def batch(*rows):
    gold = [[{"chunk_id": c} for c in chunk_ids] for _, chunk_ids in rows]
    item = pa.list_(pa.struct([("chunk_id", pa.large_string())]))
    return pa.table(
        {"principals": asked(*(p for p, _ in rows)), "gold_chunks": pa.array(gold, item)}
    )


QUESTIONS = batch(([], [OPEN, HR, "old-hr", OLD, "elsewhere"]), (["hr"], [HR, OLD]), ([], []))
TRACE = {
    "removed_access": [3, 0, 3],
    "removed_stale": [1, 2, 1],
    "removed_gold": [[HR, OLD, "old-hr"], [OLD], []],
}


def test_trace_counts_access_before_age_and_names_lost_gold():
    trace = FilterTrace(Filter(access=True, current=True))
    assert trace.load(OneShard(CORPUS))(QUESTIONS).to_pydict() == TRACE


@pytest.mark.parametrize("order", [pytest.param(1, id="in order"), pytest.param(-1, id="reversed")])
def test_trace_of_shards_is_the_trace_of_one(order):
    trace = FilterTrace(Filter(access=True, current=True))
    shards = [OneShard(), OneShard(CORPUS[:2]), OneShard(CORPUS[2:3], CORPUS[3:])][::order]
    parts = [trace.load(shard)(QUESTIONS) for shard in shards]
    assert trace.gather(parts).to_pydict() == TRACE
    assert trace.gather([trace.gather(parts[:2]), parts[2]]).to_pydict() == TRACE


def test_trace_of_no_questions():
    trace = FilterTrace(Filter(access=True, current=True))
    assert trace.load(OneShard(CORPUS))(QUESTIONS[:0]).num_rows == 0
