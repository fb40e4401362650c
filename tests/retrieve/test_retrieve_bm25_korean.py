import json
import re

import bm25s
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from retrieve_lexical_corpus import Corpus, hits, search

from rayeval.retrieve.lexical.analyzers import CharNgram, Whitespace, build


@pytest.mark.data
@pytest.mark.parametrize("analyzer", [Whitespace(), CharNgram()], ids=lambda a: a.kind)
def test_bm25s_agrees_on_korean_passages_whatever_the_shards(shared_data, analyzer):
    lines = (shared_data("nomiracl_ko_en") / "ko.relevant.jsonl").read_text("utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in lines[:100]]
    questions = [re.search(r"QUESTION:\n(.+)\n", prompt).group(1) for prompt in prompts]
    found = [passage for prompt in prompts for passage in re.findall(r"\n\[\d+\] (.+)", prompt)]
    texts = {f"{n:04}": text for n, text in enumerate(dict.fromkeys(found))}
    terms = build(analyzer).terms
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    peer.index(terms(pa.array(texts.values())).to_pylist(), show_progress=False)
    asked = terms(pa.array(questions)).to_pylist()
    _, want = peer.retrieve(asked, k=10, show_progress=False)

    ids = list(texts)
    whole = search(Corpus(texts, analyzer), questions, depth=10)
    scores = [[score for _, score in row] for row in hits(whole)]
    assert_allclose([row + [0.0] * (10 - len(row)) for row in scores], want, rtol=1e-9)
    assert search(Corpus(texts, analyzer), questions, ids[1::2], ids[::2], depth=10).equals(whole)
