"""What notebooks show of records."""

import re

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.alignment.records import Alignment, LineSpan
from wordsight.library import Library
from wordsight.meaning import hand_lexicon
from wordsight.records import Clip, Detections, FrameDetections


def test_a_clip_shows_frames_with_boxes_on_a_blank_canvas_and_escapes_names():
    frames = [
        FrameDetections(n / 10, np.array([[1.0, 2, 9, 12]]), np.ones(1), np.zeros(1, np.int32))
        for n in range(20)
    ]
    seen = Detections.from_frames(frames, label_names=["<cup>"], frame_size=(64, 48))
    shown = Clip("v", 0.0, 2.0, seen)._repr_html_()
    assert shown.count("<svg") == 5 and shown.count('width="8.0" height="10.0"') == 5
    assert "&lt;cup&gt;" in shown and "<cup>" not in shown and "<image" not in shown
    empty = Clip("v", 0.0, 2.0, seen.take(np.zeros(0, np.intp)))
    assert "<svg" not in empty._repr_html_()


def test_a_clip_of_a_library_has_the_pictures_of_its_film(tmp_path):
    film = make_video(tmp_path / "film.mp4")
    with Library.create(tmp_path / "library") as library:
        (video,) = library.add(film, workers=1).added
        clip = library.clip(video, 0.0, 1.0)
        assert clip._repr_html_().count("data:image/jpeg;base64,/9j/") == 5
        clip.save(tmp_path / "clip.npz")
        assert Clip.load(tmp_path / "clip.npz").pictures is None
        film.unlink()
        assert "<image" not in clip._repr_html_() and "<svg" in clip._repr_html_()


def test_a_lexicon_shows_its_table():
    words = hand_lexicon(["person", "backpack", "chair", "trash-can", "stool", "traffic-cone"])
    shown = words._repr_html_()
    assert shown.count("<tr>") == len(words.words) + 1
    assert "<td>picked-up</td>" in shown and "the agent" in shown


def test_an_alignment_shows_its_timeline():
    spans = (LineSpan(0, 0.0, 2.0, 0.9), LineSpan(1, 2.0, 4.0, 0.5))
    one = Alignment(
        "v",
        np.array([[0.0, 2.0], [2.0, 4.0]]),
        np.eye(2),
        np.arange(2),
        spans,
        (),
        np.arange(2),
    )
    shown = one._repr_html_(["Fill the <cup>.", "Stir."])
    assert shown.count("<rect") == 2 and "1. Fill the &lt;cup&gt;." in shown and "4.0 s" in shown
    (width,) = re.findall(r'viewBox="0 0 (\d+) 50" width="\1"', shown)  # a page may shrink it
    assert int(width) > 400 + 6 * len("1. Fill the <cup>.")


@pytest.mark.slow
def test_the_notebooks_run_and_have_pages():
    maker = pytest.importorskip("docs.make_notebooks")
    nbformat = pytest.importorskip("nbformat")
    paths = sorted(maker.FOLDER.glob("*.ipynb"))
    assert len(paths) == 3
    for path in paths:
        kept = nbformat.read(path, as_version=4)
        code = [cell for cell in kept.cells if cell.cell_type == "code"]
        assert all(cell.execution_count for cell in code), f"{path.name} was not run"
        assert maker.page(kept, path.name).startswith("# ")
    notebook = nbformat.read(maker.FOLDER / "align.ipynb", as_version=4)
    before = notebook.cells[-1].outputs[0].data["text/html"]
    maker.run(notebook)
    assert notebook.cells[-1].outputs[0].data["text/html"] == before
