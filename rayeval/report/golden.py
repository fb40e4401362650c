"""What the golden tools say in the terminal, 100 columns wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from rayeval.errors import Problem
from rayeval.golden.change import Anchoring, Change
from rayeval.golden.problems import shown
from rayeval.report.terminal import headed, listed, rendered, titled
from rayeval.words import percent, plural

EACH = 3
"""How many problems of a kind are shown."""
NAMED = 8
"""How many questions a step names."""
DIFFS = 20
"""How many changes of a status are shown."""
STATUS = {
    "kept": "where it was",
    "moved": "moved",
    "normalised": "found but for white space or Unicode form",
    "unchecked": "unchecked: offsets alone, and no note of what stood there",
    "ambiguous": "ambiguous: more than one place",
    "lost": "lost",
}


NEXT = {
    "near_duplicate": "rayeval golden split GOLDEN --by template: such questions in one split",
    "too_few_questions": "rayeval golden add GOLDEN: one question of a user's at a time",
    "offset_outside_text": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
    "quote_mismatch": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
    "quote_lost": "rayeval golden anchor GOLDEN --corpus C --was OLD: what became of each quote",
    "evidence_changed": "rayeval golden anchor GOLDEN --corpus C: quotes found again",
    "repeated_question": "keep one of those that are there twice: {ids}",
    "quote_ambiguous": "offsets, a page or more of the text around it, as each says, for {ids}; "
    "anchoring tells places apart only by its notes or the old documents (--was OLD)",
}
"""What helps with a kind of problem; `{ids}` are the questions that have it."""


def problems_text(path: str, problems: Sequence[Problem], warnings: Sequence[Problem]) -> str:
    """How many there are of each kind, the first of each, and what to do."""
    parts: list[RenderableType] = []
    for title, found in (("Problems", problems), ("Warnings", warnings)):
        kinds = Counter(problem.kind for problem in found)
        if kinds:
            table = headed("kind", "how many")
            for kind, count in kinds.most_common():
                table.row(kind, f"{count:,}")
            parts.append(titled(title, table))
        for kind, count in kinds.most_common():
            shown = [_line(problem) for problem in found if problem.kind == kind][:EACH]
            more = [f"… and {count - EACH:,} more: --json lists all"] if count > EACH else []
            parts.append(listed(kind, [*shown, *more]))
    if steps := _steps([*problems, *warnings]):
        parts.append(listed("What to do next", steps))
    parts.append(
        Text(f"\n{plural(len(problems), 'problem')}, {plural(len(warnings), 'warning')} in {path}")
    )
    return rendered(parts)


def _steps(found: Sequence[Problem]) -> list[str]:
    """What helps, each once."""
    steps = []
    for kind in dict.fromkeys(problem.kind for problem in found if problem.kind in NEXT):
        ids = [p.question_id or "?" for p in found if p.kind == kind]
        names = dict.fromkeys(ids)
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        steps.append(NEXT[kind].replace("{ids}", ", ".join([*names][:NAMED]) + more))
    return list(dict.fromkeys(steps))


def _line(problem: Problem) -> str:
    """A problem below its kind: the file by its name alone."""
    name = problem.file.rpartition("/")[2]
    place = name if problem.line is None else f"{name}:{problem.line}"
    who = f" [{problem.question_id}]" if problem.question_id is not None else ""
    return f"{place}{who}: {problem.message}"


def anchoring_text(found: Anchoring) -> str:
    """How much is where it was, and a diff of the rest to approve."""
    table = headed("evidence", "how many")
    for status, count in found.counts.items():
        if count:
            table.row(STATUS[status], f"{count:,}")
    parts: list[RenderableType] = [titled(f"Anchors of {found.path}", table)]
    for status in found.counts:
        changes = [change for change in found.changes if change.status == status]
        blocks = [_diff(change) for change in changes[:DIFFS]]
        more = len(changes) - len(blocks)
        blocks += [f"… and {more:,} more: --json lists all"] if more else []
        if blocks:
            parts.append(listed(STATUS[status], blocks))
    parts.append(Text("\n" + _what_now(found)))
    return rendered(parts)


def _diff(change: Change) -> str:
    """One change, as it stood and as it stands."""
    name = change.file.rpartition("/")[2]
    where = change.source_id or "any source"
    head = f"{name}:{change.line} [{change.question_id}] {change.evidence_id} in {where}"
    lines = [f"{head}: {change.message}" if change.message else head]
    if change.old is not None or change.was:
        lines.append(f"  - {_spans(change.was)} {shown(change.old or '')}")
    if change.new is not None:
        lines.append(f"  + {_spans(change.places)} {shown(change.new)}")
    elif change.places:
        lines.append(f"  ? {_spans(change.places)}")
    lines += [
        f"  ~ {_alike(one.similarity)} in {one.source_id} {_spans([one.place])} {shown(one.text)}"
        for one in change.suggested
    ]
    return "\n  ".join(lines)


def _alike(similarity: float) -> str:
    return "word for word" if similarity == 1 else f"{percent(similarity)} alike"


def _spans(places: Sequence[tuple[int, int]]) -> str:
    rest = f" and {len(places) - 5} more" if len(places) > 5 else ""
    return ", ".join(f"[{start}, {end})" for start, end in places[:5]) + rest


def _what_now(found: Anchoring) -> str:
    """What was done, or what to do."""
    if found.written is not None:
        said = f"written to {found.written}, with notes of what stands where beside it"
        rest = "" if found.sound else "; what is lost or ambiguous is as it was: mend it by hand"
        return said + rest
    said = "nothing is written: --write takes what moved over, and notes what stands where"
    if any(change.suggested for change in found.changes):
        said += "; --take QUESTION approves a suggestion (~), --take-exact those word for word"
    return said


def split_text(found: Mapping[str, Any]) -> str:
    """How the questions were dealt out, and what leaks all the same."""
    table = headed("split", "questions", "groups", "share", "wanted")
    for name, part in found["splits"].items():
        share, wanted = percent(part["share"]), percent(part["wanted"])
        table.row(name, f"{part['questions']:,}", f"{part['groups']:,}", share, wanted)
    size = f"{found['groups']:,} groups by {found['by']}, the largest of {found['largest_group']:,}"
    lines = [f"{size} questions; each stays together, so shares are met roughly"]
    if found["moved"]:
        lines.append(f"{found['moved']:,} questions were in another split before")
    lines += [f"{name} has no question: other ratios, or another --seed"
              for name, part in found["splits"].items() if not part["questions"]]  # fmt: skip
    leaks = found["leakage"]
    said = [
        f"{leaks[kind]['count']:,} {kind} have questions in more than one split "
        f"({leaks[kind]['questions']:,} questions), e.g. {_some(leaks[kind]['examples'])}"
        for kind in ("sources", "clusters")
        if leaks[kind]["count"]
    ]
    if near := leaks["near_duplicates"]["questions"]:
        pairs = [" ~ ".join(pair) for pair in leaks["near_duplicates"]["examples"]]
        said.append(
            f"{near:,} questions are nearly asked in another split too, e.g. {_some(pairs)}"
        )
    nothing = ("no source, cluster or near-duplicate question is in more than one split",)
    parts: list[RenderableType] = [
        titled(f"Splits in {found['written']}", table),
        listed("Groups", lines),
        listed("What is in more than one split", said or nothing),
    ]
    return rendered(parts)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names)


def stats_text(found: Mapping[str, Any]) -> str:
    """What the golden set holds, in one table, and what it can decide."""
    total = found["questions"]
    table = headed("what", "", "questions", "share")
    for field, counts in found["counts"].items():
        for number, (value, count) in enumerate(counts.items()):
            table.row(field if number == 0 else "", value, f"{count:,}", percent(count / total))
    sizes = headed("slice", "questions", "clusters", "shows", "more for " + f"{found['detect']:g}")
    for name, part in found["slices"].items():
        more = f"{part['lacking']:,}" if part["lacking"] else ""
        n, clusters = f"{part['questions']:,}", f"{part['clusters']:,}"
        sizes.row(name, n, clusters, _shows(part), more)
    drawn = found["clusters"]
    lines = [
        f"{drawn['count']:,} clusters, the largest ({drawn['largest']}) with "
        f"{drawn['questions']:,} questions, {percent(drawn['share'])} of all",
        f"{found['evidence']['pieces']:,} pieces of evidence, {found['evidence']['spans']:,} spans",
        "`shows`: the smallest difference of two runs that a slice's counted questions show, if "
        "the runs differ on a fifth of them and no two share a document; `compare` says what two "
        "runs show by how they do differ. –: unanswerable questions, outside metrics of retrieval",
    ]
    parts: list[RenderableType] = [titled(f"{found['path']}: {total:,} questions", table),
             titled("What each slice can decide", sizes), listed("Also", lines)]  # fmt: skip
    return rendered(parts)


def _shows(part: Mapping[str, Any]) -> str:
    """What a slice's questions can show, as far as metrics of retrieval go."""
    if not part["answerable"]:
        return "–"
    return "too few" if part["detectable"] is None else f"{part['detectable']:.3f}"
