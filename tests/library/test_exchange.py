"""Annotations for other tools: written, read by the tools' own packages, corrected, put back."""

import importlib
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.errors import FormatError, LibraryError, WordsightError
from wordsight.language.captions import Caption
from wordsight.library import Library
from wordsight.library.exchange import TOOLS, annotated, put_back, read_annotations
from wordsight.library.exchange import write_annotations as write_for
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.workflows.export import export, import_annotations

SAID = [
    Caption(None, None, "The cup & the <plate> moved."),
    Caption(0.2000001, 0.7300009, 'The "Tasse" – left.'),
    Caption(0.4, 0.4000001, "Blink."),
]


def boxes(shift=0.0):
    """Two things with identities, one of them away for a while, and a box of none."""
    frames = []
    for n in (0, 3, 5, 8, 10, 13, 15):  # as a rate of 10 looks at 25 frames a second
        rows = [(2.0 + n / 3 + shift, 8.0, 18.0 + n / 3 + shift, 30.0, 0.9 - n / 100, 0, 7)]
        if n not in (5, 8):
            rows.append((30.1, 10.2, 44.3, 25.123456789, 0.5, 1, 2))
        if n == 10:
            rows.append((50.0, 1.0, 60.0, 9.0, 0.25, 1, -1))
        table = np.array(rows)
        frames.append(
            FrameDetections(
                n / 25,
                table[:, :4],
                table[:, 4],
                table[:, 5].astype(np.int32),
                ids=table[:, 6].astype(np.int64),
            )
        )
    return Detections.from_frames(frames, label_names=["cup", "Teller"], frame_size=(64, 48))


def make_library(folder, film, *, shift=0.0, said=SAID):
    library = Library.create(folder)
    library.add(film, sentences=said, detector="regions", workers=1)
    seen = boxes(shift)
    (video,) = library.videos()
    settings = {"detector": "boxes", "options": {"sha256": str(shift)}, "rate": None}
    library.put_artefact(
        "detections", seen.save, suffix=".npz", settings=settings, video_id=video.id
    )
    return library


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return make_video(tmp_path_factory.mktemp("exchange") / "a film.mp4", seconds=0.8, rate=25.0)


@pytest.fixture
def library(film, tmp_path):
    with make_library(tmp_path / "library", film) as made:
        yield made


@pytest.fixture
def video(library):
    return library.videos()[0].id


def content(library, video):
    seen = library.detections(video)
    said = [(s.text, s.start, s.end, s.source) for s in library.sentences(video)]
    return seen, said


