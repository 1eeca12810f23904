"""A common sky and a telling ground: what is learned ranks as well as the best fixed weight."""

import pytest

from experiments.skies import landscapes, main, measure


def test_pictures_are_drawn_as_asked():
    images, kinds = landscapes(0.5, 0, kinds=3, each=4)
    assert len(images) == 12 and kinds.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    again, _ = landscapes(0.5, 0, kinds=3, each=4)
    assert all((one == other).all() for one, other in zip(images, again, strict=True))


@pytest.mark.slow
def test_learned_smoothing_is_near_the_best_where_all_have_a_sky():
    (row,) = measure(seeds=(7,), common=(1.0,), floors=(0.2,))
    assert row["learned"] > row["best_kappa"] - 0.02
    assert row["learned"] > row["plain"] + 0.1
    assert row["held_out"] < row["best_kappa"] - 0.05  # likelihood is no guide


def test_help_says_what_it_measures(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "common sky" in capsys.readouterr().out
