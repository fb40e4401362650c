"""What AutoRAG saves: `python make_autorag.py FOLDER`.

Its package needs a hundred others; what this script calls of it needs pandas alone, so the others'
names are given to nothing.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import MagicMock

import pandas as pd
import pyarrow  # noqa: F401 - so that it is not one of those


class Absent(MetaPathFinder, Loader):
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return MagicMock(__path__=[], __spec__=spec, __name__=spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())
sys.modules["autorag"] = package = type(sys)("autorag")
package.__path__ = [next(str(Path(p, "autorag")) for p in sys.path if Path(p, "autorag").is_dir())]

from autorag.data.qa.schema import QA, Corpus  # noqa: E402
from autorag.nodes.hybridretrieval.hybrid_rrf import HybridRRF  # noqa: E402

OUT = Path(sys.argv[1])
TEXTS = {
    "d1": "연차는 15일이다.",
    "d2": "Parking costs 40 euros a month.",
    "d3": "Laptops are replaced after 4 years.",
}
corpus = Corpus(
    pd.DataFrame(
        {
            "doc_id": list(TEXTS), "contents": list(TEXTS.values()),
            "path": [f"{name}.md" for name in TEXTS], "start_end_idx": [(0, len(t)) for t in TEXTS.values()],
            "metadata": [
                {"last_modified_datetime": pd.Timestamp(2026, 11, 30), "prev_id": None, "next_id": None}
            ] * 3,
        }
    ),
    MagicMock(),
)  # fmt: skip
qa = QA(
    pd.DataFrame(
        {
            "qid": ["q1", "q2", "q3"],
            "query": ["연차는 며칠인가요?", "What do parking and laptops cost?", "Who won?"],
            "retrieval_gt": [[["d1"]], [["d2", "d1"], ["d3"]], [[]]],
            "generation_gt": [["15일"], ["40 euros", "forty"], ["nobody knows"]],
        }
    ),
    corpus,
)
qa.to_parquet(str(OUT / "autorag.qa.parquet"), str(OUT / "autorag.corpus.parquet"))

before = qa.data.copy()
semantic, lexical = [["d2", "d3"], ["d3", "d2"], ["d1", "d2"]], [["d1", "d2"], ["d2", "d1"], []]
for name, ids in (("semantic", semantic), ("lexical", lexical)):
    before[f"retrieved_contents_{name}"] = [[TEXTS[i] for i in row] for row in ids]
    before[f"retrieved_ids_{name}"] = ids
    before[f"retrieve_scores_{name}"] = [[1.0 / (n + 1) for n, _ in enumerate(row)] for row in ids]
node = HybridRRF.__new__(HybridRRF)
node.corpus_df = corpus.data
result = node.pure(before, weight=60, top_k=2)
result["retrieval_f1"] = 0.5
whole = pd.concat([before, result], axis=1)
whole["prompts"] = [f"Answer from {row}" for row in whole["retrieved_contents"]]
whole["generated_texts"] = ["15일", "40 euros", "I don't know"]
whole.to_parquet(OUT / "autorag.node.parquet", index=False)
