"""Retriever results of LangChain and LlamaIndex, which need not be installed."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from rayeval.adapters import langchain, llamaindex
from rayeval.hits import hits_of


@dataclass
class Document:
    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


@dataclass
class Node:
    text: str
    node_id: str = "n"
    metadata: dict = field(default_factory=dict)
    ref_doc_id: str | None = None
    start_char_idx: int | None = None
    end_char_idx: int | None = None

    def get_content(self):
        return self.text


@dataclass
class Scored:
    node: Node
    score: float | None = None


@pytest.mark.parametrize(
    ("documents", "options", "want"),
    [
        pytest.param([Document("휴가")], {}, [{"text": "휴가"}], id="text alone"),
        pytest.param(
            [Document("text", {"source": "a.md", "start_index": 3}, "17")], {},
            [{"chunk_id": "17", "source_id": "a.md", "text": "text", "start_char": 3, "end_char": 7}],
            id="a splitter's chunk",
        ),
        pytest.param(
            [Document("text", {"source": "a.md", "start_index": np.int64(3)}, np.int64(17))], {},
            [{"chunk_id": "17", "source_id": "a.md", "text": "text", "start_char": 3, "end_char": 7}],
            id="numbers of NumPy",
        ),
        pytest.param(
            [Document("t", {"source": "x", "source_id": "y", "revision_id": "2", "start_char": 1, "end_char": 9})],
            {}, [{"source_id": "y", "revision_id": "2", "text": "t", "start_char": 1, "end_char": 9}],
            id="our own names go first",
        ),
        pytest.param(
            [Document("t", {"source": "s", "start_index": -1})], {}, [{"source_id": "s", "text": "t"}],
            id="a place that was not found",
        ),
        pytest.param([Document("t", {"start_index": 1})], {}, [{"text": "t"}], id="a place in no source"),
        pytest.param(
            [(Document("a"), 0.9), (Document("b"), 0.1)], {},
            [{"text": "a", "score": 0.9}, {"text": "b", "score": 0.1}], id="pairs with similarities",
        ),
        pytest.param(
            [(Document("a"), 0.1), (Document("b"), 0.9)], {"scores": "distance"},
            [{"text": "a", "score": -0.1}, {"text": "b", "score": -0.9}], id="pairs with distances",
        ),
        pytest.param([(Document("a"), 0.1)], {"scores": "none"}, [{"text": "a"}], id="numbers ignored"),
    ],
)  # fmt: skip
def test_langchain(documents, options, want):
    found = langchain.hits(documents, **options)
    assert found == want
    hits_of(found)


@pytest.mark.parametrize(
    ("nodes", "want"),
    [
        pytest.param(
            [Scored(Node("a", "1", {}, "doc", 2, 3), 0.5)],
            [{"chunk_id": "1", "source_id": "doc", "text": "a", "start_char": 2, "end_char": 3, "score": 0.5}],
            id="a scored node",
        ),
        pytest.param([Node("a", "1")], [{"chunk_id": "1", "text": "a"}], id="a bare node"),
        pytest.param(
            [Scored(Node("a", "1"), 0.5), Scored(Node("b", "2"))],
            [{"chunk_id": "1", "text": "a"}, {"chunk_id": "2", "text": "b"}],
            id="scores in part are none",
        ),
        pytest.param(
            [Node("a", "1", start_char_idx=0, end_char_idx=1)], [{"chunk_id": "1", "text": "a"}],
            id="a place in no source",
        ),
    ],
)  # fmt: skip
def test_llamaindex(nodes, want):
    assert llamaindex.hits(nodes) == want
    hits_of(want)


def test_a_real_langchain_document():
    documents = pytest.importorskip("langchain_core.documents")
    found = langchain.hits([documents.Document(page_content="t", metadata={"source": "s"}, id="1")])
    assert found == [{"chunk_id": "1", "source_id": "s", "text": "t"}]


def test_a_real_llamaindex_node():
    schema = pytest.importorskip("llama_index.core.schema")
    node = schema.TextNode(text="t", id_="1", start_char_idx=0, end_char_idx=1)
    found = llamaindex.hits([schema.NodeWithScore(node=node, score=0.5)])
    assert found == [{"chunk_id": "1", "text": "t", "score": 0.5}]
