"""Files of data sets that are damaged: a line that names the file, never a traceback."""

import gzip

import numpy as np
import pytest

from experiments.caviar import load_films
from experiments.data.cad120 import load_segments, with_people
from experiments.data.cad120_states import load_videos
from experiments.data.reading import reading
from experiments.wikipedia import read_wikipedia
from wordsight.errors import FormatError, VideoError


@pytest.mark.parametrize("error", [KeyError("subject"), EOFError(), IndexError("7"), OSError("x")])
def test_what_a_damaged_file_causes(tmp_path, error):
    with (
        pytest.raises(FormatError, match=r"a\.json is not a list, or it is damaged: \S"),
        reading(tmp_path / "a.json", "a list"),
    ):
        raise error


def test_errors_of_our_own_and_faults_pass(tmp_path):
    for error in (VideoError("no"), ZeroDivisionError()):
        with pytest.raises(type(error)), reading(tmp_path, "a list"):
            raise error


def make_folder(path):
    (path / "meta.json").write_text('{"v": {"objects": ["cup"], "segments": []}}')
    row = '{"video": "v", "subject": "s", "start_frame": 1, "end_frame": 9, "sentences": ["x"]}\n'
    (path / "clips.jsonl").write_text(row)
    (path / "states.jsonl").write_text('{"video": "v", "states": [[1, 9, []]], "objects": ["cup"]}')
    np.savez(path / "tracks.npz", v_obj=np.ones((9, 1, 4)), v_skel=np.ones((9, 15, 4)))
    return path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("meta.json", b'{"v": '),
        ("meta.json", b"[1]"),
        ("clips.jsonl", b'{"video": "v"}\n'),
        ("tracks.npz", b"PK\x03\x04 cut off"),
    ],
)
def test_damaged_files_of_cad120(tmp_path, name, data):
    folder = make_folder(tmp_path)
    (folder / name).write_bytes(data)
    with pytest.raises(FormatError, match=name):
        load_segments(folder, "tracks")


def test_tracks_of_another_size(tmp_path):
    folder = make_folder(tmp_path)
    np.savez(folder / "tracks.npz", v_obj=np.ones((9, 1, 4)), v_skel=np.ones((9, 12, 4)))
    with pytest.raises(FormatError, match=r"tracks\.npz"):
        load_segments(folder, "tracks")
    with pytest.raises(FormatError, match=r"tracks\.npz"):
        load_videos(folder)


def test_people_lie_in_several_folders(tmp_path):
    found = {name: {1: [[5.0, 0.9, 10.0, 10.0, 20.0, 20.0]]} for name in ("a", "b")}
    for name in found:
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "boxes.npz", **{name: np.ones((2, 4, 5)) * [0, 0, 9, 9, 81]})
    seen = dict(with_people(found, [tmp_path / "a", tmp_path / "b"]))
    assert set(seen) == {"a", "b"} and seen["b"].mask.sum() == 5


def test_a_damaged_table_of_people(tmp_path):
    (tmp_path / "meeting.csv").write_text("time_ms,a,b\n0,1,2\n")
    (tmp_path / "tracks.csv.gz").write_bytes(b"no archive")
    with pytest.raises(FormatError, match=r"tracks\.csv\.gz is not a table of time_ms"):
        load_films(tmp_path)
    header = "time_ms,fold,video_offset_ms,person,x,y,activity\n"
    with gzip.open(tmp_path / "tracks.csv.gz", "wt") as file:
        file.write(header + "0,0,0,1,5,5,walking\n0,0,0,Ann,5,5,walking\n")
    with pytest.raises(FormatError, match=r"tracks\.csv\.gz is not a table of time_ms.*'Ann'"):
        load_films(tmp_path)


def test_damaged_features_of_wikipedia(tmp_path):
    for data in (b"", b"MATLAB 5.0" + bytes(200), b"\0\1text" * 40):
        (tmp_path / "raw_features.mat").write_bytes(data)
        with pytest.raises(FormatError, match=r"raw_features\.mat is not"):
            read_wikipedia(tmp_path)
