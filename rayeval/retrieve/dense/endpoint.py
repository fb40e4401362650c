"""One HTTP endpoint that takes and gives JSON: what its failures mean, and when to try again."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx
from tenacity import Retrying, retry_if_exception, stop_after_attempt

from rayeval.errors import ConfigError, RowError
from rayeval.live.retry import UnavailableError, may_pass, passing, pause, retry_after_s, text_of

T = TypeVar("T")


class Endpoint:
    """Posts JSON to one address.

    api_key_env: the environment variable with the key, sent as a bearer token, never shown.
    timeout_s: for connecting and for every wait for bytes. retries: tries after the first.
    """

    def __init__(
        self, url: str, *, api_key_env: str | None, timeout_s: float, retries: int
    ) -> None:
        self.url = url
        self.api_key_env = api_key_env
        self.key = key_of(api_key_env)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self.client = httpx.Client(timeout=timeout_s, headers=headers)
        weakref.finalize(self, self.client.close)
        self.retrying = Retrying(
            stop=stop_after_attempt(retries + 1),
            wait=pause,
            retry=retry_if_exception(may_pass),
            reraise=True,
        )

    def post(self, body: Mapping[str, Any], parse: Callable[[Any], T]) -> T:
        """What `parse` makes of the answer; it raises UnavailableError where the answer is no good.

        Raises ConfigError for 401, 403, 404 and redirects, RowError for other 4xx, and
        InfrastructureError when 408, 429, 5xx, lost connections or bad answers don't end.
        """
        return self.retrying(lambda: parse(self._answer(body)))

    def _answer(self, body: Mapping[str, Any]) -> Any:
        try:
            response = self.client.post(self.url, json=body)
        except httpx.RequestError as error:
            reason = str(error) or type(error).__name__
            raise UnavailableError(f"no answer from {self.url}: {reason}") from error
        if not response.is_success:
            raise self._failure(response)
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"{self.url} answered with something that isn't JSON") from error

    def _failure(self, response: httpx.Response) -> Exception:
        status = response.status_code
        said = text_of(response)[:200]
        said = said.replace(self.key, "[key]") if self.key else said
        if status in (401, 403):
            remedy = f"check {self.api_key_env}" if self.api_key_env else "set `api_key_env`"
            return ConfigError(f"{self.url} refused access (HTTP {status}): {remedy}")
        if status == 404 or status < 400:
            return ConfigError(
                f"{self.url} has no such endpoint or model (HTTP {status}): check `base_url` and "
                f"`model`. It said: {said}"
            )
        if passing(status):
            failed = f"{self.url} failed with HTTP {status}: {said}"
            return UnavailableError(failed, retry_after_s(response))
        return RowError(f"{self.url} refused the text (HTTP {status}): {said}")


def key_of(variable: str | None) -> str | None:
    """The key that stands in the environment. Raises ConfigError where it doesn't."""
    if variable is None:
        return None
    value = os.environ.get(variable)
    if not value:
        raise ConfigError(f"the environment variable {variable} (`api_key_env`) isn't set")
    return value
