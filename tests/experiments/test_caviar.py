import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from experiments.caviar import load_films, measure
from wordsight.errors import WordsightError

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "caviar"


def write_folder(folder, folds=3, seed=0):
    """In every fold three pairs stand near one another, active: two of them meet, one walks."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    rows, meetings, time = [], [], 0
    for fold in range(folds):
        for film in range(4):
            meets = film % 2 == 0
            time += 10_000
            for frame in range(26):
                now = time + 40 * frame
                for person, x in ((1, 100.0), (2, 112.0 if meets else 160.0)):
                    x += random.normal(0, 0.5)
                    activity = "active" if meets else "walking"
                    rows.append([now, fold, -100 * film, person, round(x), 50, activity])
                if meets:
                    meetings.append([now, 1, 2])
    with gzip.open(folder / "tracks.csv.gz", "wt", newline="") as out:
        names = ["time_ms", "fold", "video_offset_ms", "person", "x", "y", "activity"]
        csv.writer(out).writerows([names, *rows])
    with (folder / "meeting.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["time_ms", "a", "b"], *meetings])
    return folder


@pytest.mark.slow
def test_meetings_are_learned_and_judged_by_fold_and_on_a_test_folder(tmp_path):
    data, other = write_folder(tmp_path / "data"), write_folder(tmp_path / "test", 1, seed=1)
    results = measure(data, other)
    assert results["f1"] == results["precision"] == results["recall"] == 1.0
    assert results["rules"] <= 20
    assert [row["fold"] for row in results["folds"]] == ["test"]


def test_a_folder_that_lacks_a_file_is_refused(tmp_path):
    with pytest.raises(WordsightError, match=r"tracks\.csv\.gz"):
        load_films(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data/caviar")
def test_films_are_unbroken_stretches_of_a_fold():
    films = load_films(DATA)
    assert all(np.allclose(np.diff(film.seen.times), 0.04) for film in films)
    assert sum(film.truth.values.sum() for film in films) == 2 * 789
