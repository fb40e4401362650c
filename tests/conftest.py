"""Fixtures that several rooms' tests share."""

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

DATA = Path(os.environ.get("RAYEVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Where a folder of real public data lies; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"no public data here: {DATA / name} (set RAYEVAL_DATA)")
        return DATA / name

    return find


# A shared machine may stall for a second: how long an example takes says nothing.
hypothesis.settings.register_profile("rayeval", deadline=None)
hypothesis.settings.load_profile("rayeval")
