"""Adding: once each, all of it or nothing, on past failures; the same on both databases."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import av
import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.errors import LibraryError, WordsightError
from wordsight.files import sha256_of
from wordsight.language.captions import Caption
from wordsight.library import Library
from wordsight.records import Detections, Sentence
from wordsight.video import VideoReader, detect_shots, read_image


@pytest.fixture
def library(place):
    with Library.create(**place) as library:
        yield library


@pytest.fixture
def small_library(tmp_path):
    """One on SQLite only, for what the database has no part in."""
    with Library.create(tmp_path / "library") as library:
        yield library


def add(library, paths, **options):
    return library.add(paths, **{"workers": 1, **options})


@pytest.mark.slow
def test_a_video_appears_with_everything(library, videos):
    report = add(library, videos[0], sentences=["She waved.", Caption(0.2, 0.6, "He left.")])
    assert report.ok and len(report.added) == 1 and report.num_sentences == 2
    (entry,) = library.videos()
    assert entry.id == report.added[0] == f"clip-0-{sha256_of(videos[0])[:8]}"
    assert (entry.name, entry.path) == (videos[0].name, str(videos[0]))
    assert (entry.width, entry.height, entry.num_frames) == (64, 48, 10)
    assert (entry.num_sentences, entry.num_shots) == (2, 1)
    details = library.show(entry.id)
    assert details.shots == tuple(detect_shots(videos[0], video_id=entry.id))
    assert [s.text for s in details.sentences] == ["She waved.", "He left."]
    assert {a.kind for a in details.artefacts} == {"detections", "thumbnail"}
    assert read_image(library.thumbnail(entry.id)).shape == (48, 64, 3)
    assert library.verify().clean


@pytest.mark.slow
def test_detections_are_those_of_the_chosen_frames(library, videos):
    add(library, videos[0], rate=5.0)
    seen = library.detections(library.videos()[0].id)
    with VideoReader(videos[0]) as reader:
        times = [frame.time for frame in reader.frames(rate=5.0)]
    assert seen.times.tolist() == times
    assert seen.frame_size == (64, 48)
    assert seen.flow is not None and seen.mask.any()


@pytest.mark.slow
def test_adding_again_changes_nothing(library, videos):
    first = add(library, videos)
    before = [(a.path, a.sha256, a.created_at) for a in library.artefacts()]
    again = add(library, videos)
    assert again.added == () and again.ok
    assert [s.reason for s in again.skipped] == ["unchanged"] * 3
    assert {s.video_id for s in again.skipped} == set(first.added)
    assert [(a.path, a.sha256, a.created_at) for a in library.artefacts()] == before


def test_adding_again_adds_only_new_sentences(library, videos):
    add(library, videos[0], sentences=["One.", "Two."])
    report = add(library, videos[0], sentences=["Two.", "Three."])
    assert report.num_sentences == 1 and report.added == ()
    assert [s.text for s in library.sentences()] == ["One.", "Two.", "Three."]


def test_the_same_content_under_two_names_is_one_video(library, videos):
    twin = videos[0].with_name("twin.mp4")
    shutil.copy(videos[0], twin)
    (twin.with_suffix(".srt")).write_text("1\n00:00:00,100 --> 00:00:00,500\nFrom the twin.\n")
    report = add(library, [videos[0], twin])  # in one run
    assert len(report.added) == 1 and len(library) == 1
    assert [(s.path, s.reason) for s in report.skipped] == [(str(twin), "same content")]
    third = videos[0].with_name("third.mp4")
    shutil.copy(videos[0], third)
    report = add(library, third)  # in another
    assert [s.reason for s in report.skipped] == ["same content"]
    assert library.videos()[0].path == str(videos[0])
    assert [s.text for s in library.sentences()] == ["From the twin."]


@pytest.mark.slow
def test_a_video_that_moved_is_found_again(library, videos):
    add(library, videos[0])
    moved = videos[0].rename(videos[0].with_name("moved.mp4"))
    assert [p.kind for p in library.verify().problems] == ["missing"]
    report = add(library, moved)
    assert [s.reason for s in report.skipped] == ["moved"]
    assert library.videos()[0].path == str(moved)
    assert library.verify().clean


def test_a_video_that_was_only_touched_is_unchanged(library, videos):
    add(library, videos[0])
    os.utime(videos[0], (1, 1))
    assert [s.reason for s in add(library, videos[0]).skipped] == ["unchanged"]


@pytest.mark.slow
def test_a_video_that_was_replaced_is_another(library, videos):
    add(library, videos[0])
    shutil.copy(videos[1], videos[0])
    assert len(add(library, videos[0]).added) == 1
    assert len(library) == 2
    assert [p.kind for p in library.verify().problems] == ["changed"]


@pytest.mark.slow
def test_another_rate_adds_detections_to_a_known_video(library, videos):
    first = add(library, videos[0], rate=10.0)
    second = add(library, videos[0], rate=5.0)
    assert second.added == first.added and len(library) == 1
    assert [a.settings["rate"] for a in library.artefacts("detections")] == [10.0, 5.0]
    assert len(library.artefacts("thumbnail")) == 1
    assert len(library.detections(first.added[0])) == 5  # those made last
    assert library.verify().clean


def test_force_makes_everything_again_and_leaves_no_litter(library, videos):
    report = add(library, videos[0])
    (old,) = library.artefacts("detections")
    library.path_of(old).write_bytes(b"damaged")
    assert [p.kind for p in library.verify().problems] == ["changed"]
    assert add(library, videos[0], force=True).added == report.added
    assert library.verify().clean
    assert len(library.artefacts("detections")) == 1


def test_a_copy_outlives_its_source(library, videos):
    add(library, videos[0], copy=True)
    videos[0].unlink()
    (entry,) = library.videos()
    assert Path(entry.path).is_relative_to(library.folder)
    assert sha256_of(entry.path) == entry.sha256
    with VideoReader(entry.path) as reader:
        assert len(list(reader.frames())) == 10
    assert library.verify().clean


def test_a_known_video_can_still_be_copied(library, videos):
    add(library, videos[0])
    add(library, videos[0], copy=True)
    assert len(library.artefacts("original")) == 1 and len(library.artefacts("detections")) == 1


@pytest.mark.slow
def test_a_described_folder_becomes_pairs_for_learning(library, videos):
    rows = [
        {"file_name": videos[0].name, "text": "The square crossed."},
        {"file_name": videos[0].name, "text": "It began.", "start": 0.0, "end": 0.35},
        {"file_name": videos[1].name, "text": "It ended.", "start": 0.5, "end": 9.0},
    ]
    described = videos[0].with_name("metadata.jsonl")
    described.write_text("\n".join(json.dumps(row) for row in rows))
    report = add(library, videos[0].parent)
    assert len(report.added) == 3 and report.num_sentences == 3
    pairs = {sentence.text: clip for clip, sentence in library.pairs()}
    assert {text: clip.times.tolist() for text, clip in pairs.items()} == {
        "The square crossed.": pytest.approx([n / 10 for n in range(10)]),
        "It began.": pytest.approx([0.0, 0.1, 0.2, 0.3]),
        "It ended.": pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9]),
    }
    assert all(isinstance(sentence, Sentence) for _, sentence in library.pairs())
    clip = library.clip(pairs["It began."].video_id, 0.1, 0.3)
    assert clip.times.tolist() == pytest.approx([0.1, 0.2])


def broken_files(folder):
    """Files that are no videos, each with words its message must have."""
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "text.mp4").write_text("This is not a video. " * 50)
    (folder / "noise.avi").write_bytes(np.random.default_rng(0).bytes(5000))
    with av.open(str(folder / "no frames.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        container.start_encoding()
    return {"empty.mp4": "is empty", "text.mp4": "", "noise.avi": "", "no frames.mp4": ""}


def test_failures_are_listed_and_the_rest_is_added(library, videos):
    expected = broken_files(videos[0].parent)
    report = add(library, [videos[0].parent, videos[0].with_name("missing.mp4")])
    assert len(report.added) == 3 and not report.ok
    failed = {Path(f.path).name: f.message for f in report.failed}
    assert set(failed) == {*expected, "missing.mp4"}
    assert all(words in failed[name] for name, words in expected.items())
    assert not any("Traceback" in message for message in failed.values())
    assert {Path(f.path).name for f in library.failures()} == set(failed)
    assert library.verify().clean


def test_a_failure_is_forgotten_when_it_goes_well(library, videos):
    good = videos[0].read_bytes()
    videos[0].write_bytes(b"")
    add(library, videos[0])
    assert len(library.failures()) == 1
    videos[0].write_bytes(good)
    add(library, videos[0])
    assert library.failures() == []


def test_a_damaged_video_is_added_with_a_warning(library, tmp_path):
    video = tmp_path / "cut off.mkv"
    random = np.random.default_rng(0)
    with av.open(str(video), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(30):
            image = random.integers(0, 255, (48, 64, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image)))
        container.mux(stream.encode(None))
    data = video.read_bytes()
    video.write_bytes(data[: len(data) // 2])
    report = add(library, video)
    assert len(report.added) == 1 and report.ok
    assert [w.path for w in report.warnings] == [str(video)]
    assert "damaged" in report.warnings[0].message
    assert 0 < library.videos()[0].num_frames < 30
    assert library.verify().clean


def test_progress_goes_up_to_the_number_of_videos(small_library, videos):
    told = []
    add(
        small_library,
        [*videos, videos[0].with_name("missing.mp4")],
        progress=lambda done, total, what: told.append((done, total)),
    )
    assert {total for _, total in told} == {3}
    done = [done for done, _ in told]
    assert done[-1] == 3 and max(done) <= 3


@pytest.mark.slow
def test_workers_do_the_same_as_this_process(library, videos, tmp_path):
    broken_files(videos[0].parent)
    report = add(library, videos[0].parent, workers=2)
    assert len(report.added) == 3 and len(report.failed) == 4
    with Library.create(tmp_path / "other") as other:
        add(other, videos)
        assert {(a.path, a.sha256) for a in other.artefacts()} == {
            (a.path, a.sha256) for a in library.artefacts()
        }
    assert library.verify().clean


@pytest.mark.slow
def test_a_video_that_kills_its_worker_harms_no_other(library, videos, tmp_path, monkeypatch):
    # a detector from another installed package
    announced = tmp_path / "packages" / "crasher-1.dist-info"
    announced.mkdir(parents=True)
    (announced / "METADATA").write_text("Metadata-Version: 2.1\nName: crasher\nVersion: 1\n")
    (announced / "entry_points.txt").write_text(
        "[wordsight.detectors]\ncrasher = tests.library.crasher:Crasher\n"
    )
    monkeypatch.syspath_prepend(announced.parent)
    deadly = make_video(videos[0].with_name("a deadly one.mp4"), size=(80, 48))
    report = add(library, videos[0].parent, detector="crasher", workers=2)
    assert [failure.path for failure in report.failed] == [str(deadly)]
    assert "exit status 42" in report.failed[0].message
    assert len(report.added) == 3
    assert library.detections(report.added[0]).label_names == ("picture",)
    assert library.verify().clean


def test_a_name_that_is_no_text_is_told(small_library, videos):
    odd = Path(os.fsdecode(os.fsencode(videos[0].parent) + b"/odd \xff.mp4"))
    shutil.copy(videos[0], odd)
    report = add(small_library, odd)
    assert "rename the file" in report.failed[0].message
    assert len(small_library) == 0


def test_a_file_that_is_still_being_written_is_told(small_library, videos, monkeypatch):
    from wordsight.library.ingest import add as ingest

    scan = ingest.scan

    def scan_while_it_grows(*arguments, **options):
        with videos[0].open("ab") as file:
            file.write(b"more")
        return scan(*arguments, **options)

    monkeypatch.setattr(ingest, "scan", scan_while_it_grows)
    report = add(small_library, videos[0])
    assert "changed while it was read" in report.failed[0].message
    assert small_library.verify().clean and len(small_library) == 0


@pytest.fixture
def small_disk(tmp_path):
    """A disk with room for a catalogue and little else."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("making a small disk needs the right to mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_fails_what_has_no_room_and_harms_nothing(small_disk, videos):
    with Library.create(small_disk / "library") as library:
        kept = add(library, videos[0]).added
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(b"x" * 4096)
        report = add(library, videos[1:])
        assert report.added == ()
        assert all("no room left" in f.message for f in report.failed), report.failed
        assert [v.id for v in library.videos()] == list(kept)
        assert library.verify().ok
        filler.unlink()
        assert len(add(library, videos).added) == 2
        assert library.verify().clean


