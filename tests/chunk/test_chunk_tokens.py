"""What counts as a token, and where each begins."""

import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rayeval.chunk.characters import Filled, classes, word_starts
from rayeval.chunk.tokens import HuggingFace, Tokenizer, Words, build
from rayeval.errors import MissingExtraError, ModelError

untimed = settings(deadline=None)  # the machine's load is no property of the code

WORDS = build(Words())


def tokens(text):
    starts = WORDS.starts(text).tolist()
    return [text[a:b].strip() for a, b in pairwise([*starts, len(text)])]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\u3000", [], id="white space"),
        pytest.param("Hello, world2 3.5", ["Hello", ",", "world2", "3", ".", "5"], id="words"),
        pytest.param("ERR-4012_a", ["ERR", "-", "4012", "_", "a"], id="identifiers"),
        pytest.param("서울은 ok", ["서", "울", "은", "ok"], id="Hangul by syllable"),
        pytest.param("漢字かなー。", ["漢", "字", "か", "な", "ー", "。"], id="Han and Kana"),
        pytest.param("ＡＢ１ x", ["ＡＢ１", "x"], id="full-width letters are a word"),
        pytest.param("caf\u0065\u0301s", ["cafe\u0301s"], id="a mark stays in its word"),
        pytest.param(" \u0301\u0301a", ["\u0301\u0301a"], id="a mark with nothing to mark"),
        pytest.param("😀a\u200db", ["😀", "a\u200db"], id="joiners"),
    ],
)
def test_words(text, want):
    assert tokens(text) == want


@untimed
@given(st.text("aé가각힣한 1.\n漢"))
def test_composed_and_decomposed_text_count_the_same(text):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert np.diff(WORDS.counts(pa.array(forms))) == 0


@untimed
@given(st.lists(st.one_of(st.none(), st.text()), max_size=5))
def test_counts_are_of_each_text_alone(texts):
    want = [0 if text is None else len(WORDS.starts(text)) for text in texts]
    assert WORDS.counts(pa.array(texts, pa.large_string())).tolist() == want


@untimed
@given(st.text())
def test_every_visible_character_belongs_to_a_token(text):
    starts = WORDS.starts(text)
    seen = [i for i, char in enumerate(text) if not char.isspace()]
    assert len(starts) <= len(seen)
    assert seen[:1] == starts[:1].tolist()
    assert set(starts.tolist()) <= set(seen)


@untimed
@given(st.text(" \n\u3000ab가"))
def test_words_are_what_split_gives(text):
    assert len(word_starts(classes(text))) == len(text.split())


@untimed
@given(st.text(" \nab", max_size=12))
def test_filled_looks_both_ways(text):
    filled, n = Filled(classes(text)), len(text)
    places = np.arange(n + 1)
    assert filled.end(places).tolist() == [len(text[:i].rstrip()) for i in places]
    assert filled.start(places).tolist() == [n - len(text[i:].lstrip()) for i in places]


def test_a_tokenizer_is_identified_by_what_it_does():
    assert Words().identity() == {"kind": "words", "v": 1, "unicode": unicodedata.unidata_version}


def saved(folder):
    library = pytest.importorskip("tokenizers")
    model = library.models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]")
    tokenizer = library.Tokenizer(model)
    tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_a_tokenizer_file_counts_without_truncation_or_padding(tmp_path):
    folder = saved(tmp_path / "t")
    ready = build(HuggingFace(path=str(folder)))
    assert ready.counts(pa.array(["a b a", "", None, "가 a"])).tolist() == [3, 0, 0, 2]
    assert ready.starts("😀 a  b").tolist() == [0, 2, 5]
    assert ready.starts("").tolist() == []


def test_a_tokenizer_file_is_the_same_wherever_it_lies(tmp_path, monkeypatch):
    one, two = saved(tmp_path / "one"), saved(tmp_path / "two")
    package = tmp_path / "packages" / "some_model"
    saved(package)
    monkeypatch.syspath_prepend(str(package.parent))
    package.joinpath("__init__.py").touch()
    paths = [str(one), str(two / "tokenizer.json"), "package:some_model"]
    identities = [HuggingFace(path=path).identity() for path in paths]
    assert identities[0] == identities[1] == identities[2]
    assert set(identities[0]) == {"kind", "v", "sha256", "tokenizers"}
    assert "some_model" not in sys.modules


@pytest.mark.parametrize("path", ["nowhere", "package:no_such_package/x", "package:../x"])
def test_a_tokenizer_that_is_not_there_says_where_it_was_looked_for(path):
    pytest.importorskip("tokenizers")
    with pytest.raises(ModelError, match="tokenizer"):
        build(HuggingFace(path=path))


def test_without_the_library_the_message_names_what_to_install(tmp_path, monkeypatch):
    tmp_path.joinpath("tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"rayeval\[models\]"):
        build(HuggingFace(path=str(tmp_path))).starts("a")


def test_the_kind_chooses_the_tokenizer():
    adapter = TypeAdapter(Tokenizer)
    assert adapter.validate_python({"kind": "words"}) == Words()
    assert adapter.validate_python({"kind": "hf", "path": "x"}) == HuggingFace(path="x")
