"""Rendered: finds the things of every world in real encoded films it was not trained on."""

import numpy as np
import pytest

from wordsight.perception import DetectorError, load_detector
from wordsight.perception.detectors.rendered import RENDERED_THINGS, Rendered
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import Frame, VideoReader
from wordsight.worlds import street, tabletop, workbench

FILMS = {  # film, name in the truth -> class
    "street": (
        lambda: next(iter(street(1, 5, noise=0.5))),
        lambda film, name: film.truth.kinds[name],
    ),
    "tabletop": (
        lambda: next(iter(tabletop(1, 5, noise=0.5))),
        lambda film, name: name if name == "hand" else f"{name} block",
    ),
    "workbench": (
        lambda: next(iter(workbench(1, 5, noise=0.5, steps=1))),
        lambda film, name: "hand" if "hand" in name else name,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", FILMS)
def test_finds_and_names_the_things_of_an_encoded_film(world, tmp_path):
    make, kind_of = FILMS[world]
    film = make()
    film.write(tmp_path / "film.mp4")
    with VideoReader(tmp_path / "film.mp4") as video:
        frames = list(video.frames(rate=2.0))[:20]
        seen = list(Rendered().detect(frames))
    found = wanted = reported = 0
    for frame, boxes in zip(frames, seen, strict=True):
        reported += len(boxes.boxes)
        for name, truth in film.truth.boxes.items():
            if np.isfinite(truth[frame.index]).all():
                label = RENDERED_THINGS.index(kind_of(film, name))
                same = boxes.boxes[boxes.labels == label]
                wanted += 1
                found += bool(len(same)) and box_iou(truth[frame.index][None], same).max() > 0.5
    assert found >= 0.9 * wanted
    assert found >= 0.9 * reported


def test_an_empty_picture_holds_nothing():
    frame = Frame.from_array(np.full((480, 640, 3), 128, np.uint8), 0.5)
    (seen,) = load_detector("rendered").detect([frame])
    assert seen.boxes.shape == (0, 4) and seen.time == 0.5


@pytest.mark.parametrize("size", [(1, 1), (31, 500), (1280, 720)])
def test_any_size_of_frame_is_taken(size):
    rng = np.random.default_rng(0)
    frame = Frame.from_array(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8), 0.0)
    (seen,) = Rendered(confidence=0.01, max_boxes=3).detect([frame])
    assert len(seen.boxes) <= 3
    assert (seen.boxes >= 0).all() and (seen.boxes <= [*size, *size]).all()


@pytest.mark.parametrize("options", [{"confidence": 0}, {"confidence": 2}, {"max_boxes": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(DetectorError):
        Rendered(**options)


def test_the_same_network_runs_as_any_onnx_file():
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    from importlib.resources import as_file, files

    image = next(iter(street(1, 5))).still(10)
    frame = Frame.from_array(image, 0.0)
    (ours,) = Rendered().detect([frame])
    with as_file(files("wordsight.perception.detectors") / "rendered.onnx") as path:
        onnx = load_detector("onnx", model=path, confidence=0.3, letterbox=False)
        (theirs,) = onnx.detect([frame])
    assert onnx.label_names == RENDERED_THINGS
    assert theirs.labels.tolist() == ours.labels.tolist()
    np.testing.assert_allclose(theirs.boxes, ours.boxes, atol=0.05)
