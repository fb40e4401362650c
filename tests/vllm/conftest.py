"""A real model, served and in this process. Without it these tests fail; they are never skipped."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import serving, tail


@pytest.fixture(scope="session")
def model() -> Path:
    folder = os.environ.get("RAYEVAL_VLLM")
    if folder is None:
        pytest.fail("these tests need the environment that `make test-vllm` makes", pytrace=False)
    return Path(folder) / "model"


@pytest.fixture(scope="session")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where vLLM serves; one for all tests."""
    log = tmp_path_factory.mktemp("vllm") / "serve.log"
    with serving(model, log) as url:
        yield url
        print(tail(log))
