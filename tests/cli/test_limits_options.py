"""Keeping less of what explains a clip: asked for on the command line, bounded, and told."""

import math

import pytest

from wordsight.library import Library
from wordsight.worlds import street, write_world

SAID = "The person picked up the backpack."
LEARN = ("learn", "--quick", "--restarts", 1, "--grammar", "street", "--json")


@pytest.fixture(scope="module")
def loose(tmp_path_factory):
    """A library of one film whose detections have no identities, so that lattices are needed."""
    folder = tmp_path_factory.mktemp("loose")
    write_world(street(1, 1, noise=0.0, frame_rate=10.0), folder / "films")
    with Library.open(folder / "library", create=True) as library:
        library.add(folder / "films", workers=1, detector="regions")
        return folder, [video.id for video in library.videos()]


@pytest.fixture
def call(run, loose, monkeypatch):
    folder, _ = loose
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(folder / "library"))

    def with_words(*arguments):
        if not (folder / "lexicon").exists():
            assert run(*LEARN, "-w", folder / "lexicon").json["lost_mass"] == 0.0
        return run(*arguments, "-w", folder / "lexicon")

    return with_words


@pytest.mark.slow
class TestLess:
    def test_scores_stay_within_the_bound(self, call, loose):
        whole, few = (
            call("score", loose[1][0], SAID, "--json", *how) for how in ((), ("--prune", 4))
        )
        assert whole.json[0]["lost_mass"] == 0.0 and "left out" not in whole.err
        gap = whole.json[0]["log_ratio"] - few.json[0]["log_ratio"]
        lost = few.json[0]["lost_mass"]
        assert gap >= -1e-9 and -math.expm1(-gap) <= lost + 1e-9
        assert f"at most {lost:.2g} of the weight" in few.err

    def test_every_command_tells_the_bound(self, call, loose):
        video = loose[1][0]
        assert call("track", video, SAID, "--prune", 3, "--json").json["lost_mass"] > 0
        assert call("explain", video, SAID, "--prune", 3, "--json").json["lost_mass"] > 0
        told = call("describe", video, "--to", "2", "-k", 1, "--json", "--prune", 3)
        assert told.json[0]["lost_mass"] > 0 and "is left out" in told.err
        found = call("search", SAID, "--all", "--prune", 1, "--json")
        assert isinstance(found.json, list), (found.json, found.err)
        assert "lost_mass" in found.json[0]

    def test_learning_tells_the_bound_whoever_works(self, run, call, tmp_path):
        found = {
            engine: run(*LEARN, "--prune", 4, "-w", tmp_path / str(n), *engine).json
            for n, engine in enumerate([(), ("--engine", "processes:2")])
        }
        one, other = found.values()
        assert {**one, "lexicon": ""} == {**other, "lexicon": ""}
        assert 0 < one["lost_mass_median"] <= one["lost_mass"] <= 1
