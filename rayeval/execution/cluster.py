"""Which Ray cluster to join, found out before Ray is imported.

Ray itself joins whatever cluster was noted last on this machine, and waits for minutes if that is
gone. It also turns 127.0.0.1 in an address into the machine's outward one, where a head that
listens on loopback alone does not answer; a setting of Ray's own keeps loopback as it is, and is
read when Ray is imported.
"""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

from rayeval.errors import InfrastructureError

KEEP_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
LOOPBACK = ("127.", "localhost", "[::1]", "::1")
OURS = "local"
"""Ray's word for a Ray that is started for this process alone."""


def choose(address: str | None) -> str:
    """The address for `ray.init`: the one given, the running cluster noted here, or `OURS`.

    address: host:port; `auto`: the cluster of this machine or job; None: that one if it runs.
    Raises InfrastructureError if nothing answers there.
    """
    if address == OURS or (address or "").startswith("ray://"):
        return str(address)
    place = noted() if address in (None, "auto") else address
    if place is None or not answers(place):
        if address is None:
            return OURS
        raise InfrastructureError(
            f"no Ray cluster answers at {place or address}; start one with "
            f"`cluster/local.sh start`, or run with --ray on a Ray of this command's own"
        )
    if place.startswith(LOOPBACK):
        os.environ.setdefault(KEEP_LOOPBACK, "0")
    return place


def noted() -> str | None:
    """RAY_ADDRESS (unless it is a job server's), or what `ray start` noted on this machine."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address and not address.startswith("http"):
        return address
    folder = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / "ray"
    file = folder / "ray_current_cluster"
    return file.read_text().strip() if file.exists() else None


def answers(address: str, timeout_s: float = 5.0) -> bool:
    """Whether something listens at host:port."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return False
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout_s):
            return True
    except OSError:
        return False
