"""Late subtitles: what scenes buy, on a script whose answer is known."""

import numpy as np
import pytest

from experiments.hierarchy import Shown, fit_interpolation_from_queries, measure, read_cad120
from wordsight.errors import FormatError, RetrievalError
from wordsight.retrieval.text import Levels, Postings, TextQuery


def videos(count=6, shots=10):
    """Each shot has a sentence of its own words."""
    return [
        Shown(
            [(2.0 * n, 2.0 * n + 2) for n in range(shots)],
            [(2.0 * n, 2.0 * n + 2, f"word{v}x{n} thing{v}x{n}") for n in range(shots)],
        )
        for v in range(count)
    ]


def test_in_time_shots_are_enough():
    assert measure(videos(), 0.0)["shot"] == 1.0


def test_late_subtitles_are_found_through_the_scene():
    late = measure(videos(), 2.0)
    assert late["shot"] <= 0.1
    assert late["shot_scene"] > late["shot"] + 0.1
    assert late["shot_scene_video"] >= late["shot_scene"] - 0.05


def test_real_sentences(shared_data):
    shown = read_cad120(shared_data("cad120"))
    assert len(shown) == 93
    assert all(len(video.shots) > 1 for video in shown)


def test_no_such_data(tmp_path):
    with pytest.raises(FormatError, match=r"clips\.jsonl"):
        read_cad120(tmp_path)
    (tmp_path / "clips.jsonl").write_text('{"video": 1}\n')
    with pytest.raises(FormatError, match="CAD-120"):
        read_cad120(tmp_path)


def test_from_queries_with_known_answers():
    levels = Levels.build(
        Postings.build([["red", "cup"], ["blue"], ["green", "tea"], ["mug"]]),
        [np.arange(4), np.array([0, 0, 1, 1])],
        [np.arange(4), np.array([0, 0, 1, 1])],
    )
    # The words asked for are always in the neighbouring shot: only the scene explains them.
    queries = [TextQuery({"red": 1.0}), TextQuery({"mug": 1.0})]
    learned = fit_interpolation_from_queries(levels, queries, [[1], [2]])
    assert learned.weights[1] > 0.99
    assert learned.rest > 0  # but a word that is not said nearby excludes nothing
    with pytest.raises(RetrievalError, match="no word"):
        empty = Levels.flat(Postings.build([[]]))
        fit_interpolation_from_queries(empty, [TextQuery({"a": 1.0})], [[0]])
