"""Incremental learning: adding lessons with known words, new words or new attributes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.attributes.discriminant import (
    FAMILIAR_SHARE,
    Discriminant,
    calibrated_discriminant,
    choose_discriminant,
)
from wordsight.attributes.errors import TeachingError
from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import speech_features, split_words, trim_silence
from wordsight.attributes.grouping.assignment import (
    AttributeAssignment,
    LessonVocabulary,
    word_cooccurrences,
    word_directions,
)
from wordsight.attributes.grouping.exclusivity import Cooccurrences
from wordsight.attributes.grouping.words import WordTypes, link_synonyms
from wordsight.attributes.lessons import Lessons, Utterance
from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.recall.answers import DiscriminantRecall, LearnedWord, Recall
from wordsight.attributes.settings import AttributeSettings

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["add_lessons", "add_one", "new_word_evidence", "split_phrases"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_SPEECH_AXES = 50
_WIDTH = 1.6  # times the radius of a known word: more distant recordings are different words
_CUTS = np.linspace(0.2, 0.8, 25)  # of a phrase: where its second word may begin
_FEWEST = 3  # recordings of a new word, if another one has as many
_LEAST_PART = 0.25  # of the largest cluster of new recordings: smaller ones may be a part of it
_UNFAMILIAR = 0.6  # share of a new word's pictures that no word of its attribute fits
_CONCENTRATION = 0.3  # of a Dirichlet prior: most pictures have the same word, whichever
_RELATIVE_FIT = 0.5  # of the evidence against the worst attribute: as bad may its own one be
_HEARD_SHRINKAGE = 0.1
_RATE = 0.2  # co-occurrences within an attribute relative to chance


def add_lessons(learner: "AttributeLearner", lessons: Lessons) -> None:
    """Add lessons to a learner.

    Known words keep their attributes. A new word joins the attribute with whose words it never
    co-occurs and whose words do not fit its pictures, or forms a new one if it co-occurs with words
    of all. The space of pictures stays; discriminants are learned again from all lessons.

    Args:
        learner: A fitted learner; it is modified.
        lessons: The new lessons, described by the same features.

    Raises:
        TeachingError: If the learner recalls by linear maps, which cannot be extended.
    """
    if learner.settings.recall == "nearest-sound":
        raise TeachingError(
            "recall 'nearest-sound' cannot be extended; teach again with all lessons."
        )
    old, both, x = len(learner.texts_), *_extended_lessons(learner, lessons)
    vocabulary = _extended_vocabulary(learner, lessons, both)
    cca = word_directions(vocabulary.words, x, learner.settings)
    before = len(learner.attribution_.words)
    cooccurrences = _cooccurrences(vocabulary.words, x, learner.settings, before)
    evidence = [
        new_word_evidence(learner.recalls_, x[vocabulary.words == word])
        for word in range(before, len(vocabulary.names))
    ]
    groups = _extended_groups(learner.attribution_.words, cooccurrences, evidence)
    known = learner.attribution_
    new = [
        _meaning(learner, int(word), x[row], groups)
        for row, word in enumerate(vocabulary.words[old:], old)
    ]
    assigned = np.concatenate([known.lessons, np.array(new, dtype=np.intp)])
    attribution = AttributeAssignment(
        assigned, groups, cca, counts=learner.counts_, covers=known.covers
    )
    learner._set_lessons(both, learner.space_, x, vocabulary, attribution)


def add_one(learner: "AttributeLearner", lessons: Lessons) -> None:
    """Add a lesson within milliseconds: what takes cross-validation stays as it was.

    The discriminant of the word's attribute is learned again from all its lessons, with the
    features, shrinkage and limits that were chosen before. A recording is the known word it
    resembles most. A word that was never taught joins the attribute whose words fit its pictures
    worst, which each of its lessons reconsiders. :meth:`AttributeLearner.settle` decides everything
    anew.

    Args:
        learner: A fitted learner; it is modified.
        lessons: The lesson; several if the utterance has several words.

    Raises:
        TeachingError: If the learner does not recall by discriminants, or was taught by text alone
            and the lesson is a recording without spelling.
    """
    if not all(isinstance(recall, DiscriminantRecall) for recall in learner.recalls_):
        raise TeachingError(
            "one lesson at a time needs the recall 'discriminant'; teach again with all lessons."
        )
    old, (both, x) = len(learner.texts_), _extended_lessons(learner, lessons)
    names, words = list(learner.vocabulary_.names), learner.vocabulary_.words
    for row, text in enumerate(lessons.texts, start=old):
        if text is not None and text not in names:
            names.append(text)
        word = names.index(text) if text is not None else _heard(learner, both.speech[row])
        words = np.append(words, word)
    places = _places(learner, both)
    learner.vocabulary_ = replace(
        learner.vocabulary_, words=words, names=tuple(names), places=places
    )
    learner.x_, learner.kinds_ = x, both.kinds
    learner.speech_, learner.texts_, learner.sounds_ = both.speech, both.texts, both.sounds
    for word in np.unique(words[old:]):
        _learn_again(learner, int(word))


def split_phrases(learner: "AttributeLearner", utterances: Sequence[Utterance]) -> list[Utterance]:
    """Split recordings of two known words said in one breath ("red cup") into the two.

    A recording that is like no known word, but whose parts before and after some moment are both,
    is a phrase. Everything else stays as it is.

    Args:
        learner: A fitted learner.
        utterances: What is said of pictures.
    """
    heard = np.isfinite(learner.speech_).all(axis=1)
    if not heard.any() or not learner.speech_.shape[1] or not learner.settings.several:
        return list(utterances)
    types = WordTypes.of(learner.speech_[heard], learner.vocabulary_.words[heard])
    describe = speech_features(learner.settings.speech).describe

    def strangeness(sounds: Sequence[Sound]) -> Array:
        away = np.linalg.norm(describe(sounds)[:, None] - types.centres[None], axis=-1)
        nearest: Array = (away / np.maximum(types.radii, 1e-9)).min(axis=1)
        return nearest

    def parts(one: Sound) -> list[Sound]:
        if one.silent or strangeness([one])[0] <= _WIDTH:
            return [one]
        said = trim_silence(one)
        places = (_CUTS * len(said.samples)).astype(int)
        halves = [
            Sound(samples, said.rate)
            for place in places
            for samples in (said.samples[:place], said.samples[place:])
        ]
        worst = strangeness(halves).reshape(-1, 2).max(axis=1)
        best = int(worst.argmin())
        return halves[2 * best : 2 * best + 2] if worst[best] <= _WIDTH else [one]

    def split(utterance: Utterance) -> Utterance:
        if not isinstance(utterance, Sound):
            return utterance
        return [part for word in split_words(utterance) for part in parts(word)]

    return [split(one) for one in utterances]


def _extended_lessons(learner: "AttributeLearner", lessons: Lessons) -> tuple[Lessons, Array]:
    """Return the lessons so far with new ones, and all pictures in the space of pictures."""
    x = np.vstack([learner.x_, learner.space_.transform(lessons.kinds)])
    # Files of early learners keep no descriptions of their pictures.
    known = zip(learner.kinds_, lessons.kinds, strict=True) if learner.kinds_ else ()
    both = Lessons(
        tuple(np.vstack(pair) for pair in known),
        learner.texts_ + lessons.texts,
        _stacked(learner.speech_, lessons.speech),
        learner.sounds_ + lessons.sounds,
        learner.sources_,
    )
    return both, x


def _heard(learner: "AttributeLearner", speech: Array) -> int:
    """Return the known word that a recording resembles most."""
    words = learner.vocabulary_.words
    taught = np.flatnonzero(np.isfinite(learner.speech_).all(axis=1))
    if not len(taught) or not learner.speech_.shape[1]:
        raise TeachingError(
            "this learner was taught by text alone; add the spelling to the recording, or teach "
            "again with all lessons."
        )
    known = learner.speech_[taught]
    spread = np.maximum(known.std(axis=0), 1e-9)
    model = Discriminant(np.arange(known.shape[1]), _HEARD_SHRINKAGE)
    model.fit(known / spread, words[taught])
    return int(model.classes_[model.log_posterior((speech / spread)[None]).argmax()])


def _meaning(learner: "AttributeLearner", word: int, picture: Array, groups: Labels) -> int:
    """Return the attribute that a word names of a picture: the likeliest, if it names several."""
    also = learner.words_[word].also if word < len(learner.words_) else ()
    if not also:
        return int(groups[word])
    chances = {}
    for number in (int(groups[word]), *also):
        answer = learner.recalls_[number].answer(picture[None])
        chances[number] = float(answer.probabilities[0][answer.classes == word].sum())
    return max(chances, key=lambda number: chances[number])


def _learn_again(learner: "AttributeLearner", word: int) -> None:
    """Learn the attribute of a word again, with what was chosen for its discriminant."""
    vocabulary, attribution = learner.vocabulary_, learner.attribution_
    own = np.flatnonzero(vocabulary.words == word)
    groups = attribution.words
    before = int(groups[word]) if word < len(groups) else -1
    new = word >= learner.num_settled_
    if new:
        without = [_without(recall, word) for recall in learner.recalls_]
        group = int(new_word_evidence(without, learner.x_[own]).argmax())
    else:
        group = before
    groups = np.append(groups, group) if before < 0 else groups.copy()
    groups[word] = group
    latest = [
        _meaning(learner, int(vocabulary.words[row]), learner.x_[row], groups)
        if vocabulary.words[row] < len(groups)
        else group
        for row in range(len(attribution.lessons), len(vocabulary.words))
    ]
    lessons = np.append(attribution.lessons, np.array(latest, dtype=np.intp))
    if new:
        lessons[own] = group
    learner.attribution_ = replace(attribution, lessons=lessons, words=groups)
    for number in ({before, group} | set(lessons[own].tolist())) - {-1}:
        recall = learner.recalls_[number]
        members = learner.attribution_.taught(vocabulary.words, number)
        if isinstance(recall, DiscriminantRecall) and len(members):
            model = replace(recall.model)
            model.fit(learner.x_[members], vocabulary.words[members])
            learner.recalls_[number] = DiscriminantRecall(model)
    counts = np.bincount(vocabulary.words)
    known = [
        replace(one, attribute=int(groups[place]), count=int(counts[place]))
        for place, one in enumerate(learner.words_)
    ]
    if len(known) < len(groups):
        name = vocabulary.names[word] or f"word-{word + 1}"
        known.append(LearnedWord(name, group, len(own), True, int(own[0])))
    learner.words_ = tuple(known)


def _without(recall: Recall, word: int) -> Recall:
    """Return a recall that does not know a word."""
    if not isinstance(recall, DiscriminantRecall) or word not in recall.model.classes_:
        return recall
    model = recall.model
    kept = model.classes_ != word
    prior = model.prior_[kept] / max(float(model.prior_[kept].sum()), 1e-12)
    known = replace(model, classes_=model.classes_[kept], means_=model.means_[kept], prior_=prior)
    return DiscriminantRecall(known)


def _stacked(before: Array, after: Array) -> Array:
    width = max(before.shape[1], after.shape[1])
    if before.shape[1] and after.shape[1] and before.shape[1] != after.shape[1]:
        raise TeachingError("new recordings are described by other features than the old ones.")

    def widened(rows: Array) -> Array:
        return rows if rows.shape[1] == width else np.full((len(rows), width), np.nan)

    return np.vstack([widened(before), widened(after)])


def _extended_vocabulary(
    learner: "AttributeLearner", lessons: Lessons, both: Lessons
) -> LessonVocabulary:
    known = learner.vocabulary_
    places = _places(learner, both)
    names = list(known.names)
    words = np.concatenate([known.words, np.full(len(lessons), -1, dtype=np.intp)])
    for number, text in enumerate(lessons.texts, start=len(known.words)):
        if text is not None:
            if text not in names:
                names.append(text)
            words[number] = names.index(text)
    unspelled = np.flatnonzero(words < 0)
    if len(unspelled):
        words[unspelled] = _recognised(both.speech, words, unspelled, len(names))
    names += [None] * (int(words.max()) + 1 - len(names))
    return replace(known, words=words, names=tuple(names), places=places)


def _places(learner: "AttributeLearner", both: Lessons) -> Array:
    cca = learner.vocabulary_.cca
    if cca is None:
        if both.spoken.any():
            raise TeachingError(
                "this learner was taught by text alone; add the spelling to recordings, or teach "
                "again with all lessons."
            )
        return np.zeros((len(both), 0))
    places = np.zeros((len(both), cca.y_weights_.shape[1]))
    places[both.spoken] = cca.transform_y(both.speech[both.spoken])
    return places


def _recognised(speech: Array, words: Labels, new: Labels, num_known: int) -> Labels:
    """Return the word of each new recording: a known one, or a number from ``num_known``.

    Recordings unlike all known words are clustered; then all are assigned again, since some of a
    new word are near a known one.
    """
    taught = np.flatnonzero((words >= 0) & np.isfinite(speech).all(axis=1))
    space = PictureSpace.fit([speech[taught]], _SPEECH_AXES)
    known, points = space.transform([speech[taught]]), space.transform([speech[new]])
    model = choose_discriminant(known, words[taught], [np.arange(known.shape[1])])
    unfamiliar = np.flatnonzero(~model.known(points))
    assigned = model.classes_[model.log_posterior(points).argmax(axis=1)]
    if len(unfamiliar):
        root = np.linalg.cholesky(model.precision_)
        clusters = _clusters(points[unfamiliar] @ root, known @ root, words[taught])
        sizes = np.bincount(clusters)
        large = sizes >= max(min(_FEWEST, sizes.max()), _LEAST_PART * sizes.max())
        members = unfamiliar[large[clusters]]
        numbers = num_known + (np.cumsum(large) - 1)[clusters[large[clusters]]]
        both = np.concatenate([words[taught], numbers])
        model = calibrated_discriminant(np.vstack([known, points[members]]), both)
        assigned = model.classes_[model.log_posterior(points).argmax(axis=1)]
        assigned[members] = numbers
        # A small cluster is part of the new word it resembles, or else a word of its own.
        for small in np.flatnonzero(~large & (sizes >= _FEWEST)):
            own = unfamiliar[clusters == small]
            if np.median(assigned[own]) < num_known:
                assigned[own] = max(int(assigned.max()), num_known) + 1
    return np.asarray(assigned, dtype=np.intp)


def _clusters(points: Array, known: Array, words: Labels) -> Labels:
    """Cluster recordings of new words with the width of known words."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(points) < 2:
        return np.zeros(len(points), dtype=np.intp)
    dense = np.unique(words, return_inverse=True)[1]
    width = _WIDTH * float(np.median(WordTypes.of(known, dense).radii))
    return np.asarray(fcluster(linkage(points, "average"), width, "distance") - 1, dtype=np.intp)


