"""Files in a bucket: the same promises as a folder's, kept with a file system in memory."""

import importlib.util
import os
import time
import uuid

import pytest

from wordsight.engine import Processes, Serial
from wordsight.errors import LibraryError
from wordsight.library import Library
from wordsight.library.files.bucket import Bucket, is_url, shown_url
from wordsight.library.files.remote_store import CACHE_SETTING, RemoteStore
from wordsight.library.files.store import ArtefactStore
from wordsight.records import Detections
from wordsight.video import read_image


@pytest.fixture
def url():
    return f"memory://bucket-{uuid.uuid4().hex}/library"


@pytest.fixture(params=["memory", "file"])
def store(request, url, tmp_path):
    """A bucket in memory, and one that is a folder behind fsspec."""
    place = url if request.param == "memory" else f"file://{tmp_path}/there"
    return RemoteStore(tmp_path / "here", place)


def stage(store, text="content", video_id="walk-1"):
    return store.stage(
        "notes", lambda path: path.write_text(text), suffix=".txt", settings={}, video_id=video_id
    )


def write_folder(path):
    (path / "inner").mkdir(parents=True)
    (path / "one.txt").write_text("one")
    (path / "inner.txt").write_text("sorted before or after its namesake")
    (path / "inner" / "two.txt").write_text("two")


def forget_copies(store):
    import shutil

    shutil.rmtree(store.folder / "cache")


def test_a_staged_file_is_in_no_place_until_it_is_placed(store):
    staged = stage(store)
    assert list(store.ours()) == [] and store.digest(staged.path) is None
    store.place(staged)
    assert list(store.ours()) == [staged.path]
    assert store.digest(staged.path) == (staged.sha256, staged.size)
    assert store.bucket.names("staging") == []


def test_names_are_those_of_a_local_library(store, tmp_path):
    assert stage(store).path == stage(ArtefactStore(tmp_path / "local")).path


def test_a_copy_is_fetched_once_and_kept(store):
    staged = stage(store)
    store.place(staged)
    forget_copies(store)
    path = store.path_of(staged.path)
    assert path.read_text() == "content"
    store.bucket.remove(staged.path)
    assert store.path_of(staged.path).read_text() == "content"
    assert not list(store.unfinished())


def test_a_folder_is_an_artefact_too(store):
    staged = store.stage("model", write_folder, suffix="", settings={"name": "x"})
    store.place(staged)
    store.place(store.stage("model", write_folder, suffix="", settings={"name": "x"}))
    forget_copies(store)
    place = store.path_of(staged.path)
    assert (place / "inner" / "two.txt").read_text() == "two"
    assert list(store.ours()) == [staged.path]
    assert store.digest(staged.path) == (staged.sha256, staged.size)
    store.remove(staged.path)
    assert list(store.ours()) == [] and not place.exists()


def test_what_is_discarded_leaves_nothing(store):
    staged = stage(store)
    store.discard(staged)
    assert store.bucket.names() == []


def test_a_failed_write_leaves_nothing(store):
    def write(path):
        path.write_text("half")
        raise ValueError("the other half")

    with pytest.raises(ValueError, match="other half"):
        store.stage("notes", write, suffix=".txt", settings={})
    assert store.bucket.names() == [] and list(store.unfinished()) == []


def test_what_is_missing_or_damaged_is_told(store, tmp_path):
    staged = stage(store)
    with pytest.raises(LibraryError, match="missing"):
        forget_copies(store)
        store.path_of(staged.path)
    store.place(staged)
    (tmp_path / "other").write_text("CONTENT")
    store.bucket.send(tmp_path / "other", staged.path)
    with pytest.raises(LibraryError, match="not what it was"):
        store.path_of(staged.path)
    assert not list(store.unfinished())


@pytest.mark.parametrize("path", ["../out.txt", "videos/../../out.txt", "/etc/passwd"])
def test_a_path_that_leads_out_is_refused(store, path):
    with pytest.raises(LibraryError, match="outside"):
        store.path_of(path)


def test_copies_not_used_for_longest_go_when_there_is_no_room(store, monkeypatch):
    staged = [stage(store, text=str(n) * 1000) for n in range(4)]
    for each in staged:
        store.place(each)
    forget_copies(store)
    monkeypatch.setenv(CACHE_SETTING, "2.5e-6")  # room for two
    for age, each in enumerate(staged):
        copy = store.path_of(each.path)
        os.utime(copy, (time.time() - 100 + age,) * 2)
        store._trimmed = -1e9
    store._trim()
    assert [store.local_path(each.path).exists() for each in staged] == [False, False, True, True]
    monkeypatch.setenv(CACHE_SETTING, "plenty")
    store._trimmed = -1e9
    with pytest.raises(LibraryError, match="gigabytes"):
        store._trim()


