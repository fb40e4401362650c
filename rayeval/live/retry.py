"""Which failures of a server another try may not meet again, and how long to wait for it."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from tenacity import RetryCallState, wait_exponential

from rayeval.errors import InfrastructureError, plain

AGAIN = "; the next run asks again"
"""How the error of a row ends that another run may not meet: it is not taken for an answer."""
LONGEST_WAIT_S = 600.0
"""A server that asks for a longer pause counts as unavailable."""


class UnavailableError(InfrastructureError):
    """A failure that another try may not meet again."""

    def __init__(
        self,
        message: str,
        retry_after_s: float = 0.0,
        *,
        timed_out: bool = False,
        status: int | None = None,
        said: str | None = None,
        unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s, self.timed_out = retry_after_s, timed_out
        self.unreachable = unreachable
        self.status, self.said = status, said


def passing(status: int) -> bool:
    """Whether an HTTP status may be another one soon."""
    return status in (408, 425, 429) or status >= 500


def may_pass(error: BaseException) -> bool:
    """Whether to try again."""
    return isinstance(error, UnavailableError) and error.retry_after_s <= LONGEST_WAIT_S


def pause(state: RetryCallState) -> float:
    """As long as the server asked, at least 0.5, 1, 2, … seconds."""
    backoff = wait_exponential(multiplier=0.5, max=30)(state)
    error = state.outcome.exception() if state.outcome else None
    return max(backoff, error.retry_after_s if isinstance(error, UnavailableError) else 0.0)


def retry_after_s(response: httpx.Response) -> float:
    """The Retry-After header in seconds: it holds a number or a date; 0 without one."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def text_of(response: httpx.Response) -> str:
    """The body as text, for people; the encoding that it claims may be none of text, as hex is, or
    have halves of characters, as UTF-7."""
    try:
        return plain(response.content.decode(response.charset_encoding or "utf-8", "replace"))
    except (LookupError, ValueError):
        return response.content.decode("utf-8", "replace")
