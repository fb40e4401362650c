"""Two processes that change one golden set at once: neither loses what the other wrote."""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rayeval.errors import DataError
from rayeval.execution.golden import anchor, split
from rayeval.golden.file import read_golden

ROWS = [{"question_id": name, "question": f"{name}?", "source_id": "d"} for name in "ab"]


def write(folder, kind):
    path = folder / f"g.{kind}"
    if kind == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    elif kind == "csv":
        path.write_text("question_id,question,source_id,language\na,a?,d,\nb,b?,d,\n")
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return str(path)


def changed(golden, name, **fields):
    return golden.replace({name: {**golden.rows[name][1], **fields}})


KINDS = pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])


@KINDS
def test_each_keeps_what_the_other_did_to_another_question(tmp_path, kind):
    one = two = read_golden(write(tmp_path, kind))
    one = changed(one, "a", language="en")
    two = changed(two, "b", language="ko")
    changed(changed(one, "a", language="de"), "a", language="fr")
    found = read_golden(one.path).questions["language"].to_pylist()
    assert found == ["fr", "ko"]


@KINDS
def test_the_later_is_refused_where_both_change_one_question(tmp_path, kind):
    one = two = read_golden(write(tmp_path, kind))
    changed(one, "a", language="en")
    with pytest.raises(DataError, match="is another one by now: the file was changed"):
        changed(two, "a", language="ko")
    assert read_golden(one.path).questions["language"].to_pylist() == ["en", None]


@KINDS
def test_a_question_of_the_same_id_is_not_added_twice(tmp_path, kind):
    one = two = read_golden(write(tmp_path, kind))
    new = {"question_id": "c", "question": "c?", "source_id": "d"}
    one.append(new)
    with pytest.raises(DataError, match="was added since the file was read"):
        two.append(new)
    assert read_golden(one.path).questions["question_id"].to_pylist() == ["a", "b", "c"]


def add(path, number):
    row = {"question_id": f"n{number}", "question": f"{number}?", "source_id": "d"}
    read_golden(path).append(row)


def test_nothing_is_lost_when_many_write_at_once(tmp_path):
    path = write(tmp_path, "jsonl")
    with ProcessPoolExecutor(2, get_context("forkserver")) as pool:
        list(pool.map(add, [path] * 6, range(6)))
    assert read_golden(path).questions.num_rows == 8


@pytest.mark.parametrize(
    ("room", "do"),
    [
        pytest.param(split, lambda p, d: split.split_golden(p, p, by="source", seed=1), id="split"),
        pytest.param(anchor, lambda p, d: anchor.anchor_golden(p, d, out=p), id="anchor"),
    ],
)
def test_a_set_that_changed_meanwhile_is_not_overwritten(tmp_path, monkeypatch, room, do):
    path = write(tmp_path, "jsonl")
    (tmp_path / "docs.jsonl").write_text(json.dumps({"source_id": "d", "text": "x"}))
    rewritten = room.rewritten

    def late(*given):
        changed(read_golden(path), "a", language="en")
        return rewritten(*given)

    monkeypatch.setattr(room, "rewritten", late)
    with pytest.raises(DataError, match="its questions are others by now"):
        do(path, str(tmp_path / "docs.jsonl"))
    assert read_golden(path).questions["language"].to_pylist() == ["en", None]
