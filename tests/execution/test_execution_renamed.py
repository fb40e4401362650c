"""The store knows files by their contents; what is wrong with them is said of this run's files."""

import errno
import json
import shutil

import pytest

from rayeval import files
from rayeval.errors import ConfigError, DataError
from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.runs import Run
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.run import score
from rayeval.execution.validate import validate_config
from rayeval.folders import unwritten


def lines(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def scored(tmp_path):
    """Scores in one store; returns the files of what was wrong, or the run's warnings."""

    def call(golden, trace, corpus=None, format_=None):
        runs = str(tmp_path / "runs")
        options = ScoreOptions(runs=runs, corpus=corpus, format=format_)
        try:
            run: Run = score(golden, [trace], options)
        except DataError as error:
            return [problem.file for problem in error.problems]
        return run.manifest["warnings"]

    return call


QUESTION = {"question_id": "q1", "question": "?", "evidence": [{"source_id": "d.md"}]}
TRACE = {"question_id": "q1", "hits": [{"source_id": "d.md"}]}


def test_a_golden_set_with_the_bytes_of_another_is_named_itself(tmp_path, scored):
    trace = lines(tmp_path / "t.jsonl", TRACE)
    for name in ("a.jsonl", "b.jsonl"):
        golden = lines(tmp_path / name, {"question_id": "q1", "question": "?"})
        assert scored(golden, trace) == [golden]


def test_documents_with_the_bytes_of_others_are_named_themselves(tmp_path, scored):
    golden, trace = lines(tmp_path / "g.jsonl", QUESTION), lines(tmp_path / "t.jsonl", TRACE)
    for name in ("docsA", "docsB", "docsA/inner"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "d.md").write_text("---\nvalid_from: 2026-99-99\n---\ntext\n")
        if name == "docsA/inner":
            folder = tmp_path / "docsB"  # asked again, after another name was
        assert scored(golden, trace, str(folder)) == [f"{folder}/d.md"]


def test_warnings_name_the_files_of_this_run(tmp_path, scored):
    golden = lines(tmp_path / "g.jsonl", QUESTION)
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "d.md").write_text("---\nvalid_form: 2026-01-01\n---\ntext\n")
        path = folder / "t.csv"
        path.write_text("question_id,source_id,mine\nq1,d.md,x\n")
        said = scored(golden, str(path), str(folder), "csv")
        assert f"{path}: columns left out: mine" in said
        [hint] = [one for one in said if "valid_form" in one]
        assert hint.startswith(f"{folder}/d.md:2 unknown_field")


def test_no_document_at_all_is_said_of_this_corpus(tmp_path, scored):
    golden, trace = lines(tmp_path / "g.jsonl", QUESTION), lines(tmp_path / "t.jsonl", TRACE)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("\n")
        assert scored(golden, trace, str(tmp_path / name)) == [str(tmp_path / name)]


def test_a_document_twice_names_both_places(tmp_path, scored):
    golden, trace = lines(tmp_path / "g.jsonl", QUESTION), lines(tmp_path / "t.jsonl", TRACE)
    document = {"source_id": "d.md", "revision_id": "1", "text": "x"}
    for name in ("a.jsonl", "b.jsonl"):
        path = lines(tmp_path / name, document, document)
        options = ScoreOptions(runs=str(tmp_path / "runs"), corpus=path)
        with pytest.raises(DataError, match=rf"^{path}:2 .* already at {path}:1;"):
            score(golden, [trace], options)


def test_validate_names_the_files_of_this_configuration(tmp_path, project):
    store = str(tmp_path / "store")
    for name in ("a", "b"):
        folder = shutil.copytree(project, tmp_path / name)
        golden = folder / "golden.jsonl"
        golden.write_text(golden.read_text() + '{"question_id": "lost", "question": "lost?"}\n')
        found = validate_config(str(folder / "rayeval.yaml"), (), Options(store=store))
        assert {p.file for p in found if p.question_id == "lost"} == {str(golden)}


def test_a_folder_of_runs_that_is_a_file_is_said_plainly(tmp_path, project):
    file = tmp_path / "file"
    file.write_text("")
    for runs in (file, file / "below"):
        for options in ({"runs": str(runs)}, {"runs": str(tmp_path / "r"), "store": str(runs)}):
            with pytest.raises(Exception, match=rf"can't be a folder: {file} is a file") as error:
                Options(**options)
            assert error.value.exit_code == 2


def test_a_link_that_leads_nowhere_is_a_warning(tmp_path, project):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ok.md").write_text("text\n")
    for name in ("x.md", "gone", "code.py"):
        (folder / name).symlink_to(tmp_path / "nowhere")
    (folder / "y.md").symlink_to("ok.md")
    sets = (f"corpus.path={folder}",)
    found = validate_config(str(project / "rayeval.yaml"), sets, Options(runs=str(tmp_path / "r")))
    lost = [(p.file, p.warning) for p in found if p.kind == "dangling_link"]
    assert lost == [(f"{folder}/gone", True), (f"{folder}/x.md", True)]


def test_a_run_warns_of_links_that_lead_nowhere(tmp_path, project):
    folder = shutil.copytree(project, tmp_path / "p")
    docs = folder / "docs"
    docs.mkdir()
    (folder / "documents.jsonl").rename(docs / "documents.jsonl")
    (docs / "more.jsonl").symlink_to("nowhere")
    loaded = load_config(str(folder / "rayeval.yaml"), ("corpus.path=docs",))
    run = run_config(loaded, Options(runs=str(tmp_path / "runs")), Silent())
    [said] = [one for one in run.manifest["warnings"] if "dangling_link" in one]
    assert said.startswith(f"{docs}/more.jsonl dangling_link: this link leads nowhere (nowhere)")


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        pytest.param(errno.EACCES, 2, "you may not write there", id="no right to"),
        pytest.param(errno.EROFS, 2, "you may not write there", id="a disk to read only"),
        pytest.param(errno.ENOSPC, 4, "full", id="a full disk"),
    ],
)
def test_a_place_that_cant_be_written_is_the_users_fault_or_the_machines(
    tmp_path, number, code, words
):
    error = unwritten(f"{tmp_path}/a", str(tmp_path), OSError(number, "full"), local=True)
    assert (error.exit_code, words in str(error)) == (code, True)


def test_a_file_in_the_way_of_what_is_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for write in (lambda path: files.write_bytes(path, b""), files.make_folder):
        with pytest.raises(ConfigError, match=rf"{tmp_path}/file is a file"):
            write(f"{tmp_path}/file/x/y")
