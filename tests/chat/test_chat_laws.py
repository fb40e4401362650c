"""A budget's law: however many are under way, and whenever it is killed, it ends at one request."""

import json
from contextlib import suppress

import hypothesis.strategies as st
from faulty import completion
from hypothesis import given

from rayeval.chat.budget import Account, prompt_tokens
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Request
from rayeval.live.log import Nothing

MOST = 50
"""Tokens that a completion may have."""


class Killed(Exception):  # noqa: N818
    """Nothing more happens in this process."""


class Memory(Nothing):
    """A log that outlives its process, in a test."""

    def __init__(self):
        self.answers, self.rows = {}, []

    def note(self, row):
        self.rows.append(row)

    def notes(self):
        return iter(self.rows)


def asked(n, size):
    return Request((("user", str(n) + "x" * size),), prompt="p")


def record(request, cost):
    reply = completion("ok")
    reply["usage"] = {"prompt_tokens": prompt_tokens(request) // 2, "completion_tokens": cost}
    return {"response": json.dumps(reply)}


def outcomes(log, requests, costs, budget, *, at_once, killed_after=None):
    """Per request whether it has a reply.

    log: where replies lie before they are counted. killed_after: Killed when so many are there, the
    last of them not counted yet.
    """
    config = OpenAI(url="http://h", model="m", max_completion_tokens=MOST, budget=budget,
                    prices={"input_per_million": 3, "output_per_million": 7})  # fmt: skip
    account, under_way, found = Account(config, log, "step"), [], {}

    def settle():
        n = under_way.pop(0)
        log.answers[n] = record(requests[n], costs[n])
        if len(log.answers) == killed_after:
            raise Killed
        account.settle(str(n), requests[n], log.answers[n])

    for n, request in enumerate(requests):
        if n in log.answers:
            account.charge(str(n), request, log.answers[n])
            found[n] = True
            continue
        if len(under_way) == at_once:
            settle()
        while not account.takes(str(n), request) and under_way:
            settle()
        found[n] = not account._closed
        under_way += [n] * found[n]
    while under_way:
        settle()
    return found


@given(
    sizes=st.lists(st.integers(0, 300), min_size=1, max_size=12),
    costs=st.lists(st.integers(0, MOST), min_size=12, max_size=12),
    limit=st.integers(1, 1500),
    in_dollars=st.booleans(),
    at_once=st.integers(1, 5),
    killed_after=st.integers(1, 12),
)
def test_killed_or_not_and_however_many_at_once_the_same_requests_are_answered(
    sizes, costs, limit, in_dollars, at_once, killed_after
):
    budget = {"max_cost_usd": limit * 5e-6} if in_dollars else {"max_tokens": limit}
    requests = [asked(n, size) for n, size in enumerate(sizes)]
    want = outcomes(Memory(), requests, costs, budget, at_once=1)
    log = Memory()
    with suppress(Killed):
        outcomes(log, requests, costs, budget, at_once=at_once, killed_after=killed_after)
    assert outcomes(log, requests, costs, budget, at_once=at_once) == want
    tokens = sum(
        prompt_tokens(requests[n]) // 2 + costs[n] for n, answered in want.items() if answered
    )
    assert in_dollars or tokens <= limit
