"""A search function that is asked in odd places, ends in odd ways, or never ends."""

import asyncio
import threading
from concurrent.futures import CancelledError as FutureCancelledError
from itertools import count

import pytest
from live_search import QUESTIONS

import rayeval
from rayeval.hits import taken

FOUND = "Employees have 25 days of paid leave."


async def search_later(question):
    await asyncio.sleep(0)
    return [FOUND]


def evaluated(search, folder, **options):
    return rayeval.evaluate(search, golden=QUESTIONS, k=3, runs=folder / "runs", **options)


def test_a_coroutine_function_is_asked_where_a_loop_runs_already(tmp_path):
    """As in a notebook."""

    async def cell():
        return evaluated(search_later, tmp_path)

    run = asyncio.run(cell())
    assert run.per_query.filter(question_id="q-1")["recall@3"].to_list() == [1.0]


def test_what_a_search_leaves_running_is_ended(tmp_path):
    ended, tasks = [], set()

    async def forever():
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(threading.current_thread().name)

    async def search(question):
        tasks.add(asyncio.create_task(forever()))
        await asyncio.sleep(0)
        return await asyncio.to_thread(lambda: [FOUND])

    evaluated(search, tmp_path)
    assert len(ended) == len(QUESTIONS)


ENDINGS = [GeneratorExit, asyncio.CancelledError, FutureCancelledError, SystemExit]


@pytest.mark.parametrize("kind", ENDINGS)
def test_an_odd_end_is_one_questions_error(tmp_path, kind):
    def search(question):
        if "tokens" in question:
            raise kind("so")
        return [FOUND]

    async def later(question):
        return search(question)

    async def in_a_task(question):
        return await asyncio.create_task(later(question))

    for asked in (search, later, in_a_task):
        run = evaluated(asked, tmp_path)
        failed = run.trace.drop_nulls("error").select("question_id", "error").rows()
        assert failed == [("q-2", f"{kind.__name__}: so")]


@pytest.mark.parametrize("coroutine", [False, True])
def test_an_interrupt_is_the_end_of_all(tmp_path, coroutine):
    def search(question):
        raise KeyboardInterrupt

    async def later(question):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluated(later if coroutine else search, tmp_path)


def test_of_a_generator_no_more_is_taken_than_counts(tmp_path):
    most, closed = [], []

    def search(question):
        try:
            for n in count():
                most.append(n)
                yield f"text {n}"
        finally:
            closed.append(threading.current_thread() is not threading.main_thread())

    run = evaluated(search, tmp_path)
    assert [len(hits) for hits in run.trace["hits"]] == [3, 3, 3]
    assert max(most) == 2
    assert closed == [True] * 3
    evaluated(search, tmp_path, metrics=["recall@5"])
    assert max(most) == 4


class Endless:
    def __iter__(self):
        return iter(count())


def test_what_has_a_length_is_at_hand():
    listed = ["a", "b"]
    assert taken(listed, 1) is listed
    assert taken(Endless(), 2) == [0, 1]
    assert taken(iter(listed), None) == listed
    assert taken(7, 2) == 7
