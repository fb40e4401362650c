"""Golden sets and traces on disk."""

import json
from pathlib import Path
from typing import Any


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path
