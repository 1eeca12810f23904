"""Captions of held-out data, in folders that hold no more than they need."""

import gzip
import json

import numpy as np
import pytest

from experiments.captions import main
from wordsight.errors import WordsightError

FRAMES = 40


def write_data(folder, subject, seed):
    """Write two short videos of one subject, each with a caption per half."""
    folder.mkdir()
    random = np.random.default_rng(seed)
    meta, arrays, captions, rows = {}, {}, [], ["video,frame,coco91_class,score,x1,y1,x2,y2"]
    for number in range(2):
        video = f"{subject}{number}"
        meta[video] = {"subject": f"Subject{subject}", "objects": ["cup", "box"]}
        lifted = np.linspace(0, 120, FRAMES // 2)
        height = 300 - np.concatenate([lifted, lifted[::-1]]) + random.normal(0, 1, FRAMES)
        boxes = np.zeros((FRAMES, 2, 4))
        boxes[:, 0] = np.stack([height * 0 + 200, height, height * 0 + 240, height + 40], axis=1)
        boxes[:, 1] = [400, 300, 460, 350]
        joints = np.tile([0.0, 0.0, 1500.0, 1.0], (FRAMES, 15, 1))
        joints[:, :, :2] += random.normal(0, 100, (1, 15, 2))
        joints[:, 11, 1] = height - 240
        arrays |= {f"{video}_obj": boxes, f"{video}_skel": joints}
        for frame, row in enumerate(boxes, start=1):
            for kind, box in zip((47, 84), row, strict=True):
                rows.append(f"{video},{frame},{kind},0.9," + ",".join(f"{x:.1f}" for x in box))
        for start, said in ((1, "woman pick up cup"), (FRAMES // 2 + 1, "woman put cup down")):
            caption = {"subject": subject, "activity": "-", "video": video, "start": start}
            captions.append(caption | {"end": start + FRAMES // 2 - 1, "sentence": said})
    (folder / "meta.json").write_text(json.dumps(meta))
    np.savez(folder / "tracks.npz", **arrays)
    with gzip.open(folder / "rcnn_detections.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    lines = "\n".join(map(json.dumps, captions))
    (folder / "segments.jsonl").write_text(lines)


def test_held_out_captions_are_measured(tmp_path, capsys):
    known, new = tmp_path / "known", tmp_path / "new"
    write_data(known, 1, 0)
    write_data(new, 2, 1)
    names = ["--data", "--captions", "--test", "--test-captions"]
    folders = zip(names, (known, known, new, new), strict=True)
    main([*(str(part) for pair in folders for part in pair), "--quick", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["read"] == 1.0
    assert result["junk"] == 0
    for setting in ("detections", "tracks"):
        assert result[setting]["clips"] == 4
        assert result[setting]["chance"] == result[setting]["blind"] == 0.5
        assert result[setting]["accuracy"] >= 0.5
    with pytest.raises(WordsightError, match="no caption of"):
        main(["--data", str(known), "--captions", str(new), "--json"])
    with pytest.raises(WordsightError, match="go together"):
        main(["--data", str(known), "--captions", str(known), "--test", str(new)])
