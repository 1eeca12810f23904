"""The paper's blocks and voices, small."""

import numpy as np
import pytest

from experiments.number_blocks import COLOURS, SHAPES, SIZES, WORDS, render_blocks
from wordsight.attributes.features.figures import Figure, find_figure


@pytest.mark.slow
def test_blocks_show_what_they_are_said_to():
    blocks = render_blocks(1)
    assert len(blocks.images) == len(COLOURS) * len(SHAPES) * len(SIZES) == 120
    assert blocks.images[0].shape == (240, 320, 3)
    figures = Figure().describe(blocks.images)
    areas = figures[:, 13]
    by_size = [areas[blocks.truth[:, 2] == size] for size in SIZES]
    assert by_size[0].max() < by_size[1].min() and by_size[1].max() < by_size[2].min()
    red = figures[:, 1]
    assert red[blocks.truth[:, 0] == "red"].min() > red[blocks.truth[:, 0] == "blue"].max()
    again = render_blocks(1)
    assert all(np.array_equal(a, b) for a, b in zip(blocks.images, again.images, strict=True))


def test_nothing_stands_out_of_an_even_picture():
    mask, _ = find_figure(np.full((50, 60, 3), 120, dtype=np.uint8))
    assert mask.all()


def test_both_voices_say_all_seventeen_words():
    pytest.importorskip("espeakng_loader", reason="the extra `voices` is not installed")
    from experiments.akaho1997 import VOICES
    from experiments.voices import Speaker, VoiceError

    speaker = Speaker()
    assert len(WORDS) == 17
    for text in WORDS.values():
        for voice in VOICES:
            sound = speaker.say(text, voice=voice)
            assert 0.15 < sound.duration < 2 and not sound.silent
    with pytest.raises(VoiceError, match="no voice"):
        speaker.say("あか", voice="martian")


@pytest.mark.slow
def test_constant_light_changes_light_alone():
    varying, constant = render_blocks(1), render_blocks(1, constant_light=True)
    assert np.array_equal(varying.truth, constant.truth)
    corners = np.array([image[:20, :20].mean() for image in constant.images])
    assert np.ptp(corners) < 1 < np.ptp([image[:20, :20].mean() for image in varying.images])
    for one, other in zip(varying.images[:5], constant.images[:5], strict=True):
        assert (find_figure(one)[0] != find_figure(other)[0]).mean() < 0.02


@pytest.mark.slow
def test_the_grid_of_readings(monkeypatch):
    pytest.importorskip("espeakng_loader", reason="the extra `voices` is not installed")
    from experiments import akaho1997_grid as grid

    for factors in (grid.MATERIALS, grid.DIRECTIONS, grid.MIXTURES):
        for factor in factors:
            monkeypatch.setitem(factors, factor, (grid.PRINTED[factor],))
    monkeypatch.setitem(grid.DIRECTIONS, "ridge", ("none", "some"))
    results = grid.measure_grid(seeds=1, per_category=3)
    assert len(results["cells"]) == 2 and len(results["one_change"]) == 1
    assert results["printed"]["ridge"] == "none" and results["above_half"]["none"] > 50
    assert results["printed"]["oracle"] < results["one_change"][0]["oracle"]


@pytest.mark.slow
def test_a_seed_of_the_whole_experiment(capsys):
    pytest.importorskip("espeakng_loader", reason="the extra `voices` is not installed")
    import json

    from experiments.akaho1997 import main

    main(["--seeds", "1", "--pictures", "4", "--json"])
    results = json.loads(capsys.readouterr().out)
    rows = results["rows"]
    assert results["mean"] == rows["recommended"]["mean"] > 0.95
    assert results["k_found"] == 1
    assert rows["faithful"]["mean"] <= rows["faithful_oracle"]["mean"] < rows["k_given"]["mean"]
    assert results["chance"] == 0.228
