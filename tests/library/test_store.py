"""Files are written aside, named by content, and put in place whole."""

import os
import subprocess
import sys
import time

import pytest

from wordsight.errors import LibraryError
from wordsight.library.files.store import ArtefactStore, digest_of, settings_hash
from wordsight.library.files.verify import sweep_staging


@pytest.fixture
def store(tmp_path):
    return ArtefactStore(tmp_path / "library")


def stage(store, text="content", kind="notes", settings=None, video_id="walk-1"):
    return store.stage(
        kind,
        lambda path: path.write_text(text),
        suffix=".txt",
        settings=settings or {},
        video_id=video_id,
    )


def test_a_staged_file_is_in_no_place_until_it_is_placed(store):
    staged = stage(store)
    assert list(store.ours()) == []
    store.place(staged)
    assert list(store.ours()) == [staged.path]
    assert store.path_of(staged.path).read_text() == "content"
    assert list(store.unfinished()) == []


def test_the_path_tells_video_kind_settings_and_content(store):
    one = stage(store)
    assert one.path.startswith("videos/walk-1/notes-")
    assert one.path == stage(store).path
    assert one.path != stage(store, settings={"rate": 10}).path
    assert one.path != stage(store, text="other").path
    assert one.slot == stage(store, text="other").slot
    assert one.slot != stage(store, settings={"rate": 10}).slot
    assert stage(store, video_id=None).path.startswith("shared/notes-")


def test_settings_are_told_apart_whatever_their_order():
    assert settings_hash({"a": 1, "b": [2]}) == settings_hash({"b": [2], "a": 1})
    assert settings_hash({"a": 1}) != settings_hash({"a": 2})


def test_placing_the_same_twice_is_no_error(store):
    for _ in range(2):
        store.place(stage(store))
    assert len(list(store.ours())) == 1


def test_a_folder_is_an_artefact_too(store):
    def write(folder):
        (folder / "parts").mkdir(parents=True)
        (folder / "model.json").write_text("{}")
        (folder / "parts" / "a.bin").write_bytes(b"12345")

    for _ in range(2):  # the second takes the place of a leftover
        staged = store.stage("model", write, suffix="", settings={"name": "x"})
        store.place(staged)
    place = store.path_of(staged.path)
    assert digest_of(place) == (staged.sha256, staged.size) == (staged.sha256, 7)
    (place / "parts" / "a.bin").rename(place / "parts" / "b.bin")
    assert digest_of(place)[0] != staged.sha256


def test_a_failed_write_leaves_nothing(store):
    def write(path):
        path.write_text("half")
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        store.stage("notes", write, suffix=".txt", settings={})
    assert list(store.unfinished()) == []


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "videos/../../x"])
def test_a_path_that_leads_out_is_refused(store, path):
    with pytest.raises(LibraryError, match="outside"):
        store.path_of(path)


def test_only_names_of_our_making_are_ours(store):
    store.place(stage(store))
    for name in ("holiday.mp4", "videos/holiday.mp4", "videos/walk-1/holiday.mp4"):
        (store.folder / name).write_text("the user's own")
    assert len(list(store.ours())) == 1


def test_the_folder_of_a_video_goes_with_its_last_file(store):
    one, other = stage(store), stage(store, text="other")
    store.place(one)
    store.place(other)
    store.remove(one.path)
    assert (store.folder / "videos" / "walk-1").exists()
    store.remove(other.path)
    assert not (store.folder / "videos" / "walk-1").exists()
    store.remove(other.path)  # gone already


def test_alone_means_that_nobody_is_working(store):
    with store.alone() as alone:
        assert alone
    with store.working(), store.working(), store.alone() as alone:
        assert not alone
    with store.alone() as alone:
        assert alone


def test_leftovers_go_when_nobody_is_working(store):
    staged = stage(store)
    assert sweep_staging(store) == (os.path.basename(staged.staged),)  # noqa: PTH119
    assert list(store.unfinished()) == []
    assert sweep_staging(store) == ()


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("age", "alive", "goes"),
    [
        (3600, False, True),  # old, its writer is dead
        (3600, True, False),  # old, but its writer lives
        (5, False, False),  # its writer is dead here, but may live on another machine
    ],
)
def test_while_someone_works_only_old_files_of_the_dead_go(store, age, alive, goes):
    with store.working():
        pid = os.getpid() if alive else dead_process()
        file = store.folder / "staging" / f"notes.partial-{pid}-abc.txt"
        file.write_text("half")
        os.utime(file, (time.time() - age,) * 2)
        sweep_staging(store)
        assert file.exists() != goes


@pytest.mark.slow
def test_a_process_that_is_killed_no_longer_works(store):
    program = (
        "import sys, time; from pathlib import Path\n"
        "from wordsight.library.files.store import ArtefactStore\n"
        "with ArtefactStore(Path(sys.argv[1])).working(): print('x', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(store.folder)], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    with store.alone() as alone:
        assert not alone
    process.kill()
    process.communicate()
    with store.alone() as alone:
        assert alone


def test_a_library_may_be_named_from_beside(tmp_path):
    (tmp_path / "here").mkdir()
    store = ArtefactStore(tmp_path / "here" / ".." / "library")
    staged = stage(store)
    store.place(staged)
    assert (tmp_path / "library" / staged.path).read_text() == "content"
    for path in ("../here/notes.txt", "videos/../../here"):
        with pytest.raises(LibraryError, match="outside the library"):
            store.path_of(path)