def test_removing_leaves_sources_and_others_alone(library, videos):
    report = add(library, videos, copy=True)
    first, *others = report.added
    assert library.remove(first[:-2]) == (first,)  # an unambiguous beginning will do
    assert first not in library and set(others) == {v.id for v in library.videos()}
    assert all(video.exists() for video in videos)
    assert library.verify().clean
    assert not (library.folder / "videos" / first).exists()
    with pytest.raises(LibraryError, match="no video"):
        library.remove(first)
    assert len(add(library, videos, copy=True).added) == 1  # back again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0.0}, "rate must be above 0"),
        ({"rate": float("nan")}, "rate must be above 0"),
        ({"detector": "region"}, "no detector 'region'.* Did you mean regions"),
        ({"options": {"colour": "red"}}, "does not accept these options"),
        ({"workers": 0}, "workers must be 1 or more"),
    ],
)
def test_senseless_orders_are_refused_before_any_work(small_library, videos, options, words):
    with pytest.raises(WordsightError, match=words):
        add(small_library, videos, **options)
    assert len(small_library) == 0


def test_an_id_must_be_clear(library, videos):
    add(library, videos)
    with pytest.raises(LibraryError, match="give more of the id"):
        library.show("clip-")
    with pytest.raises(LibraryError, match="no video ''"):
        library.show("")
    with pytest.raises(LibraryError, match="ordered by name, added, duration"):
        library.videos(order="colour")


