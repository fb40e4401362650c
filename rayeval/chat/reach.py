"""Whether an endpoint can be asked at all, before anything is paid for."""

from __future__ import annotations

import httpx

from rayeval.chat.config import OpenAI
from rayeval.errors import ConfigError
from rayeval.live.retry import UnavailableError
from rayeval.live.turns import Turns
from rayeval.live.wire import Wire, run

DEADLINE_S = 10.0
KEYS = (401, 403)
UNKNOWN = (404, 405, 501)
"""What an endpoint says that lists no models; it may answer all the same."""


def reach(config: OpenAI) -> tuple[bool, str]:
    """Whether the endpoint lists the configured model, and that in words; asking costs nothing.

    Raises ConfigError where nobody answers, and where the key is refused.
    """
    wire = Wire(config.url, config.headers, min(DEADLINE_S, config.deadline_s))
    url = f"{config.url}/models"

    async def ask() -> httpx.Response:
        async with wire.client(1) as client:
            return await wire.send(client, Turns(None), "GET", url, None)

    try:
        response = run(ask())
    except UnavailableError as error:
        raise ConfigError(f"{url}: {error}; is the server up, and is that its address?") from error
    if response.status_code in KEYS:
        held = ", ".join(sorted(wire.variables)) or "no header has a key from the environment"
        raise ConfigError(f"{url}: {wire.refusal(response)}; the key was refused ({held})")
    if response.status_code in UNKNOWN:
        return False, "answers, and lists no models"
    return _listed(config, response)


def _listed(config: OpenAI, response: httpx.Response) -> tuple[bool, str]:
    try:
        names = [str(one["id"]) for one in response.json()["data"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        return False, f"answers, with no list of models but HTTP {response.status_code}"
    if config.model in names:
        return True, f"answers, and has {config.model}"
    has = ", ".join(sorted(names)[:5]) + (", …" if len(names) > 5 else "")
    return False, f"answers; {config.model!r} is not on its list of models: {has or 'nothing'}"
