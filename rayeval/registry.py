"""Configurations → what computes: the one place that knows every room.

Functions that end in a `shard` are steps' makers: a worker calls them with the step's inputs and
builds its own stage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from rayeval.chunk import lookup, tokens
from rayeval.chunk import stage as chunking
from rayeval.chunk.config import Fixed, Structure
from rayeval.context import selection
from rayeval.corpus import catalogue as catalogues
from rayeval.corpus import read, units
from rayeval.corpus.config import Corpus, Parse
from rayeval.corpus.parse import Parser
from rayeval.errors import Problem
from rayeval.fuse import fusion
from rayeval.golden import load, revisions
from rayeval.golden.config import Golden
from rayeval.golden.evaluate import Evaluate
from rayeval.golden.locate import Locate
from rayeval.metrics.config import Metrics
from rayeval.retrieve.dense import ann, embed, exact, ranks, recall
from rayeval.retrieve.dense.config import Dense, Embedder, Side
from rayeval.retrieve.filter import Filter, FilterTrace
from rayeval.retrieve.lexical import analyzers, severed, terms
from rayeval.retrieve.lexical.analyzers import Analyzer
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.retrieve.lexical.ranks import Bm25Ranks, Bm25Scores
from rayeval.stage import Scatter, Shard, Stage

Produced = Iterator[tuple[pa.Table, Sequence[Problem]]]
