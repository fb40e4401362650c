"""A run whose endpoint refuses all: it ends, its rows say so, the next run asks them."""

import answer_runs
from faulty import Fault, serving

from rayeval.live.breaker import UNAUTHORIZED


def test_a_run_ends_with_rows_that_say_so_and_the_next_one_asks_them(tmp_path):
    """Of four questions three find the key refused; the fourth is not asked."""
    script = [Fault(401, b"expired")]
    with serving(
        lambda body: script[-1] if len(script) == 1 else answer_runs.first_piece(body)
    ) as s:
        path = answer_runs.project(tmp_path, s.url, answer={"concurrency": 1})
        first = answer_runs.run(path)
        errors = first.answers["error"].to_list()
        assert len(s.seen) == UNAUTHORIZED
        assert sum("not asked: the endpoint refused 3 requests in a row" in e for e in errors) == 1
        script.append("good")
        second = answer_runs.run(path)
    assert second.answers["error"].null_count() == second.answers.height == 4
    assert len(s.seen) == UNAUTHORIZED + 4