def equal(one, other, atol=0.0):
    assert one.label_names == other.label_names and one.frame_size == other.frame_size
    for name in ("times", "mask", "labels", "ids"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("boxes", "scores"):
        assert np.allclose(getattr(one, name), getattr(other, name), rtol=0, atol=atol), name


@pytest.mark.parametrize("tool", TOOLS)
def test_what_comes_back_unchanged_changes_nothing(library, video, tool, tmp_path):
    before, said = content(library, video)
    export(library, output=tmp_path / "out", to=tool)
    result = import_annotations(library, sources=(tmp_path / "out",))
    assert result.ok and [one.changed for one in result.videos] == [False]
    after, still = content(library, video)
    equal(before, after)
    assert still == said and len(library.artefacts("detections")) == 2


@pytest.mark.parametrize("tool", TOOLS)
def test_another_library_gets_all_of_it(library, video, film, tool, tmp_path):
    export(library, output=tmp_path / "out", to=tool)
    with make_library(tmp_path / "other", film, shift=9.0, said=["Something else."]) as other:
        result = import_annotations(other, sources=(tmp_path / "out",), tool=tool)
        assert result.ok and result.videos[0].boxes_changed and result.videos[0].sentences_added
        mine, theirs = library.detections(video), other.detections(video)
        equal(mine, theirs, 1e-9)
        assert theirs.flow is not None  # measured, as for any detector
        ours, said = content(library, video)[1], content(other, video)[1]
        assert [one[0] for one in said] == [one[0] for one in ours]
        for one, same in zip(said, ours, strict=True):
            assert one[1:3] == pytest.approx(same[1:3], abs=1.1e-3 if tool == "elan" else 1e-12)
        if tool != "elan":
            assert [one[3] for one in said] == [one[3] for one in ours]
        assert other.verify().clean


@pytest.mark.parametrize("tool", TOOLS)
def test_corrections_replace_ours_and_leave_the_rest(library, video, film, tool, tmp_path):
    with make_library(tmp_path / "corrected", film) as corrected:
        entry = annotated(corrected, video)
        moved = entry.boxes.boxes.copy()
        moved[0] += 2.5
        labels = entry.boxes.labels.copy()
        labels[3] = 1 - labels[3]
        changed = type(entry.boxes)(**{**vars(entry.boxes), "boxes": moved, "labels": labels})
        number = corrected.sentences(video)[1].id
        corrected.correct_sentence(number, "The cup left.", 0.24, 0.6)
        said = tuple(corrected.sentences(video))
        write_for(tmp_path / "out", [type(entry)(entry.entry, entry.times, changed, said)], tool)
    before, old = content(library, video)
    (result,) = import_annotations(library, sources=(tmp_path / "out",), tool=tool).videos
    after, new = content(library, video)
    assert (result.sentences_added, result.sentences_removed) == (1, 1)
    assert result.boxes == int(before.mask.sum()) and 1 <= result.boxes_changed < result.boxes
    assert after.boxes[0, 0] == pytest.approx(before.boxes[0, 0] + 2.5, abs=1e-9)
    assert np.array_equal(after.boxes[2:], before.boxes[2:])  # untouched: to the last digit
    texts = [one[0] for one in new]
    assert "The cup left." in texts and old[1][0] not in texts
    assert {old[0], old[2]} <= set(new)


def test_tracks_and_some_videos_can_be_chosen(library, video, tmp_path):
    result = export(library, videos=(video[:4],), output=tmp_path / "out", to="coco", what="tracks")
    held = json.loads((tmp_path / "out/annotations.json").read_text())
    assert result.size > 0 and sum("track_id" in one for one in held["annotations"]) == 12
    with pytest.raises(WordsightError, match="exists already"):
        export(library, output=tmp_path / "out", to="coco")
    with pytest.raises(WordsightError, match="not a film"):
        export(library, output=tmp_path / "new", to="coco", what="film")
    with pytest.raises(WordsightError, match="name one video"):
        export(library, output=tmp_path / "film.mp4")


def test_cvat_as_it_writes_itself(library, video, tmp_path):
    """It numbers tracks anew, keeps hundredths of a pixel, and packs the file."""
    before = content(library, video)[0]
    export(library, output=tmp_path / "out", to="cvat")
    (file,) = (tmp_path / "out").glob("*.xml")
    numbers = iter(range(100, 200))
    text = re.sub(r'<track id="\d+"', lambda _: f'<track id="{next(numbers)}"', file.read_text())
    side = re.compile(r'((?:xtl|ytl|xbr|ybr)=)"([^"]+)"')
    text = side.sub(lambda found: f'{found[1]}"{float(found[2]):.2f}"', text)
    with zipfile.ZipFile(tmp_path / "task.zip", "w") as packed:
        packed.writestr("annotations.xml", text)
    (result,) = import_annotations(library, sources=(tmp_path / "task.zip",)).videos
    assert not result.changed
    equal(before, content(library, video)[0])
    bare = re.sub(r"<attribute name=.(score|tracked).>[^<]*</attribute>", "", text)
    (tmp_path / "bare.xml").write_text(bare)  # of a task whose labels have no attributes
    (result,) = import_annotations(library, sources=(tmp_path / "bare.xml",)).videos
    assert not result.changed
    moved = text.replace('xtl="2.00"', 'xtl="1.00"', 1)
    (tmp_path / "moved.xml").write_text(moved)
    (result,) = import_annotations(library, sources=(tmp_path / "moved.xml",)).videos
    assert (result.boxes_changed, result.boxes_removed) == (1, 1)
    assert library.detections(video).ids[0].tolist() == boxes().ids[0].tolist()


def test_label_studio_annotations_count_and_not_our_predictions(library, video, tmp_path):
    export(library, output=tmp_path / "out", to="label-studio")
    (task,) = json.loads((tmp_path / "out/tasks.json").read_text())
    result = json.loads(json.dumps(task["predictions"][0]["result"]))
    for item in result:  # what its page drops
        for key in item["value"].get("sequence", ()):
            key.pop("score")
    new = {"frame": 1, "enabled": True, "x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0}
    result.append(
        {
            "id": "drawn",
            "type": "videorectangle",
            "from_name": "box-place",
            "to_name": "video",
            "value": {"sequence": [new, {**new, "frame": 11}], "labels": ["hand"]},
        }
    )
    cancelled = {"result": [], "was_cancelled": True, "updated_at": "2030-01-01"}
    task["annotations"] = [{"result": result, "updated_at": "2026-01-01"}, cancelled]
    (tmp_path / "project-1.json").write_text(json.dumps([task]))
    (done,) = import_annotations(library, sources=(tmp_path / "project-1.json",)).videos
    seen = library.detections(video)
    assert done.boxes_removed == 0 and done.boxes_changed == 5  # frames 0, 3, 5, 8 and 10
    assert seen.label_names[2] == "hand" and len(seen.times) == 7
    kept = seen.scores[seen.mask & (seen.labels != 2)]
    assert np.array_equal(kept, boxes().scores[boxes().mask])  # what its page dropped is ours


def test_boxes_without_a_film_go_round_too(tmp_path):
    write_boxes(tmp_path / "walk.csv", boxes())
    with Library.create(tmp_path / "library") as library:
        (video,) = library.add(tmp_path / "walk.csv", sentences=["A cup."], workers=1).added
        for tool in TOOLS:
            export(library, output=tmp_path / tool, to=tool)
            (result,) = import_annotations(library, sources=(tmp_path / tool,), tool=tool).videos
            assert result.video_id == video and not result.changed, tool


def test_what_cannot_be_used_is_said_and_nothing_is_lost(library, video, tmp_path):
    before = content(library, video)
    export(library, output=tmp_path / "out", to="coco")
    held = json.loads((tmp_path / "out/annotations.json").read_text())
    odd = {"type": "videorectangle"}
    bad = {
        "broken.json": "{",
        "text.json": "hello",
        "empty.xml": "<annotations/>",
        "other.xml": "<html/>",
        "bomb.xml": '<!DOCTYPE a [<!ENTITY b "c">]><annotations>&b;</annotations>',
        "tasks.json": '[{"no": "data"}]',
        "strange.json": json.dumps([{"data": {"id": video}, "annotations": [{"result": [odd]}]}]),
        "none.jsonl": '{"text": "no video"}',
        "half.jsonl": json.dumps({"video_id": video, "text": "x", "start": 3}),
        "late.json": json.dumps({**held, "images": [{**held["images"][0], "frame_id": 99999}]}),
        "manifest.json": '{"index": [{"data": "x", "labels": "../../etc/passwd"}]}',
        "no.eaf": "<ANNOTATION_DOCUMENT/>",
        "no.zip": "PK",
    }
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
        result = import_annotations(library, sources=(tmp_path / name,))
        assert not result.ok and result.warnings, name
        assert not any("Traceback" in said for said in result.failures)
    result = import_annotations(library, sources=(tmp_path / "missing.json",))
    assert "does not exist" in result.failures[0]
    equal(before[0], library.detections(video))
    assert content(library, video)[1] == before[1]


def test_a_video_that_is_not_there_is_named(library, tmp_path, film):
    export(library, output=tmp_path / "out", to="cvat")
    with Library.create(tmp_path / "empty") as empty:
        (read,) = read_annotations(tmp_path / "out")
        with pytest.raises(LibraryError, match=r"a film\.mp4.*add the film first"):
            put_back(empty, read, "x")
        with pytest.raises(WordsightError, match="library is empty"):
            export(empty, output=tmp_path / "none", to="coco")
    with pytest.raises(FormatError, match="expected"):
        list(read_annotations(tmp_path, "fiftyone"))


# The tools' own packages.


def test_pycocotools_reads_the_boxes(library, tmp_path, capsys):
    coco = pytest.importorskip("pycocotools.coco")
    export(library, output=tmp_path / "out", to="coco")
    held = coco.COCO(str(tmp_path / "out/annotations.json"))
    seen = boxes()
    assert len(held.getAnnIds()) == seen.mask.sum() and len(held.getImgIds()) == len(seen)
    assert [c["name"] for c in held.loadCats(held.getCatIds())] == list(seen.label_names)
    (first, *_) = held.loadAnns(held.getAnnIds(held.getImgIds()[0]))
    x, y, width, height = first["bbox"]
    assert [x, y, x + width, y + height] == pytest.approx(seen.boxes[0, 0].tolist())


def test_pympi_reads_the_tiers_and_what_it_writes_comes_back(library, video, tmp_path):
    elan = pytest.importorskip("pympi.Elan")
    export(library, output=tmp_path / "out", to="elan")
    file = tmp_path / "out" / f"{video}.eaf"
    document = elan.Eaf(str(file))
    assert set(document.get_tier_names()) >= {"sentences", "things: cup"}
    held = document.get_annotation_data_for_tier("sentences")
    assert held == [(200, 730, SAID[1].text), (400, 401, "Blink.")]
    document.remove_annotation("sentences", 450)
    document.add_annotation("sentences", 100, 300, "Corrected in ELAN.")
    document.to_file(str(file))
    (result,) = import_annotations(library, sources=(tmp_path / "out",)).videos
    texts = {s.text: (s.start, s.end) for s in library.sentences(video)}
    assert texts["Corrected in ELAN."] == (0.1, 0.3) and result.boxes_changed == 0


def test_datasets_reads_the_folder_and_the_tables(library, video, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    export(library, output=tmp_path / "out", to="hf")
    cache = str(tmp_path / "cache")
    held = datasets.load_dataset(
        "videofolder", data_dir=str(tmp_path / "out"), cache_dir=cache, split="train"
    ).cast_column("video", datasets.Video(decode=False))
    assert sorted(held["text"]) == sorted(s.text for s in library.sentences(video))
    assert {Path(row["path"]).name for row in held["video"]} == {f"{video}.mp4"}
    table = datasets.load_dataset(
        "parquet",
        data_files=str(tmp_path / "out/parquet/boxes.parquet"),
        cache_dir=cache,
        split="train",
    )
    assert len([row for row in table if row["x1"] is not None]) == boxes().mask.sum()
    (tmp_path / "out/metadata.jsonl").unlink()
    (result,) = import_annotations(library, sources=(tmp_path / "out",)).videos
    assert not result.changed  # from Parquet alone
    with Library.create(tmp_path / "added") as added:  # and by `add`, which knows the layout
        export(library, output=tmp_path / "again", to="hf")
        assert added.add(tmp_path / "again", workers=1).ok
        assert len(added.sentences()) == 3


def test_label_studio_takes_the_tasks(library, tmp_path):
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    export(library, output=tmp_path / "out", to="label-studio")
    config = interface.LabelInterface((tmp_path / "out/config.xml").read_text())
    config.validate()
    (task,) = json.loads((tmp_path / "out/tasks.json").read_text())
    for prediction in task["predictions"]:
        assert config.validate_prediction({**prediction, "score": 1.0}, return_errors=True) == []
    assert config.validate_task({"data": task["data"]})
    text = (tmp_path / "out/config.xml").read_text()
    (rate,) = re.findall(r'<Video [^>]*frameRate="\$(\w+)"', text)
    assert task["data"][rate] == 25.0  # else its page counts 24 frames a second


def test_fiftyone_reads_boxes_and_temporal_detections(library, video, tmp_path):
    importers = pytest.importorskip("fiftyone.utils.data.importers", exc_type=ImportError)
    export(library, output=tmp_path / "out", to="fiftyone")
    importer = importers.FiftyOneVideoLabelsDatasetImporter(dataset_dir=str(tmp_path / "out"))
    with importer:
        ((path, _, labels, frames),) = list(importer)
    assert Path(path).name == "a film.mp4"
    events = labels["sentences"].detections
    assert [event.label for event in events] == [s.text for s in SAID]
    assert events[1].support == [7, 19] and events[1].start == SAID[1].start
    (first, _) = frames[1]["detections"].detections
    assert (first.label, first.index) == ("cup", 7) and first.confidence == pytest.approx(0.9)
    assert np.array(first.bounding_box)[:2] * (64, 48) == pytest.approx(boxes().boxes[0, 0, :2])
    written = importlib.import_module("fiftyone.utils.eta").to_video_labels(labels, frames)
    (tmp_path / f"out/labels/{video}.json").write_text(written.to_str())
    (result,) = import_annotations(library, sources=(tmp_path / "out",)).videos
    assert not result.changed


def test_cvat_sdk_takes_the_labels_of_a_task(library, tmp_path):
    models = pytest.importorskip("cvat_sdk.models")
    export(library, output=tmp_path / "out", to="cvat")
    labels = json.loads((tmp_path / "out/labels.json").read_text())
    assert [label["name"] for label in labels] == ["cup", "Teller", "sentence"]
    for label in labels:
        attributes = [models.AttributeRequest(**one) for one in label["attributes"]]
        made = models.PatchedLabelRequest(name=label["name"], attributes=attributes)
        task = models.TaskWriteRequest(name="a film", labels=[made])
        assert task.to_dict()["labels"][0]["attributes"] == label["attributes"]
    (text,) = (path.read_text() for path in (tmp_path / "out").glob("*.xml"))
    for label in labels:  # the file has no attribute that the task has not
        (head,) = re.findall(f"<label><name>{label['name']}</name>(.*)</label>", text)
        assert re.findall("<name>(.*?)</name>", head) == [a["name"] for a in label["attributes"]]


def test_datumaro_reads_what_is_for_cvat(library, film, tmp_path):
    datumaro = pytest.importorskip("datumaro")
    export(library, output=tmp_path / "out", to="cvat")
    held = datumaro.Dataset.import_from(str(tmp_path / "out"), "cvat")
    found = [a for item in held for a in item.annotations]
    labels = held.categories()[datumaro.AnnotationType.label]
    names = [labels[a.label].name for a in found]
    assert names.count("Teller") >= 6 and "sentence" in names
