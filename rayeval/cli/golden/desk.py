"""Hits graded at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rayeval.cli import options
from rayeval.errors import InputError
from rayeval.report.plain import printable

if TYPE_CHECKING:
    from rayeval.cli.keys import Keys
    from rayeval.execution.grow.session import Session

GROUP_KEYS = "123456789abcdefghijklmoprtvwxyz"
"""n is a new fact; q, s and u mean what they mean elsewhere."""


class Desk:
    """One hit after the other, at a terminal."""

    def __init__(self, session: Session, keys: Keys) -> None:
        self.session, self.keys = session, keys
        self.items = session.items().to_dicts()
        rows = session.golden.questions.select(["question_id", "question", "reference_answer"])
        self.questions = {row["question_id"]: row for row in rows.to_pylist()}
        self.graded: list[int] = []
        """The places of the hits that were graded, for undo."""

    def work(self) -> None:
        """Until all hits are graded, or until the user quits."""
        place = 0
        while place < len(self.items):
            item = self.items[place]
            if place not in self.graded and not self.session.open(item):
                place += 1
                continue
            key = self._asked(place)
            if key == "q":
                return
            if key == "u":
                place = self._undone(place)
            elif key == "s" or self._grade(place, int(key)):
                place += 1

    def _asked(self, place: int) -> str:
        """One of the keys, once the hit is shown."""
        from rayeval.report.labelling import item_text

        item = self.items[place]
        question = self.questions[item["question_id"]]
        options.say(item_text(item, question, place=place + 1, total=len(self.items)))
        return self.keys.next("0123suq", end="q")

    def _grade(self, place: int, grade: int) -> bool:
        """Writes a grade; False if the user thought better of it."""
        from rayeval.report.labelling import change_text, groups_text

        item, group = self.items[place], None
        known = self.session.groups(item["question_id"])
        if grade >= self.session.relevant and known:
            options.say(groups_text(GROUP_KEYS, known))
            keys = dict(zip(GROUP_KEYS, known, strict=False))
            key = self.keys.next("".join(["n", *keys, "uq"]), end="q")
            if key in "uq":
                return False
            group = keys.get(key)
        try:
            change = self.session.grade(item, grade, group)
        except InputError as error:
            options.say(printable(str(error)))
            return True
        self.graded.append(place)
        options.say(change_text(change))
        return True

    def _undone(self, place: int) -> int:
        """Back at the hit that was graded last."""
        if self.session.undo() is None:
            options.say("nothing to take back")
            return place
        return self.graded.pop()