def _cooccurrences(
    words: Labels, x: Array, settings: AttributeSettings, before: int
) -> Cooccurrences:
    """Count co-occurrences; of new words with known ones in what separates the known ones.

    Otherwise the peculiarities of a new word would separate its pictures from all others.
    """
    among_all = word_cooccurrences(words, x, settings)
    among_known = word_cooccurrences(words, x, settings, num_separated=before)
    known = np.arange(len(among_all.observed)) < before
    mixed = known[:, None] != known
    return Cooccurrences(
        np.where(mixed, among_known.observed, among_all.observed),
        np.where(mixed, among_known.expected, among_all.expected),
        among_all.together,
    )


def new_word_evidence(recalls: Sequence[Recall], x: Array) -> Array:
    """Return the log odds, in nats, that a new word names each attribute.

    Pictures of a word have no other word of its attribute: yellow objects have no known colour, or
    always the nearest one. In other attributes they have words like any other picture, and not
    always the same.

    Args:
        recalls: The recall of each attribute, without the new word.
        x: ``(N, D)`` the pictures of the new word.

    Returns:
        ``(A,)``; 0 for attributes without a discriminant.
    """
    evidence = np.zeros(len(recalls))
    for attribute, recall in enumerate(recalls):
        if isinstance(recall, DiscriminantRecall) and len(recall.model.classes_) > 1:
            answers = recall.answer(x)
            place = answers.probabilities.argmax(axis=1)[answers.known]
            counts = np.bincount(place, minlength=len(answers.classes))
            unfamiliar = len(x) - len(place)
            evidence[attribute] = (
                unfamiliar * np.log(_UNFAMILIAR / (1 - FAMILIAR_SHARE))
                + len(place) * np.log((1 - _UNFAMILIAR) / FAMILIAR_SHARE)
                + _concentration_evidence(counts, recall.model.prior_)
            )
    return evidence


