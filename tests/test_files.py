import fcntl
import hashlib
import os
import stat
from pathlib import Path

import pytest

from wordsight import files
from wordsight.errors import FormatError, VideoError
from wordsight.files import (
    TEMPORARY_MARK,
    atomic_folder,
    atomic_path,
    put_folder,
    read_limited,
    read_present,
    sha256_of,
    write_text,
)


def test_the_file_appears_only_when_the_block_succeeds(tmp_path):
    target = tmp_path / "deep" / "a.txt"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert TEMPORARY_MARK in temporary.name
        assert temporary.suffix == ".txt"
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_existing_file_is_kept_unless_told(tmp_path):
    write_text(tmp_path / "a.txt", "one")
    with pytest.raises(FileExistsError, match="another name"):
        write_text(tmp_path / "a.txt", "two", overwrite=False)
    assert (tmp_path / "a.txt").read_text() == "one"


def test_a_file_that_came_meanwhile_is_kept(tmp_path):
    target = tmp_path / "a.txt"
    with pytest.raises(FileExistsError), atomic_path(target, overwrite=False) as temporary:
        temporary.write_text("mine")
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_others_may_read_the_file(tmp_path):
    write_text(tmp_path / "a.txt", "")
    assert (tmp_path / "a.txt").stat().st_mode & stat.S_IRUSR
    plain = tmp_path / "plain.txt"
    plain.touch()
    assert (tmp_path / "a.txt").stat().st_mode == plain.stat().st_mode


def test_hash_equals_hashlib_on_a_file_of_many_pieces(tmp_path):
    content = bytes(range(256)) * 10_000
    (tmp_path / "big").write_bytes(content)
    assert sha256_of(tmp_path / "big") == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("can_exchange", [True, False], ids=["in one step", "by moving aside"])
@pytest.mark.parametrize("there", [True, False], ids=["over another", "where none was"])
def test_a_folder_takes_the_place_of_another(can_exchange, there, tmp_path, monkeypatch):
    if not can_exchange:  # as on systems that know no exchange
        monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    new, target = tmp_path / ".new", tmp_path / "model"
    for folder, text in ((new, "new"), (target, "old")):
        if folder is new or there:
            folder.mkdir()
            (folder / text).write_text(text)
    put_folder(new, target)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert [path.name for path in target.iterdir()] == ["new"]


def test_what_a_killed_process_left_is_cleared_by_the_next_attempt(tmp_path):
    for number, age in enumerate((3600, -3600, 0)):  # also where the clock was set back meanwhile
        file = tmp_path / f".a{TEMPORARY_MARK}{number}-x.txt"
        folder = tmp_path / f".model{TEMPORARY_MARK}{number}"
        file.write_text("half")
        folder.mkdir()
        (folder / "half").write_text("half")
        for path in (file, folder):
            os.utime(path, (path.stat().st_mtime - age,) * 2)
    held = tmp_path / f".a{TEMPORARY_MARK}9-x.txt"
    held.write_text("being written for a long time")
    os.utime(held, (0, 0))
    with held.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        write_text(tmp_path / "a.txt", "whole")
        with atomic_folder(tmp_path / "model") as folder:
            (folder / "new").write_text("whole")
    young = {f".a{TEMPORARY_MARK}2-x.txt", f".model{TEMPORARY_MARK}2"}
    assert {p.name for p in tmp_path.iterdir()} == {"a.txt", "model", held.name} | young


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "model"
    for word in ("old", "new"):
        with atomic_folder(target) as folder:
            (folder / "word").write_text(word)
    with pytest.raises(RuntimeError), atomic_folder(target) as folder:
        (folder / "word").write_text("half")
        raise RuntimeError
    assert (target / "word").read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_people_name_is_read_up_to_a_limit(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"12345")
    assert read_limited(file, 5, "is too large.") == b"12345"
    with pytest.raises(FormatError, match="has 5 bytes, too many"):
        read_limited(file, 4, "has {size} bytes, too many.")
    with pytest.raises(VideoError, match="does not exist; check the name"):
        read_limited(tmp_path / "b.txt", 4, "", VideoError)
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        read_limited(tmp_path, 1 << 20, "")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="not a plain file"):
        read_limited(tmp_path / "pipe", 4, "")


def test_what_was_removed_since_it_was_listed_is_left_out(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text(name)
    listed = sorted(tmp_path.iterdir())
    (tmp_path / "b").unlink()
    assert read_present(listed, Path.read_text) == ["a", "c"]
