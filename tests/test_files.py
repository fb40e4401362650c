"""Writing files of the user's."""

import stat

import pytest

from rayeval import files


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_written_again_keeps_who_may_read_it(tmp_path, mode):
    path = tmp_path / "private.jsonl"
    path.write_text("old")
    path.chmod(mode)
    files.write_bytes(str(path), b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_a_new_file_is_as_the_user_has_new_files(tmp_path):
    (tmp_path / "other").touch()
    files.write_bytes(str(tmp_path / "new"), b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode
