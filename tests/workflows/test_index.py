"""Whether an index knows its library as it is now."""

import shutil
import uuid

import pytest

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.library.files.bucket import Mirror
from wordsight.retrieval import RetrievalError
from wordsight.retrieval.visual.part import COMPONENTS
from wordsight.workflows.index import index, index_folder, is_current, open_index, update_index
from wordsight.workflows.reporter import RecordingReporter
from wordsight.worlds import street, write_world


@pytest.mark.slow
def test_an_index_is_current_until_the_library_changes(tmp_path):
    write_world(street(2, 5, noise=0.0), tmp_path / "films")
    first, second = sorted((tmp_path / "films").glob("*.mp4"))
    with Library.create(tmp_path / "library") as library:
        library.add(first, detector="rendered", workers=1)
        folder = index_folder(library, None)
        assert not is_current(library, folder)
        update_index(library, folder)
        assert is_current(library, folder)
        library.add(second, detector="rendered", workers=1)
        assert not is_current(library, folder)
        assert len(update_index(library, folder).added) == 1
        assert is_current(library, folder)


def test_an_index_is_shared_through_a_bucket(tmp_path):
    url = f"memory://desk-{uuid.uuid4().hex}"
    film = make_video(tmp_path / "film.mp4")
    with Library.create(tmp_path / "library", artefacts=url) as library:
        library.add(film, workers=1, sentences=["a red square moves"])
        folder = index_folder(library, None)
        before = open_index(library, folder, RecordingReporter())
        generation, names = before.generation, [d.id for d in before.documents]
    shutil.rmtree(folder)  # another machine, which has no copy yet
    told = []
    with Library.open(tmp_path / "library") as library:
        after = open_index(library, folder, RecordingReporter(lambda *each: told.append(each)))
        assert (after.generation, [d.id for d in after.documents]) == (generation, names)
    assert told == []  # fetched, not built again


@pytest.mark.slow
def test_two_machines_that_index_at_once_lose_nothing(tmp_path, monkeypatch):
    """Who comes second to the same bucket goes on from what the first has sent."""
    url = f"memory://desk-{uuid.uuid4().hex}"
    names = ("first.mp4", "second.mp4")
    with Library.create(tmp_path / "library", artefacts=url) as library:
        for seed, name in enumerate(names):
            library.add(make_video(tmp_path / name, seed=seed), workers=1)
        folder = index_folder(library, None)
        other, push, built = tmp_path / "other", Mirror.push, []

        def somebody_was_quicker(mirror):
            monkeypatch.undo()
            mine = folder.rename(other)
            try:
                built.append(update_index(library, folder))  # the other machine
            finally:
                shutil.rmtree(folder)
                mine.rename(folder)
            push(mirror)

        monkeypatch.setattr(Mirror, "push", somebody_was_quicker)
        report = update_index(library, folder)
        assert len(built[0].added) == 2 and len(report.unchanged) == 2
        assert is_current(library, folder)
    shutil.rmtree(folder)
    with Library.open(tmp_path / "library") as library:
        found = open_index(library, folder, RecordingReporter())
        assert len({document.video_id for document in found.documents}) == 2


def test_models_of_a_new_index_are_chosen(tmp_path):
    film = make_video(tmp_path / "film.mp4")
    with Library.create(tmp_path / "library") as library:
        library.add(film, workers=1)
        index(library, models="dynamic", components=0, restarts=2)
        kept = open_index(library, index_folder(library, None), RecordingReporter()).visual.settings
        assert (kept.dynamic, kept.restarts) == (True, 2)
        assert kept.num_components in COMPONENTS
        again = index(library, models="dynamic", components=0, restarts=2)
        assert len(again.report.unchanged) == 1
        with pytest.raises(RetrievalError, match="other visual settings"):
            index(library, models="static")
