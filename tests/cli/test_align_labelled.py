"""``align --labelled``: videos whose lines have known times teach the alignment of others."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.alignment.fetching import TEXT, fetching
from wordsight.perception.formats import write_boxes
from wordsight.video import VideoWriter

SENTENCES = [line.text for line in TEXT.lines]


@pytest.fixture
def folder(tmp_path):
    """Four films with boxes beside, three of them with the times of their lines."""
    rows = []
    for number in range(4):
        seen, spans = fetching(number)
        small = replace(seen, boxes=seen.boxes / 4, frame_size=(160, 120))
        write_boxes(tmp_path / f"film{number}.boxes.csv", small, frame_rate=30)
        with VideoWriter(tmp_path / f"film{number}.mp4", (160, 120), frame_rate=30) as writer:
            for _ in range(len(seen)):
                writer.write(np.full((120, 160, 3), 90, dtype=np.uint8))
        for text, (start, end) in zip(SENTENCES, spans.tolist(), strict=True):
            if number:
                place = {"file_name": f"film{number}.mp4", "start": start, "end": end}
                rows.append(place | {"text": text})
    (tmp_path / "known.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "cup.txt").write_text("\n".join(f"{n}. {s}" for n, s in enumerate(SENTENCES, 1)))
    return tmp_path


def test_labelled_videos_teach_others(run, folder):
    options = ("--boxes", "film0.boxes.csv", "--labelled", "known.jsonl", "--json")
    answer = run("align", "film0.mp4", "cup.txt", *options)
    assert answer.code == 0, answer.err
    _, spans = fetching(0)
    lines = json.loads(answer.out)["lines"]
    starts = [line["spans"][0]["start"] for line in lines]
    assert starts == pytest.approx(spans[:, 0], abs=0.6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--labelled", "cup.jsonl"), "no such file"),
        (("--labelled", "empty.jsonl"), "start and an end"),
        (("--labelled", "known.jsonl", "--model", "LCRF"), "does not learn from --labelled"),
    ],
)
def test_what_cannot_teach_is_refused(run, folder, options, message):
    (folder / "empty.jsonl").write_text('{"file_name": "film1.mp4", "text": "Move the cup."}\n')
    answer = run("align", "film0.mp4", "cup.txt", "--boxes", "film0.boxes.csv", *options)
    assert answer.code != 0
    assert message in answer.err
    assert "Traceback" not in answer.err