def test_only_old_leftovers_of_the_bucket_go(store, monkeypatch):
    stage(store)
    assert store.sweep() == ()
    monkeypatch.setattr(Bucket, "age", lambda self, name: 90_000.0)
    assert len(store.sweep()) == 1 and store.bucket.names() == []


@pytest.mark.slow
def test_a_library_keeps_its_files_in_a_bucket(url, videos, tmp_path):
    with Library.create(tmp_path / "library", artefacts=url) as library:
        report = library.add(videos, sentences=(), workers=1, copy=True)
        assert report.ok and len(report.added) == 3
        assert library.verify().clean
        seen = library.detections(report.added[0])
    assert not (tmp_path / "library" / "videos").exists()
    assert len(Bucket(url).names("videos")) == 9  # detections, thumbnail and copy of each
    with Library.open(tmp_path / "library") as again:  # remembered, and fetched anew
        forget_copies(again._store)
        assert isinstance(again.detections(report.added[0]), Detections)
        assert (again.detections(report.added[0]).boxes == seen.boxes).all()
        assert read_image(again.thumbnail(report.added[1])).shape == (48, 64, 3)
        assert sha(again.video(report.added[2]).path) == again.video(report.added[2]).sha256
        assert again.artefacts_at == url
        assert again.add(videos, workers=1).added == ()
        again.remove(report.added[0])
        assert again.verify().clean and len(Bucket(url).names("videos")) == 6


def sha(path):
    from wordsight.files import sha256_of

    return sha256_of(path)


@pytest.mark.slow
def test_what_someone_did_to_the_bucket_is_found(url, videos, tmp_path):
    with Library.create(tmp_path / "library", artefacts=url) as library:
        library.add(videos, workers=1)
        missing, changed, *_ = Bucket(url).names("videos")
        library._store.bucket.remove(missing)
        (tmp_path / "other").write_bytes(b"x")
        library._store.bucket.send(tmp_path / "other", changed)
        assert [(p.kind, p.path) for p in library.verify().problems] == [
            ("missing", f"{url}/{missing}"),
            ("changed", f"{url}/{changed}"),
        ]
        (tmp_path / "other").write_bytes(b"y")
        orphan = "videos/gone-1/notes-00000000-000000000000.txt"
        library._store.bucket.send(tmp_path / "other", orphan)
        assert library.verify().orphans == (orphan,)
        assert library.sweep() == (orphan,)


@pytest.mark.slow
def test_workers_send_to_the_bucket_themselves(videos, tmp_path):
    with Library.create(tmp_path / "library") as library:
        library._store = RemoteStore(tmp_path / "library", f"file://{tmp_path}/there")
        assert len(library.add(videos, engine=Processes(2)).added) == 3
        assert library.verify().clean
        assert len(list((tmp_path / "there" / "videos").glob("*/*"))) == 6


@pytest.mark.slow
def test_memory_is_for_one_process(url, videos, tmp_path):
    with Library.create(tmp_path / "library", artefacts=url) as library:
        with pytest.raises(LibraryError, match="this process alone"):
            library.add(videos, workers=2)
        assert library.add(videos, engine=Serial()).ok


@pytest.mark.slow
def test_two_libraries_do_not_share_a_bucket(url, tmp_path):
    Library.create(tmp_path / "one", artefacts=url).close()
    with pytest.raises(LibraryError, match="not empty"):
        Library.create(tmp_path / "two", artefacts=url)
    with pytest.raises(LibraryError, match="already"):
        Library.create(tmp_path / "one", artefacts=url)


@pytest.mark.slow
def test_a_shared_folder_is_remembered(videos, tmp_path):
    with Library.create(tmp_path / "library", artefacts=tmp_path / "shared") as library:
        library.add(videos[0], workers=1)
    assert (tmp_path / "shared" / "videos").exists()
    with Library.open(tmp_path / "library") as again:
        assert again.folder == tmp_path / "shared" and again.verify().clean
    (tmp_path / "shared").rename(tmp_path / "moved")
    with pytest.raises(LibraryError, match="--artefacts"):
        Library.open(tmp_path / "library")
    with Library.open(tmp_path / "library", artefacts=tmp_path / "moved") as again:
        assert again.verify().clean


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nosuch://bucket/x", "no place for files"),  # a protocol nobody knows
        ("gs://bucket/x", "not installed.*gcsfs"),  # one whose package is missing
    ],
)
def test_a_place_out_of_reach_is_told(place, words, tmp_path):
    if place.startswith("gs:") and importlib.util.find_spec("gcsfs"):
        pytest.skip("its package is installed here")
    with pytest.raises(LibraryError, match=words):
        Library.create(tmp_path / "library", artefacts=place)


def test_addresses_are_told_from_folders():
    assert is_url("s3://bucket/x") and is_url("memory://x")
    assert not is_url("/shared/folder") and not is_url("file:///shared/folder")
    assert shown_url("sftp://me:secret@host/path") == "sftp://host/path"
