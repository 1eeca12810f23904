"""One fold of the street experiment: learn in some places, judge sentences in another."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.street_corpus import StreetClip, labelled, named_by_hand, surest
from experiments.street_sentences import exchanged_sentences, truth_table
from experiments.street_twins import JudgedTwin, judge_twins, twins_of
from wordsight.evaluation import best_threshold, blind_f1, chance_f1, decisions
from wordsight.language import Lexicon, default_lexicon, parse
from wordsight.meaning import FAITHFUL, LearnedLexicon, TrainingSettings, WordLearner
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.training.corpus import build_corpus
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.meaning.training.truth import fit_belief, fit_threshold
from wordsight.records import Sentence

__all__ = ["MODELS", "Fold", "fitted_by_hand", "judge", "measure_fold"]

MODELS = (
    "as_published",
    "learned",
    "discriminative",
    "senses",
    "joint",
    "hand_as_published",
    "hand",
    "hand_fitted",
)

PER_DETECTOR = 2
"""Boxes of each class in a frame that the authors kept."""

Array = NDArray[np.float64]
_WORST = -1e9  # stands for minus infinity, which cannot be averaged
_PUBLISHED_HAND = Path(__file__).parent / "data" / "street_published.toml"


@dataclass
class Fold:
    """What came out in one fold.

    Attributes:
        f1: Per set of sentences the F1 of every model, of chance and of blind guessing.
        scores: Per set and model the scores of all test pairs.
        truth: Per set the truth of all test pairs.
        twins: Per model what came of true sentences and their false twins.
        senses: Words with several senses, in the row of that name.
    """

    f1: dict[str, dict[str, float]] = field(default_factory=dict)
    scores: dict[str, dict[str, Array]] = field(default_factory=dict)
    truth: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    twins: dict[str, list[JudgedTwin]] = field(default_factory=dict)
    senses: dict[str, int] = field(default_factory=dict)


def measure_fold(
    training: Sequence[StreetClip],
    testing: Sequence[StreetClip],
    sentences: dict[str, list[Sentence]],
    *,
    settings: TrainingSettings,
    words: int,
    models: Collection[str] = MODELS,
    threads: int = 1,
    wrong: float = 0.0,
    lexicon: Lexicon | None = None,
) -> Fold:
    """Learn from training clips and judge every test clip with every sentence.

    Args:
        training: Clips of other places.
        testing: Clips of the place that is left out.
        sentences: Per set the test sentences.
        settings: How to learn.
        words: How many looks to tell apart.
        models: Which of :data:`MODELS`.
        threads: How many threads may be used.
        wrong: Share of the training clips with sentences of another clip.
        lexicon: The grammar, where it is not that of the street; then there are no words written
            by hand and no twins.
    """
    known, twins = default_lexicon() if lexicon is None else lexicon, lexicon is None
    folds = labelled(training, testing, words, settings.random_state)
    said = exchanged_sentences([item.film for item in training], wrong, settings.random_state)
    fold = Fold()
    if {"learned", "discriminative"} & set(models):
        learner = _learned(folds[0], said, known, settings, threads)
        judge(fold, "learned", learner.calibrated_held_out_, *folds, sentences)
        judge(
            fold, "discriminative", learner.held_out_, *folds, sentences, with_twins=lexicon is None
        )
    if "senses" in models:
        split = replace(settings, senses=True)
        learner = _learned(folds[0], said, known, split, threads)
        judge(fold, "senses", learner.held_out_, *folds, sentences)
        fold.senses = {n: w.senses for n, w in learner.lexicon_.words.items() if w.senses > 1}
    if "joint" in models:
        view = replace(settings.view_settings, participants="tracklets")
        learner = _learned(folds[0], said, known, replace(settings, view_settings=view), threads)
        judge(fold, "joint", learner.held_out_, *folds, sentences, with_twins=twins)
    detected = [[_boxes_alone(item) for item in items] for items in folds]
    if "as_published" in models:
        published = replace(FAITHFUL, random_state=settings.random_state)
        learner = _learned(detected[0], said, known, published, threads)
        # The threshold, too, is that of the paper: found on clips the words were learned from.
        plain = LeaveOneOut(learner.lexicon_, (), ())
        judge(fold, "as_published", plain, *detected, sentences)
    if lexicon is not None:
        return fold
    named, boxes = (
        [named_by_hand(items[0], each) for each in items] for items in (folds, detected)
    )
    names = named[0][0].clip.detections.label_names
    written = hand_lexicon(names, view_settings=settings.view_settings)
    if "hand_as_published" in models:
        theirs = hand_lexicon(
            names, path=_PUBLISHED_HAND, view_settings=FAITHFUL.view_settings, forced_end=False
        )
        judge(fold, "hand_as_published", LeaveOneOut(theirs, (), ()), *boxes, sentences)
    if "hand" in models:  # nothing of which was learned from any clip
        judge(fold, "hand", LeaveOneOut(written, (), ()), *named, sentences)
    if "hand_fitted" in models:
        fitted = fitted_by_hand(written, named[0], said, settings.random_state, threads)
        judge(fold, "hand_fitted", fitted, *named, sentences)
    return fold


def _learned(
    train: Sequence[StreetClip],
    said: Sequence[Sequence[str]],
    lexicon: Lexicon,
    settings: TrainingSettings,
    threads: int,
) -> WordLearner:
    # Labels are given here, so that nouns do not learn looks of their own.
    return WordLearner(settings, threads=threads, looks=False).fit(
        [item.clip for item in train],
        said,
        lexicon=lexicon,
    )


def _boxes_alone(item: StreetClip) -> StreetClip:
    """Return a clip with the surest boxes of each class, not linked over time."""
    return replace(item, clip=surest(item.detected, PER_DETECTOR))


def fitted_by_hand(
    written: LearnedLexicon,
    train: Sequence[StreetClip],
    said: Sequence[Sequence[str]],
    seed: int,
    threads: int = 1,
) -> LeaveOneOut:
    """Judge words written by hand as learned words are judged: slopes and offsets are fitted.

    Args:
        written: The words.
        train: Training clips with the names of the words' labels.
        said: Per clip what is said of it.
        seed: Of the false sentences.
        threads: How many threads may be used.
    """
    # A noun whose thing no training film shows has no meaning, and is in no false sentence.
    entries = default_lexicon().entries
    known = Lexicon(tuple(entry for entry in entries if entry.name in written.words))
    read = [[parse(text, default_lexicon()) for text in several] for several in said]
    told = [
        [one for one in several if all(word.entry in written.words for word in one.words)]
        for several in read
    ]
    kept = [number for number, several in enumerate(told) if several]
    seen, told = [written.observe(train[n].clip) for n in kept], [told[n] for n in kept]
    corpus = build_corpus(seen, told, known, random_state=seed)
    clips = tuple(example.observation.view.clip for example in corpus.examples)
    held_out = LeaveOneOut(written, ({},) * len(clips), clips)
    belief = fit_belief(held_out, corpus, threads=threads, random_state=seed)
    held_out = replace(held_out, lexicon=replace(written, belief=belief))
    threshold = fit_threshold(held_out, corpus, threads=threads)
    return replace(held_out, lexicon=replace(held_out.lexicon, threshold=threshold))


def judge(
    fold: Fold,
    model: str,
    held_out: LeaveOneOut,
    train: Sequence[StreetClip],
    test: Sequence[StreetClip],
    sentences: dict[str, list[Sentence]],
    *,
    with_twins: bool = False,
) -> None:
    """Judge every test clip with every sentence, and add the results to a fold.

    Args:
        fold: Where results are added.
        model: The name of the model there.
        held_out: The words, and what each training clip changed in them.
        train: Training clips, for the threshold.
        test: Test clips.
        sentences: Per set the test sentences.
        with_twins: Whether true sentences are compared with their false twins, too.
    """
    known = _hearing_all(held_out.lexicon)
    fair = [_hearing_all(held_out.for_clip(item.clip)) for item in train]
    every = [sentence for asked in sentences.values() for sentence in asked]
    before, after = _scores(fair, train, every), _scores([known] * len(test), test, every)
    columns = np.cumsum([len(asked) for asked in sentences.values()])[:-1]
    parts = zip(np.split(before, columns, axis=1), np.split(after, columns, axis=1), strict=True)
    for (name, asked), (training, scores) in zip(sentences.items(), parts, strict=True):
        truth = truth_table([item.film for item in test], asked)
        threshold, _ = best_threshold(training, truth_table([item.film for item in train], asked))
        row = fold.f1.setdefault(name, {"chance": chance_f1(truth), "blind": blind_f1(truth)})
        row[model] = decisions(truth, scores >= threshold).f1
        fold.scores.setdefault(name, {})[model] = scores
        fold.truth[name] = truth
    if with_twins:
        films = [item.film for item in train]
        fold.twins[model] = [
            judged
            for item in test
            for judged in judge_twins(known, item.clip, twins_of(item.film), films)
        ]


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
