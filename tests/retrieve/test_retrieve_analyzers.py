import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from rayeval.errors import MissingExtraError
from rayeval.retrieve.lexical.analyzers import (
    Analyzer,
    CharNgram,
    Kiwi,
    UnicodeWords,
    Whitespace,
    build,
)
from rayeval.tables import TEXT, TEXTS

EVERY = [Whitespace(), UnicodeWords(), CharNgram(), CharNgram(n=3), Kiwi()]
VECTORISED = EVERY[:-1]


def name(config):
    return build(config).name if not isinstance(config, Kiwi) else "kiwi"


@pytest.fixture(scope="module")
def analyse():
    ready = {}

    def terms(config, *texts):
        if config not in ready:
            ready[config] = build(config)
        found = ready[config].terms(pa.array(texts, TEXT))
        found.validate(full=True)
        assert found.type == TEXTS
        return found.to_pylist()

    return terms


@pytest.mark.parametrize(
    ("config", "text", "want"),
    [
        pytest.param(Whitespace(), "Hello, World!", ["hello,", "world!"], id="white space"),
        pytest.param(Whitespace(), "a\tb\nc\u3000d\u00a0e", list("abcde"), id="any white space"),
        pytest.param(UnicodeWords(), "Hello, World!", ["hello", "world"], id="words"),
        pytest.param(UnicodeWords(), "हिन्दी में", ["हिन्दी", "में"], id="marks stay in their word"),
        pytest.param(UnicodeWords(), "user_id", ["user", "id"], id="underscores part words"),
        pytest.param(CharNgram(), "abc d", ["ab", "bc", "d"], id="2-grams, short word whole"),
        pytest.param(CharNgram(n=1), "ab c", ["a", "b", "c"], id="1-grams"),
        pytest.param(CharNgram(n=3), "abcd ab", ["abc", "bcd", "ab"], id="3-grams"),
        pytest.param(CharNgram(), "서울은 A😀é", ["서울", "울은", "a😀", "😀é"], id="code points, not bytes"),
        pytest.param(CharNgram(), "aaaa", ["aa", "aa", "aa"], id="repeats stay"),
        pytest.param(Kiwi(), "서울은 대한민국의 수도이다", ["서울", "대한민국", "수도"], id="kiwi drops particles"),
        pytest.param(Kiwi(), "신청하면 며칠 걸리나요?", ["신청", "며칠", "걸리"], id="kiwi keeps stems"),
        pytest.param(Kiwi(), "아름다운 곳을 도와", ["아름답", "곳", "돕"], id="kiwi undoes irregular stems"),
        pytest.param(Kiwi(), "VPN 접속 5일", ["vpn", "접속", "5", "일"], id="kiwi with English and digits"),
        pytest.param(Whitespace(), "ERR-4012", ["err-4012"], id="an identifier by white space"),
        pytest.param(UnicodeWords(), "ERR-4012", ["err", "4012"], id="an identifier as words"),
        pytest.param(CharNgram(), "ERR-4", ["er", "rr", "r-", "-4"], id="an identifier as 2-grams"),
        pytest.param(Kiwi(), "ERR-4012", ["err", "4012"], id="an identifier to kiwi"),
        pytest.param(UnicodeWords(), "Straße STRASSE", ["strasse", "strasse"], id="full case folding"),
        pytest.param(Whitespace(), "a\0b", ["a\0b"], id="NUL is no white space"),
        pytest.param(UnicodeWords(), "a\0b", ["a", "b"], id="NUL is no letter"),
        pytest.param(CharNgram(), "a\0b", ["a\0", "\0b"], id="NUL is a character"),
        pytest.param(Kiwi(), "서울\0부산", ["서울", "부산"], id="NUL to kiwi"),
    ],
)  # fmt: skip
def test_terms(analyse, config, text, want):
    assert analyse(config, text) == [want]


@pytest.mark.parametrize("config", EVERY, ids=name)
def test_one_word_however_it_was_typed(analyse, config):
    typed = "서울 café ＶＰＮ ERR-4012 ﬁle ① ｶﾞ"
    forms = [unicodedata.normalize(form, typed) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    first, *others = analyse(config, *forms, "서울 CAFÉ vpn Err-4012 FILE 1 ガ")
    assert first
    assert others == [first] * 4


@pytest.mark.parametrize("config", EVERY, ids=name)
def test_texts_without_terms(analyse, config):
    assert analyse(config) == []
    assert analyse(config, "", " \n\u3000", None) == [[], [], []]
    assert analyse(config, "", "서울", "")[1] == analyse(config, "서울")[0]


@pytest.mark.parametrize("config", VECTORISED, ids=name)
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(), max_size=5))
def test_a_text_s_terms_owe_nothing_to_its_batch(config, texts):
    terms = build(config).terms
    column = pa.array(["before", *texts], TEXT)
    assert terms(column.slice(1)).to_pylist() == [
        terms(pa.array([text], TEXT)).to_pylist()[0] for text in texts
    ]


@settings(max_examples=60, deadline=None)
@given(st.text("aB é가힣한 \0😀ǰ", max_size=20), st.integers(1, 4))
def test_n_grams_are_every_run_of_n_characters(text, n):
    words = build(Whitespace()).terms(pa.array([text], TEXT)).to_pylist()[0]
    want = [word[i : i + n] for word in words for i in range(max(len(word) - n + 1, 1))]
    assert build(CharNgram(n=n)).terms(pa.array([text], TEXT)).to_pylist() == [want]


@pytest.mark.parametrize("config", EVERY, ids=name)
def test_a_text_of_100_000_characters(analyse, config):
    (terms,) = analyse(config, "서울 vpn " * 14_286)
    assert len(terms) >= 28_572
    assert len(set(terms)) <= 4


def test_kiwi_s_absence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "kiwipiepy", None)
    with pytest.raises(MissingExtraError, match=r"rayeval\[ko\]"):
        build(Kiwi())


@pytest.mark.parametrize("config", EVERY, ids=name)
def test_name_and_version_say_what_decides_the_terms(config):
    analysis = build(config)
    assert analysis.name.startswith(config.kind)
    assert unicodedata.unidata_version in analysis.version
    assert ("kiwipiepy" in analysis.version) == (config.kind == "kiwi")


def test_configurations_are_told_apart_by_kind():
    read = TypeAdapter(Analyzer).validate_python
    assert read({"kind": "char_ngram", "n": 3}) == CharNgram(n=3)
    for wrong in ({"kind": "ngram"}, {"kind": "char_ngram", "n": 0}, {"kind": "kiwi", "n": 2}, {}):
        with pytest.raises(ValueError):
            read(wrong)
