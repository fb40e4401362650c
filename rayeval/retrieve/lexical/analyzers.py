"""Texts → terms: what counts as the same word.

Every analyzer first brings text to one form: NFKC, case folded, NFKC again. So a term is the same
however it was typed: composed or decomposed (NFD), full-width (`ＶＰＮ`), in capitals.
An identifier like `ERR-4012` is the term `err-4012` by white space, `err` and `4012` as words and
to Kiwi, and `er`, `rr`, `r-`, `-4`, … as 2-grams.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, PositiveInt

from rayeval.columns import Ints, flatten, lists
from rayeval.errors import MissingExtraError
from rayeval.stage import StageConfig
from rayeval.tables import TEXT, TEXTS


class Whitespace(StageConfig):
    """Whatever stands between white space, punctuation included; case is folded."""

    kind: Literal["whitespace"] = "whitespace"


class UnicodeWords(StageConfig):
    """Runs of letters, marks and digits (Unicode L, M, N) in any script."""

    kind: Literal["unicode_words"] = "unicode_words"


class CharNgram(StageConfig):
    """Runs of n characters within what stands between white space; a shorter word is one term."""

    kind: Literal["char_ngram"] = "char_ngram"
    n: PositiveInt = Field(2, description="characters (Unicode code points) per term")


class Kiwi(StageConfig):
    """Korean morphemes that carry meaning, by the analyser Kiwi; endings and particles fall away.

    Kept are nouns (NNG NNP NNB), pronouns (NP), numerals (NR), stems of verbs and adjectives (VV
    VA, regular or not), roots (XR), foreign words, Chinese characters and numbers (SL SH SN) and
    addresses, tags and serial numbers (W_*). Kiwi takes kana for symbols: they are dropped.
    """

    kind: Literal["kiwi"] = "kiwi"


Analyzer = Annotated[Whitespace | UnicodeWords | CharNgram | Kiwi, Field(discriminator="kind")]


@dataclass(frozen=True)
class Analysis:
    """An analyzer ready for use."""

    name: str
    version: str
    """Of the libraries and dictionaries that decide what a term is. BM25 scores compare only under
    one name and version, so both belong into keys and manifests."""
    terms: Callable[[pa.Array], pa.ListArray]
    """Texts (null: empty) → the terms of each in text order, with repeats; list<large_string>."""


def build(config: Analyzer) -> Analysis:
    """The analyzer that `config` describes.

    Raises MissingExtraError if kiwipiepy is wanted and not installed.
    """
    unicode = f"unicode {unicodedata.unidata_version}"
    matching = f"{unicode}, polars {version('polars')}"
    match config:
        case Whitespace():
            return Analysis("whitespace", matching, lambda texts: _matches(texts, _WORD))
        case UnicodeWords():
            return Analysis("unicode_words", matching, lambda texts: _matches(texts, _LETTERS))
        case CharNgram(n=n):
            return Analysis(f"char_ngram({n})", matching, lambda texts: _char_ngrams(texts, n))
        case Kiwi():
            terms = _kiwi()
            library = f"kiwipiepy {version('kiwipiepy')}, model {version('kiwipiepy_model')}"
            return Analysis("kiwi", f"{unicode}, {library}", terms)


_WORD = r"\S+"
_LETTERS = r"[\p{L}\p{M}\p{N}]+"


def _normalised(texts: pa.Array) -> list[str]:
    return [_fold(unicodedata.normalize("NFKC", text or "")) for text in texts.to_pylist()]


def _fold(text: str) -> str:
    """Case folding may leave what NFKC would compose (`ǰ`), so that comes after it too."""
    return unicodedata.normalize("NFKC", text.casefold())


def _matches(texts: pa.Array, pattern: str) -> pa.ListArray:
    found = pl.Series(_normalised(texts), dtype=pl.String).str.extract_all(pattern)
    return found.to_arrow().cast(TEXTS)


def _char_ngrams(texts: pa.Array, n: int) -> pa.ListArray:
    rows, words = flatten(_matches(texts, _WORD))
    lengths = pc.utf8_length(words).to_numpy()
    per_word = np.maximum(lengths - n + 1, 1)
    ends = np.cumsum(lengths)
    first = np.repeat(ends - lengths, per_word) + _counting(per_word)
    last = np.minimum(first + n, np.repeat(ends, per_word))
    return lists(np.repeat(rows, per_word), _slices(words, first, last), len(texts))


def _slices(words: pa.Array, first: Ints, last: Ints) -> pa.Array:
    """Characters [first, last) of all words written one after the other, each a text of its own."""
    _, offsets, data = words.buffers()
    bounds = np.frombuffer(offsets, np.int64)[words.offset : words.offset + len(words) + 1]
    octets = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
    starts = np.append(np.flatnonzero((octets & 0xC0) != 0x80), len(octets))  # of characters
    sizes = starts[last] - starts[first]
    picked = np.repeat(starts[first], sizes) + _counting(sizes)
    ends = np.append(0, np.cumsum(sizes))
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(octets[picked])]
    return pa.Array.from_buffers(TEXT, len(sizes), buffers)


def _counting(sizes: Ints) -> Ints:
    """0 … size − 1 for each size, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)


_MEANING = frozenset(["NNG", "NNP", "NNB", "NP", "NR", "VV", "VA", "XR", "SL", "SH", "SN"])


def _kiwi() -> Callable[[pa.Array], pa.ListArray]:
    try:
        import kiwipiepy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of("kiwipiepy", "ko", why="the analyzer `kiwi`") from error
    kiwi = _kiwi_model()

    def terms(texts: pa.Array) -> pa.ListArray:
        normal = [unicodedata.normalize("NFKC", text or "") for text in texts.to_pylist()]
        found = [
            [_fold(token.form) for token in tokens if _carries_meaning(token.tag)]
            for tokens in kiwi.tokenize(normal)
        ]
        return pa.array(found, TEXTS)

    return terms


@cache
def _kiwi_model() -> Any:
    """One per process, as it takes seconds and hundreds of megabytes.

    It gets one thread: workers are placed from outside.
    """
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1, model_type="cong")


def _carries_meaning(tag: str) -> bool:
    return tag.partition("-")[0] in _MEANING or tag.startswith("W_")  # VV-I: an irregular verb