def _concentration_evidence(counts: Labels, usual: Array) -> float:
    """Return the log odds that counts come from one word for most pictures, not usual shares."""
    spread = np.full(len(counts), _CONCENTRATION)
    one = gammaln(spread.sum()) - gammaln(spread.sum() + counts.sum())
    one += float((gammaln(spread + counts) - gammaln(spread)).sum())
    return float(one - counts @ np.log(usual))


def _extended_groups(
    groups: Labels, cooccurrences: Cooccurrences, evidence: Sequence[Array]
) -> Labels:
    """Give every new word the best attribute or a new one, in order of frequency."""
    count = len(cooccurrences.observed)
    assigned = np.concatenate([groups, np.full(count - len(groups), -1, dtype=np.intp)])
    gain = cooccurrences.observed * np.log(_RATE) + cooccurrences.expected * (1 - _RATE)
    new = np.arange(len(groups), count)
    linked = link_synonyms(cooccurrences)
    for word in new[np.argsort(-np.diag(cooccurrences.expected)[new], kind="stable")]:
        same = new[(linked[new] == linked[word]) & (assigned[new] >= 0)]
        if len(same):  # a synonym, or more recordings of one word
            assigned[word] = assigned[same[0]]
            continue
        settled = np.flatnonzero(assigned >= 0)
        sums = np.bincount(assigned[settled], weights=gain[word, settled])
        own = evidence[word - len(groups)]
        sums[: len(own)] += own
        # A word fits its own attribute badly too, since that was not learned to separate it, but
        # by far not as badly as the others.
        best = int(sums.argmax())
        fits = sums[best] >= min(_RELATIVE_FIT * sums.min(), 0.0)
        assigned[word] = best if fits else int(assigned.max()) + 1
    return assigned
