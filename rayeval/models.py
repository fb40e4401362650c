"""Where a model lies, and which one exactly it is."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from rayeval.errors import MissingExtraError, ModelError

PACKAGE = "package:"


def model_path(name: str) -> tuple[str, str]:
    """The folder of a model and its revision.

    name: a folder's path; `package:module/sub/folder`, a folder inside an installed Python package;
    or `name@revision` on the model hub.
    Returns (folder, revision): of the hub its commit, else a digest of the folder's files.
    Raises ModelError if there is no such model.
    """
    if name.startswith(PACKAGE):
        folder = _in_package(name)
    elif Path(name).expanduser().exists():
        folder = Path(name).expanduser()
    elif "@" in name:
        folder = _from_hub(*name.rsplit("@", 1))
        return str(folder), folder.name
    else:
        raise ModelError(
            f"no model folder at {name!r}. Give the path of a folder, `package:module/folder` for "
            f"a model inside an installed package, or `{name}@revision` for one on the hub."
        )
    if not folder.is_dir():
        raise ModelError(f"the model {name!r} must be a folder, but {folder} is none")
    return str(folder), folder_revision(str(folder))


def folder_revision(folder: str) -> str:
    """A digest of every file's name and contents; hidden files and notes (*.md) don't count."""
    root = Path(folder)
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    counted = sorted(
        path.as_posix()
        for path in found
        if path.suffix != ".md" and not any(p.startswith((".", "__pycache__")) for p in path.parts)
    )
    if not counted:
        raise ModelError(f"the model folder {folder} holds no files")
    stats = [(root / name).stat() for name in counted]
    marks = tuple((name, s.st_size, s.st_mtime_ns) for name, s in zip(counted, stats, strict=True))
    return _digest(folder, marks)


@lru_cache(maxsize=64)
def _digest(folder: str, marks: tuple[tuple[str, int, int], ...]) -> str:
    """Sizes and times in `marks` let a process read an unchanged folder only once."""
    total = hashlib.sha256()
    for name, _, _ in marks:
        with (Path(folder) / name).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        total.update(hashlib.sha256(name.encode()).digest() + content)
    return f"sha256-{total.hexdigest()[:32]}"


def _in_package(name: str) -> Path:
    """Found without importing the package, which may be heavy."""
    module, _, inner = name.removeprefix(PACKAGE).partition("/")
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            f"the model {name!r} lies in the Python package {module!r}, which is not installed: "
            f"pip install {module.replace('_', '-')}"
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / inner
    if not folder.exists():
        raise ModelError(f"the package {module!r} has no folder {inner!r} for the model {name!r}")
    return folder


def _from_hub(name: str, revision: str) -> Path:
    """The hub's snapshot, downloaded unless it is in the local cache."""
    try:
        from httpx import HTTPError
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RevisionResolutionError
    except ImportError as error:
        raise MissingExtraError.of(
            "huggingface-hub", "models", why=f"the model {name!r}"
        ) from error
    weights_of_others = ["*.onnx", "*.h5", "*.msgpack", "*.ot", "onnx/*", "openvino/*"]
    try:
        return Path(snapshot_download(name, revision=revision, ignore_patterns=weights_of_others))
    except (OSError, ValueError, HTTPError, RevisionResolutionError) as error:
        raise ModelError(
            f"no model {name!r} at revision {revision!r}: neither a local folder, nor in the hub's "
            f"cache, nor to be had from the hub ({type(error).__name__}). Without a connection, "
            f"give the path of a folder or `package:module/folder`."
        ) from error


@contextmanager
def loading(name: str) -> Iterator[None]:
    """What transformers raises while it loads a model, as one clear error."""
    try:
        from safetensors import SafetensorError
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtraError.of("transformers", "models", why=f"the model {name!r}") from error
    logging.disable_progress_bar()
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"the model {name!r} can't be loaded: {error}") from error
