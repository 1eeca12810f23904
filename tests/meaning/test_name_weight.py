"""How much nouns listen to what things are called: as far as left-out clips are told better."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LABELS, LEXICON, choices, troupe
from wordsight.language import PartOfSpeech
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.features import AnnotatedClip, get_feature_set, with_names

NAMES = ("ball", "crate")
BRIEF = {"restarts": 1, "tempered_iterations": 3, "iterations": 2, "discriminative": None}


def called(clip, right, random):
    """The clip as a detector sees it that has one class for balls and crates, and their names."""
    seen = clip.detections
    kinds = np.array([0, 1, 1, 2])[seen.labels]
    names = np.array([-1, 0, 1, -1])[seen.labels]
    swapped = seen.ids % 2 if seen.ids is not None and not right else 0
    if not right and random.random() < 0.5:
        swapped = 1 - swapped
    named = np.where(names >= 0, np.abs(names - swapped), -1)
    return AnnotatedClip(
        clip.video_id,
        clip.start,
        clip.end,
        seen.relabelled(kinds, ("person", "thing", LABELS[3])),
        (NAMES,),
        named[None],
    )


@pytest.mark.parametrize("right", [True, False])
def test_names_count_as_far_as_they_help(right, tmp_path):
    random = np.random.default_rng(3)
    clips, sentences = troupe(18, frames=12)
    clips = [
        replace(called(one, right, random), video_id=f"play-{n}") for n, one in enumerate(clips)
    ]
    features = with_names(get_feature_set("recommended"), (NAMES,), NAMES)
    learner = WordLearner(**BRIEF, features=features)
    learner.fit(clips, sentences, lexicon=LEXICON, candidates=[choices()] * len(clips))
    nouns = learner.lexicon_.features.parts[PartOfSpeech.NOUN]
    weight = nouns.weight("told:ball|crate")
    assert weight >= 0.3 if right else weight <= 0.1
    learner.lexicon_.save(tmp_path / "words")
    again = LearnedLexicon.load(tmp_path / "words")
    assert again.features.parts[PartOfSpeech.NOUN].weights == nouns.weights
