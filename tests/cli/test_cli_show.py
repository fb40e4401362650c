"""What `rayeval show RUN QUESTION` says of one question."""

import json

import pytest
from rich.cells import cell_len

from rayeval.cli.main import run_command
from rayeval.report.hit_lines import hit_lines

KOREAN = (
    "배는 아침 여섯 시에 등대섬으로 떠나고 파도가 높은 날에는 표를 모두 돌려준다고 선장이 늘 말한다"
)
FILLER = "the harbour office sells tickets and the harbour office keeps luggage"
FACTS = ("Fuel comes from Dongbaek Marine.", "Dongbaek Marine sits in Yeosu.")


@pytest.fixture(scope="module")
def show(tmp_path_factory):
    """Shows a question of a run whose gold stands low, in parts, or in Korean."""
    folder = tmp_path_factory.mktemp("shown")
    documents = {f"filler-{i}": FILLER for i in range(7)} | {
        "harbour": "The harbour office opens at six.",
        "korean": KOREAN,
        "fuel": FACTS[0],
        "yeosu": FACTS[1],
        "long": "lighthouse " + "keeper " * 30,
    }

    def evidence(*items):
        return [{"source_id": source, "quote": quote} for source, quote in items]

    questions = {
        "low": ("harbour office", evidence(("harbour", documents["harbour"]))),
        "korean": ("등대섬으로", evidence(("korean", KOREAN))),
        "hops": ("absent words", evidence(("fuel", FACTS[0]), ("yeosu", FACTS[1]))),
        "parts": ("lighthouse", [{"source_id": "long"}]),
    }
    rows = [{"source_id": name, "text": text} for name, text in documents.items()]
    (folder / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = [
        {"question_id": name, "question": text, "evidence": gold}
        for name, (text, gold) in questions.items()
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (folder / "c.yaml").write_text(
        "golden: {path: q.jsonl}\ncorpus: {path: d.jsonl}\nchunk: {kind: fixed, size: 80}\n"
        "retrieve: {arms: {bm25: {kind: bm25, depth: 20}}}\n"
    )
    runs = folder / "runs"
    assert run_command(["run", str(folder / "c.yaml"), "--runs", str(runs)]) == 0
    (run,) = (path for path in runs.iterdir() if path.name != ".store")
    return lambda name: run_command(["show", str(run), name])


@pytest.mark.parametrize("name", ["low", "korean", "hops", "parts"])
def test_it_fits_100_columns(show, name, capsys):
    assert show(name) == 0
    assert max(cell_len(line) for line in capsys.readouterr().out.splitlines()) <= 100


def test_gold_below_the_first_hits_is_shown(show, capsys):
    show("low")
    text = capsys.readouterr().out
    assert "8 hits, gold at 8" in text
    assert "◀ e1 100%" in text


def test_hits_that_are_not_listed_are_counted(show, capsys):
    show("low")
    found = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "… 2 more (--json lists all)" in found  # of 8: the first five, and the gold at 8


PLACED = "membership.en.md@sha-7e2dea66a606[53,233)"


@pytest.mark.parametrize(
    ("source", "chunk", "name"),
    [
        pytest.param("membership.en.md", PLACED, PLACED, id="a place once, and whole"),
        pytest.param("a.md", "a.md#1", "a.md#1", id="an id made of the source"),
        pytest.param("a.md", "c7", "a.md  c7", id="an id of its own"),
        pytest.param("a", "abc", "a  abc", id="an id that begins alike"),
        pytest.param(None, "text-1", "text-1", id="a text without a source"),
        pytest.param("x" * 90, f"{'x' * 90}@r[53,233)", f"{'x' * 74}…[53,233)", id="too long: the offsets stay"),
    ],
)  # fmt: skip
def test_a_hit_is_called_by_where_it_lies(source, chunk, name):
    hit = {"rank": 1, "score": 0.5, "source_id": source, "chunk_id": chunk, "pages": [],
           "covers": {}, "text": None}  # fmt: skip
    [line] = hit_lines([hit], ())
    assert line == f"    1    0.5000  {name}"


def test_what_a_hit_covers_has_a_line_of_its_own_where_both_are_long():
    covers = {f"evidence-number-{n}": 1.0 for n in range(3)}
    hit = {"rank": 1, "score": None, "source_id": "s" * 40, "chunk_id": "c" * 40, "pages": [],
           "covers": covers, "text": None}  # fmt: skip
    first, second = hit_lines([hit], (1,))
    assert first.split() == ["1", "s" * 40, "c" * 40] or first.endswith("…")
    assert second.strip().startswith("◀ evidence-number-0 100%")
    assert max(map(cell_len, (first, second))) <= 100


def test_gold_that_no_chunk_holds_is_in_part(show, capsys):
    show("parts")
    text = capsys.readouterr().out
    assert "1 hit, part of gold at 1" in text
    assert "CHUNK_GOLD_SPLIT" in text


def test_what_contributed_names_its_group(show, capsys):
    show("hops")
    text = capsys.readouterr().out
    assert "group e1)\n" in text
    assert "group e2)\n" in text


def test_an_unknown_question_is_answered_with_ids_that_exist(show, capsys):
    assert show("7") == 2
    assert "it has hops, korean, low, parts" in " ".join(capsys.readouterr().err.split())
