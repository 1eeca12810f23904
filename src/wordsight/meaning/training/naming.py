"""Nouns that a detector has a class for: "table" and "dining table", "woman" and "person".

What is always there with a word need not be what it means: a screen on the wall is in every clip of
a table that the detector misses. A detector that has a class of the noun's name settles it. Then
the noun means things of that class, and of classes that the detector takes the same things for: it
sees cars from above as telephones, too, in the very same boxes.

A noun without a class is none of the things that are spoken of beside it by the name of a class:
where milk is spoken of, too, "cereal" is not the milk, however often both are seen together.
"""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningWarning
from wordsight.language.english.words import BROADER
from wordsight.meaning.features import ClipView
from wordsight.perception.detectors.suppression import box_iou

__all__ = ["class_of", "contrasted_labels", "noun_labels", "unseen_nouns"]

Mask = NDArray[np.bool_]

_SAME_BOX = 0.5  # least intersection over union of two boxes of one thing
_CONFUSED = 0.25  # least share of a class's boxes that are also boxes of the noun's class

_PARTS = frozenset(["door", "lid", "cap", "handle", "drawer", "cover", "edge", "side", "leg"])
"""Parts that a detector sees as the whole: "microwave door" is a microwave."""

_PEOPLE = "man woman boy girl child kid baby lady guy someone people human worker player cook"
_KINDS = {
    **dict.fromkeys(_PEOPLE.split(), "person"),
    # Parts, where the detector has no class of their own.
    **{"hand": "person", "arm": "person"},
    **BROADER,
}


def class_of(noun: str, classes: Iterable[str]) -> str | None:
    """Return the class that a noun names, if any: its own name, or one that ends in it.

    Args:
        noun: Name of a noun in the lexicon.
        classes: The classes of a detector.

    Examples:
        >>> class_of("table", ["tv", "dining table"])
        'dining table'
        >>> class_of("microwave-door", ["tv", "microwave"])
        'microwave'
        >>> class_of("women", ["tv"]) is None
        True
    """
    words = {name: name.lower().replace("-", " ").split() for name in classes}
    for wanted in _spellings(noun.lower().replace("-", " ")):
        ends = [name for name, own in words.items() if own[-len(wanted) :] == wanted]
        if ends:
            return min(ends, key=lambda name: len(words[name]))
    return None


def _spellings(noun: str) -> list[list[str]]:
    """Return the names under which a detector may know a noun, the likeliest first."""
    irregular = {"women": "woman", "men": "man", "children": "child"}
    single = irregular.get(noun, noun.removesuffix("s"))
    names = [noun, single, *(_KINDS[one] for one in (noun, single) if one in _KINDS)]
    whole, _, part = single.rpartition(" ")
    if part in _PARTS:
        names.append(whole)
    return [name.split() for name in names if name]


def noun_labels(
    nouns: Iterable[str], views: Sequence[ClipView], labels: Sequence[str]
) -> dict[str, Mask]:
    """Return which labels each noun may have, for nouns that a detector has a class for.

    Args:
        nouns: Names of nouns.
        views: The training clips; where none has a box of the noun's class, the noun is left
            free.
        labels: The labels of the vocabulary, which are those that were seen.
    """
    places = _places_of(nouns, views, labels)
    if not places:
        return {}
    taken_for = _confusions(views, labels) >= _CONFUSED
    return {noun: taken_for[:, place] for noun, place in places.items()}


def contrasted_labels(
    nouns: Iterable[str],
    views: Sequence[ClipView],
    mentioned: Sequence[Collection[str]],
    labels: Sequence[str],
) -> dict[str, Mask]:
    """Return which labels nouns without a class may have: not those of nouns said beside them.

    Args:
        nouns: Names of nouns.
        views: The training clips.
        mentioned: Per clip the words of its sentences.
        labels: The labels of the vocabulary.
    """
    places = _places_of(nouns, views, labels)
    said: dict[str, set[str]] = {}
    for view, words in zip(views, mentioned, strict=True):
        said.setdefault(view.clip.video_id, set()).update(words)
    found = {}
    for noun in set(nouns) - places.keys():
        videos = [words for words in said.values() if noun in words]
        may = np.ones(len(labels), dtype=bool)
        for other, place in places.items():
            if 2 * sum(other in words for words in videos) > len(videos):
                may[place] = False
        if may.any() and not may.all():
            found[noun] = may
    return found


def _places_of(
    nouns: Iterable[str], views: Sequence[ClipView], labels: Sequence[str]
) -> dict[str, int]:
    """Return the label of each noun that a detector has a class for, where it was seen."""
    classes = sorted({name for view in views for name in view.clip.detections.label_names})
    index = {label: number for number, label in enumerate(labels)}
    named = {noun: index.get(class_of(noun, classes) or "") for noun in nouns}
    return {noun: place for noun, place in named.items() if place is not None}


def unseen_nouns(
    labels_of: Mapping[str, Mask],
    views: Sequence[ClipView],
    mentioned: Sequence[Collection[str]],
    labels: Sequence[str],
) -> list[str]:
    """Return the nouns whose things are mostly not seen where they are spoken of, with a warning.

    Args:
        labels_of: Which labels each noun may have; nouns without a class are not checked.
        views: The training clips.
        mentioned: Per clip the words of its sentences.
        labels: The labels of the vocabulary.
    """
    found = []
    for noun, may in labels_of.items():
        called = {label for label, one in zip(labels, may, strict=True) if one}
        seen = [
            not called.isdisjoint(_labels_seen(view))
            for view, words in zip(views, mentioned, strict=True)
            if noun in words
        ]
        if seen and 2 * sum(seen) < len(seen):
            found.append(noun)
            warnings.warn(
                f"the detector sees no {noun} in {len(seen) - sum(seen)} of {len(seen)} clips that "
                "are said to have one: sentences are judged there by their other words, and no box "
                f"is drawn for the {noun}.",
                MeaningWarning,
                stacklevel=4,
            )
    return found


def _labels_seen(view: ClipView) -> set[str]:
    names = view.clip.detections.label_names
    return {names[index] for index in np.unique(view.labels[view.present])}


def _confusions(views: Sequence[ClipView], labels: Sequence[str]) -> NDArray[np.float64]:
    """Return ``(L, L)`` the share of boxes of one label (row) that another (column) has, too.

    Two labels are of one thing in a frame if their boxes are the same, and in a track if the
    detector changes its mind: then the other label has at least a tenth of the track.
    """
    index = {label: number for number, label in enumerate(labels)}
    shared = np.zeros((len(labels), len(labels)))
    total = np.full(len(labels), 1e-9)
    for view in views:
        names = view.clip.detections.label_names
        numbers = np.array([*(index.get(name, -1) for name in names), -1])[view.labels]
        tracks = [
            np.bincount(column[seen], minlength=len(labels))
            for column, seen in zip(numbers.T, view.present.T, strict=True)
        ]
        usual = np.array([view.tracked & (counts >= counts.sum() / 10) for counts in tracks])
        for boxes, own, present in zip(view.boxes, numbers, view.present, strict=True):
            here, lasting = own[present], usual[present]
            same = box_iou(boxes[present], boxes[present]) >= _SAME_BOX
            total += np.bincount(here, minlength=len(labels))
            for row, label in enumerate(here):
                also = lasting[row].copy()
                also[here[same[row]]] = True
                shared[label, also] += 1
    np.fill_diagonal(shared, total)
    return np.asarray(shared / total[:, None])