def test_a_video_answers_to_the_file_it_came_from(library, videos, monkeypatch):
    add(library, videos)
    for entry in library.videos():
        monkeypatch.chdir(Path(entry.path).parent)
        for name in (entry.id, entry.name, entry.path, f"./{entry.name}"):
            assert library.resolve(name) == entry.id
    with pytest.raises(LibraryError, match="no video 'elsewhere/clip"):
        library.resolve(f"elsewhere/{entry.name}")


def test_detections_of_a_detector_that_never_looked(small_library, videos):
    (video_id,) = add(small_library, videos[0]).added
    assert isinstance(small_library.detections(video_id, detector="regions"), Detections)
    with pytest.raises(LibraryError, match=r"people has not looked at .* \(regions has\)"):
        small_library.detections(video_id, detector="people")


def test_things_made_from_the_library_can_be_kept_in_it(library, videos):
    (video_id,) = add(library, videos[0]).added

    def write_model(folder, weight):
        folder.mkdir()
        (folder / "model.json").write_text(json.dumps({"weight": weight}))

    for weight in (1, 2):  # the second takes the place of the first
        entry = library.put_artefact(
            "model", lambda f, w=weight: write_model(f, w), suffix="", settings={"name": "street"}
        )
    assert json.loads((library.path_of(entry) / "model.json").read_text()) == {"weight": 2}
    assert library.artefacts("model") == [entry]
    notes = library.put_artefact(
        "notes", lambda p: p.write_text("hi"), suffix=".txt", settings={}, video_id=video_id
    )
    assert notes.video_id == video_id
    assert library.verify().clean
    (library.path_of(entry) / "model.json").write_text("{}")
    assert [p.kind for p in library.verify().problems] == ["changed"]
    library.remove_artefact(entry)
    library.remove(video_id)
    assert library.artefacts("model") == library.artefacts("notes") == []
    assert library.verify().clean
