"""What a token is: the measure of chunks and of context budgets."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
import pyarrow as pa
from pydantic import Field

from rayeval.chunk.characters import classes, token_starts
from rayeval.columns import Ints
from rayeval.errors import MissingExtraError, ModelError
from rayeval.stage import StageConfig


class Words(StageConfig):
    """Counts without a model, near to what tokenizers of language models count.

    A run of letters and digits is a token, and so is every other character that isn't white
    space. Syllables and ideographs (Hangul, Han, Kana) count one each, so 서울은 is three tokens;
    combining marks and decomposed Hangul count with what they belong to, so NFC and NFD agree.
    """

    kind: Literal["words"] = "words"

    def identity(self) -> dict[str, Any]:
        """Unicode's version decides what a letter is."""
        return {**super().identity(), "unicode": unicodedata.unidata_version}


class HuggingFace(StageConfig):
    """A tokenizer of the `tokenizers` library; special tokens are not counted."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"path"})

    kind: Literal["hf"] = "hf"
    path: str = Field(
        min_length=1,
        description="a tokenizer.json, a folder that has one, or package:NAME/FOLDER for one that "
        "an installed package brings",
    )

    def identity(self) -> dict[str, Any]:
        """The file's contents and the library's version, wherever the file lies."""
        contents = hashlib.sha256(_tokenizer_file(self.path).read_bytes()).hexdigest()
        return {**super().identity(), "sha256": contents, "tokenizers": _library_version()}


Tokenizer = Annotated[Words | HuggingFace, Field(discriminator="kind")]


class Tokens(Protocol):
    """A tokenizer that is ready."""

    def counts(self, texts: pa.Array) -> Ints:
        """How many tokens each text has, (n_texts,); 0 for null."""
        ...

    def starts(self, text: str) -> Ints:
        """Where the tokens of `text` begin, in characters, ascending."""
        ...


def build(config: Words | HuggingFace) -> Tokens:
    """The tokenizer that `config` names.

    Raises MissingExtraError without the `tokenizers` library, ModelError without the file.
    """
    match config:
        case Words():
            return WordTokens()
        case HuggingFace():
            return FileTokens(str(_tokenizer_file(config.path)))


class WordTokens:
    """See `Words`."""

    def counts(self, texts: pa.Array) -> Ints:
        """All texts in one pass; a line end between them keeps their tokens apart."""
        words = [text or "" for text in texts.to_pylist()]
        edges = np.cumsum([0, *(len(text) + 1 for text in words)])
        starts = self.starts("\n".join(words))
        return np.diff(np.searchsorted(starts, edges))

    def starts(self, text: str) -> Ints:
        """Where the tokens of `text` begin."""
        return token_starts(classes(text))


class FileTokens:
    """See `HuggingFace`. A character that takes several tokens starts them all."""

    def __init__(self, file: str) -> None:
        self._file = file

    def counts(self, texts: pa.Array) -> Ints:
        """Every text by itself: whoever shares the batch doesn't matter."""
        words = [text or "" for text in texts.to_pylist()]
        encodings = self._tokenizer.encode_batch_fast(words, add_special_tokens=False)
        return np.array([len(encoding) for encoding in encodings], dtype=np.int64)

    def starts(self, text: str) -> Ints:
        """Where the tokens of `text` begin."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        starts = np.array([start for start, _ in offsets], dtype=np.int64)
        return np.maximum.accumulate(starts) if len(starts) else starts

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer as Library
        except ImportError as error:
            raise _missing() from error
        try:
            tokenizer = Library.from_file(self._file)
        except Exception as error:  # the library raises nothing narrower
            raise ModelError(f"{self._file} holds no tokenizer: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _tokenizer_file(path: str) -> Path:
    place = (
        _in_package(path.removeprefix("package:")) if path.startswith("package:") else Path(path)
    )
    file = place / "tokenizer.json" if place.is_dir() else place
    if not file.is_file():
        raise ModelError(
            f"there is no tokenizer at {path!r} (looked for {file}); give a tokenizer.json, "
            "a folder that has one, or package:NAME/FOLDER for an installed package"
        )
    return file


def _in_package(path: str) -> Path:
    name, _, inner = path.partition("/")
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"tokenizer 'package:{path}': no package {name!r} is installed here")
    return Path(next(iter(spec.submodule_search_locations))) / inner


def _library_version() -> str:
    if find_spec("tokenizers") is None:
        raise _missing()
    return version("tokenizers")


def _missing() -> MissingExtraError:
    return MissingExtraError.of("tokenizers", "models", why="a tokenizer of kind 'hf'")
