"""One fold of the street experiment: learn in some places, judge sentences in another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from experiments.street_corpus import StreetClip, labelled, named_by_hand
from experiments.street_sentences import truth_table
from wordsight.evaluation import best_threshold, blind_f1, chance_f1, decisions
from wordsight.language import default_lexicon, parse, role_swapped, verb_swapped
from wordsight.meaning import LearnedLexicon, TrainingSettings, WordLearner
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.records import Sentence

__all__ = ["MODELS", "Fold", "Swaps", "measure_fold", "swaps_of"]

MODELS = ("learned", "discriminative", "hand")

Array = NDArray[np.float64]
_WORST = -1e9  # stands for minus infinity, which cannot be averaged


@dataclass
class Swaps:
    """How often a true sentence beats its false twins.

    Attributes:
        role: Per pair with roles exchanged whether the true one won.
        verb: Per pair with another verb, likewise.
    """

    role: list[bool] = field(default_factory=list)
    verb: list[bool] = field(default_factory=list)


@dataclass
class Fold:
    """What came out in one fold.

    Attributes:
        f1: Per set of sentences the F1 of every model, of chance and of blind guessing.
        scores: Per set and model the scores of all test pairs.
        truth: Per set the truth of all test pairs.
        swaps: Per model the twins.
    """

    f1: dict[str, dict[str, float]] = field(default_factory=dict)
    scores: dict[str, dict[str, Array]] = field(default_factory=dict)
    truth: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    swaps: dict[str, Swaps] = field(default_factory=dict)


def measure_fold(
    training: Sequence[StreetClip],
    testing: Sequence[StreetClip],
    sentences: dict[str, list[Sentence]],
    *,
    settings: TrainingSettings,
    words: int,
    threads: int = 1,
) -> Fold:
    """Learn from training clips and judge every test clip with every sentence.

    Args:
        training: Clips of other places.
        testing: Clips of the place that is left out.
        sentences: Per set the test sentences.
        settings: How to learn.
        words: How many looks to tell apart.
        threads: How many threads may be used.
    """
    train, test = labelled(training, testing, words, settings.random_state)
    learner = WordLearner(settings, threads=threads).fit(
        [item.clip for item in train],
        [list(item.film.sentences) for item in train],
        lexicon=default_lexicon(),
    )
    models = {"learned": learner.calibrated_held_out_, "discriminative": learner.held_out_}
    fold = Fold()
    for model, held_out in models.items():
        _judge(fold, model, held_out, train, test, sentences)
    named = named_by_hand(train, train), named_by_hand(train, test)
    written = hand_lexicon(
        named[0][0].clip.detections.label_names, view_settings=settings.view_settings
    )
    # Nothing of words written by hand was learned from any clip.
    _judge(fold, "hand", LeaveOneOut(written, (), ()), *named, sentences)
    return fold


def _judge(
    fold: Fold,
    model: str,
    held_out: LeaveOneOut,
    train: Sequence[StreetClip],
    test: Sequence[StreetClip],
    sentences: dict[str, list[Sentence]],
) -> None:
    known = _hearing_all(held_out.lexicon)
    fair = [_hearing_all(held_out.for_clip(item.clip)) for item in train]
    for name, asked in sentences.items():
        before = truth_table([item.film for item in train], asked)
        truth = truth_table([item.film for item in test], asked)
        threshold, _ = best_threshold(_scores(fair, train, asked), before)
        scores = _scores([known] * len(test), test, asked)
        row = fold.f1.setdefault(name, {"chance": chance_f1(truth), "blind": blind_f1(truth)})
        row[model] = decisions(truth, scores >= threshold).f1
        fold.scores.setdefault(name, {})[model] = scores
        fold.truth[name] = truth
    fold.swaps[model] = swaps_of(known, test)


def _hearing_all(lexicon: LearnedLexicon) -> LearnedLexicon:
    return lexicon.with_silent(entry.name for entry in lexicon.lexicon)


def _scores(
    lexicons: Sequence[LearnedLexicon],
    items: Sequence[StreetClip],
    sentences: Sequence[Sentence],
) -> Array:
    """Return ``(clips, sentences)`` scores, each clip judged by a lexicon of its own."""
    rows = [
        lexicon.scores(lexicon.observe(item.clip), sentences)
        for lexicon, item in zip(lexicons, items, strict=True)
    ]
    return np.maximum(np.array(rows), _WORST)


def swaps_of(lexicon: LearnedLexicon, items: Sequence[StreetClip]) -> Swaps:
    """Compare what is said of clips with its twins that are false of them."""
    found = Swaps()
    for item in items:
        seen = lexicon.observe(item.clip)
        for text in item.film.sentences:
            said = parse(text, lexicon.lexicon)
            twin = role_swapped(said, lexicon.lexicon)
            roles = _false([twin] if twin is not None else [], item)
            verbs = _false(verb_swapped(said, lexicon.lexicon), item)
            values = lexicon.preferences(seen, [said, *roles, *verbs])
            wins = (values[0] > values[1:]).tolist()
            found.role += wins[: len(roles)]
            found.verb += wins[len(roles) :]
    return found


def _false(sentences: Sequence[Sentence], item: StreetClip) -> list[Sentence]:
    return [sentence for sentence in sentences if not item.film.truth.holds(sentence)]
