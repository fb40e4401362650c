"""Coroutines of the user's waited for by threads, on one event loop that serves them all.

The loop runs in a thread of its own, from its first to its last step: the caller's may be running
one already, as in a notebook.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def loop() -> Iterator[Callable[[Awaitable[Any]], Any]]:
    """What waits for an awaitable, from any thread, and raises what that raises."""
    made, ending = asyncio.new_event_loop(), threading.Event()
    thread = threading.Thread(target=_serve, args=(made, ending), daemon=True)
    thread.start()

    def awaited(found: Awaitable[Any]) -> Any:
        value, error = asyncio.run_coroutine_threadsafe(_outcome(found), made).result()
        if error is not None:
            raise error
        return value

    try:
        yield awaited
    finally:
        ending.set()
        made.call_soon_threadsafe(made.stop)
        thread.join()


async def _outcome(found: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Its value or what it raised: a loop stops at an exit that a task raises, and whoever waits
    for the task would wait for ever."""
    try:
        return await found, None
    except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
        return None, error


def _serve(made: asyncio.AbstractEventLoop, ending: threading.Event) -> None:
    asyncio.set_event_loop(made)
    while not ending.is_set():
        try:
            made.run_forever()
        except (KeyboardInterrupt, SystemExit):  # of a task that the search began: it knows
            continue
    made.run_until_complete(_cancelled())
    made.run_until_complete(made.shutdown_asyncgens())
    made.run_until_complete(made.shutdown_default_executor())
    made.close()


async def _cancelled() -> None:
    """Ends the tasks that searches began and left running."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
