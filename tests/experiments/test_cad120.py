"""The CAD-120 loader against what the data's own description says, and one small fold."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from experiments.cad120_scores import Job, _changed_part, measure_fold
from experiments.data.cad120 import (
    _read_detections,
    load_segments,
    make_lexicon,
    subjects_of,
    with_people,
)
from wordsight.errors import FormatError, WordsightError
from wordsight.evaluation import chance_accuracy
from wordsight.language import parse
from wordsight.library import Library
from wordsight.perception.formats import write_boxes
from wordsight.workflows.clips import clips_with_sentences


@pytest.fixture(scope="module")
def tracks(shared_data):
    return load_segments(shared_data("cad120"), "tracks")


def test_all_segments_are_read(tracks):
    assert len(tracks) == 699
    assert Counter(len(s.candidates) for s in tracks) == {19: 290, 7: 265, 37: 144}
    assert chance_accuracy([len(s.candidates) for s in tracks]) == pytest.approx(0.082, abs=5e-4)
    assert all(s.sentence in s.candidates for s in tracks)


def test_every_candidate_can_be_read(tracks):
    lexicon = make_lexicon({name for s in tracks for name in s.objects})
    texts = {text for s in tracks for text in s.candidates}
    meanings = {parse(text, lexicon).words for text in texts}
    assert len(meanings) == len(texts)
    poured = parse("The person poured the milk into the bowl", lexicon)
    assert poured.meaning == "person(p0) poured-into(p0,p1,p2) milk(p1) bowl(p2)"


def test_hands_are_where_things_are_moved(tracks):
    """The projection of the skeleton fits: the moved thing is near a hand."""
    near = []
    for segment in tracks:
        if segment.sentence.startswith("The person moved the"):
            seen = segment.clip.detections
            middle = seen.frame(len(seen) // 2)
            names = np.array(seen.label_names)[middle.labels]
            noun = segment.sentence.split()[-1]
            centres = (middle.boxes[:, :2] + middle.boxes[:, 2:]) / 2
            apart = centres[names == noun][:, None] - centres[names == "hand"][None]
            near.append(np.hypot(apart[..., 0], apart[..., 1]).min(initial=np.inf))
    assert np.median(near) < 30


@pytest.mark.slow
def test_detections_have_identities(shared_data):
    segments = load_segments(shared_data("cad120"), "detections")
    assert len(segments) == 412
    assert chance_accuracy([len(s.candidates) for s in segments]) == pytest.approx(0.069, abs=5e-4)
    seen = segments[0].clip.detections
    assert (seen.ids[seen.mask] > 0).all()


def test_a_wrong_folder_is_named(tmp_path):
    with pytest.raises(FormatError, match="CAD-120"):
        load_segments(tmp_path, "tracks")


@pytest.fixture
def part(shared_data, tmp_path):
    """A few videos of two subjects, as a folder of its own."""
    source = shared_data("cad120")
    meta = json.loads((source / "meta.json").read_text("utf-8"))
    chosen = []
    for subject in ("Subject1", "Subject3"):
        mine = [v for v in sorted(meta) if meta[v]["subject"] == subject]
        chosen += [v for v in mine if meta[v]["objects"] == ["cup"]][:2]
        chosen += [v for v in mine if meta[v]["objects"] == ["microwave", "cup"]][:2]
    (tmp_path / "meta.json").write_text(json.dumps({v: meta[v] for v in chosen}), "utf-8")
    with np.load(source / "tracks.npz") as arrays:
        kept = {f"{v}_{kind}": arrays[f"{v}_{kind}"] for v in chosen for kind in ("obj", "skel")}
        np.savez(tmp_path / "tracks.npz", **kept)
    lines = (source / "clips.jsonl").read_text("utf-8").splitlines()
    rows = [line for line in lines if json.loads(line)["video"] in chosen]
    (tmp_path / "clips.jsonl").write_text("\n".join(rows), "utf-8")
    with (
        gzip.open(source / "rcnn_detections.csv.gz", "rt") as whole,
        gzip.open(tmp_path / "rcnn_detections.csv.gz", "wt") as some,
    ):
        for number, line in enumerate(whole):
            if number == 0 or line.split(",")[0] in chosen:
                some.write(line)
    return tmp_path


@pytest.mark.slow
def test_what_may_be_missing(part):
    rows = [json.loads(line) for line in (part / "clips.jsonl").read_text("utf-8").splitlines()]
    whole = len(load_segments(part, "tracks"))
    assert whole == len(rows)
    first, second = sorted({row["video"] for row in rows})[:2]
    with np.load(part / "tracks.npz") as arrays:
        kept = {name: arrays[name] for name in arrays if name != f"{first}_skel"}
    np.savez(part / "tracks.npz", **kept)
    meta = json.loads((part / "meta.json").read_text("utf-8"))
    del meta[second]
    (part / "meta.json").write_text(json.dumps(meta), "utf-8")
    mine = [row for row in rows if row["video"] not in (first, second)]
    several, none = mine[0], mine[1]
    other = next(text for text in several["candidates"] if text not in several["sentences"])
    several["sentences"].append(other)  # two are true, so one is no rival of the other
    none["sentences"] = []
    (part / "clips.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    segments = load_segments(part, "tracks")
    assert len(segments) == len(mine) - 1
    assert other not in segments[0].candidates
    assert segments[0].sentence in segments[0].candidates
    assert {s.clip.video_id for s in load_segments(part, "detections")} <= set(meta)


@pytest.mark.slow
def test_a_subject_without_detections_counts_no_clip(part):
    with gzip.open(part / "rcnn_detections.csv.gz", "rt") as file:
        head, *lines = file
    meta = json.loads((part / "meta.json").read_text("utf-8"))
    kept = [line for line in lines if meta[line.split(",")[0]]["subject"] == "Subject1"]
    with gzip.open(part / "rcnn_detections.csv.gz", "wt") as file:
        file.writelines([head, *kept])
    tally = measure_fold(Job(part, None, "detections", "Subject3"))
    assert tally.clips == 0 and set(tally.right.values()) == {0.0}
    with pytest.raises(WordsightError, match="no clip to learn from"):
        measure_fold(Job(part, None, "detections", "Subject1"))


@pytest.mark.slow
def test_a_fold_of_a_few_videos(part):
    assert subjects_of(part) == ("Subject1", "Subject3")
    tally = measure_fold(Job(part, None, "tracks", "Subject3"))
    assert tally.clips == sum(
        json.loads(line)["subject"] == "Subject3"
        for line in (part / "clips.jsonl").read_text("utf-8").splitlines()
    )
    assert tally.right["accuracy"] > 2 * tally.right["chance"]
    assert all(tally.right[row] <= tally.verbs[row] + 1e-9 for row in tally.verbs if row != "blind")
    assert tally.grounded[1] > 0.5 * tally.grounded[0]
    assert {twin.kind for twin in tally.twins} >= {"verb", "noun"}


def test_twins_differ_in_one_word():
    lexicon = make_lexicon({"cup", "box"})
    true = parse("The person moved the cup.", lexicon)
    others = [
        "The person moved the box.",
        "The person opened the cup.",
        "The person opened the box.",
    ]
    kinds = [_changed_part(true, parse(text, lexicon), lexicon) for text in (true.text, *others)]
    assert kinds == [None, "noun", "verb", None]


@pytest.mark.slow
def test_boxes_from_a_file_are_seen_as_in_the_experiment(part, shared_data, tmp_path):
    """What networks saw of a video, added without pictures, gives the clips of the experiment."""
    people = shared_data("cad120_people")
    wanted = load_segments(part, "detections", [people])[0]
    found = _read_detections(part / "rcnn_detections.csv.gz")
    name = wanted.clip.video_id
    ((_, boxes),) = with_people({name: found[name]}, [people])
    write_boxes(tmp_path / "seen.csv", boxes, frame_rate=30.0)
    row = {"boxes": "seen.csv", "text": wanted.sentence}
    row |= {"start": wanted.clip.start, "end": wanted.clip.end}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row))
    with Library.create(tmp_path / "library") as library:
        report = library.add(tmp_path / "metadata.jsonl", size=(640, 480), workers=1)
        assert report.ok, report.failed
        ((clip,), _) = clips_with_sentences(library)
    seen, expected = clip.detections, wanted.clip.detections
    np.testing.assert_allclose(seen.times, expected.times, atol=1e-9)
    np.testing.assert_array_equal(seen.ids[seen.mask], expected.ids[expected.mask])
    np.testing.assert_allclose(seen.boxes[seen.mask], expected.boxes[expected.mask], atol=1e-6)
