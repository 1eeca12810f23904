"""Features of the objects of a video, frame by frame: the observations that rules compare.

Computed from boxes, tracks or a clip whose detections have identities. Short gaps are
filled, boxes are smoothed by a running median, and all features of the vocabulary are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import StateError
from wordsight.records import Clip
from wordsight.records.arrays import frozen_array
from wordsight.states.grounding.features import (
    Motion,
    derived_features,
    pair_features,
    single_features,
)
from wordsight.states.grounding.stabilise import (
    TrackSmoothing,
    named_boxes,
    prepare_boxes,
)
from wordsight.states.rules.vocabulary import ANY_KIND, StateVocabulary

__all__ = ["StateObservations", "TrackSmoothing", "TrackedObject", "compare"]

Array = NDArray[np.float64]
_EQUAL = 1e-6  # values nearer than this are equal


@dataclass(frozen=True, order=True)
class TrackedObject:
    """An object of a video.

    Attributes:
        name: Name in facts, unique in the video.
        kind: Its kind, such as ``hand`` or ``block``.
    """

    name: str
    kind: str = ANY_KIND


@dataclass(frozen=True, eq=False, repr=False)
class StateObservations:
    """Features of the objects of one video at every frame.

    Attributes:
        video_id: The video.
        times: ``(T,)`` seconds.
        objects: The n objects, in the order of the axes of the features.
        features: Per name ``(T, n)`` or, for pairs, ``(T, n, n)``; NaN where an object is not
            visible or the feature is not defined.
        present: ``(T, n)`` whether the object is visible.
    """

    video_id: str
    times: Array
    objects: tuple[TrackedObject, ...]
    features: dict[str, Array]
    present: NDArray[np.bool_]

    def __post_init__(self) -> None:
        names = [thing.name for thing in self.objects]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise StateError(
                f"two objects of {self.video_id} are called {twice[0]!r}; give each a name of its "
                f"own, for example {twice[0]}-1 and {twice[0]}-2."
            )
        times = frozen_array(self.times, np.float64)
        if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise StateError(f"times of {self.video_id} must be finite and strictly increasing.")
        n, shape = len(names), (len(times), len(names))
        if self.present.shape != shape:
            raise StateError(f"present must be (T, n) = {shape}, got {self.present.shape}.")
        for name, values in self.features.items():
            if values.shape not in (shape, (*shape, n)):
                raise StateError(
                    f"the feature {name} of {self.video_id} must be {shape} or {(*shape, n)}, got "
                    f"{values.shape}."
                )
        object.__setattr__(self, "times", times)

    @classmethod
    def from_boxes(
        cls,
        video_id: str,
        times: ArrayLike,
        objects: Sequence[TrackedObject],
        boxes: ArrayLike,
        *,
        vocabulary: StateVocabulary | None = None,
        smoothing: TrackSmoothing | None = None,
        causal: bool = False,
    ) -> "StateObservations":
        """Compute the features of objects given by their boxes.

        Args:
            video_id: The video.
            times: ``(T,)`` seconds.
            objects: The n objects.
            boxes: ``(T, n, 4)`` corners in pixels, or ``(T, n, P, 4)`` for objects of several
                parts, such as a person's hands; NaN or an empty box where it is not visible.
            vocabulary: Declares features beyond the built-in ones.
            smoothing: How boxes are smoothed and gaps filled.
            causal: Whether features may not depend on later frames, as for live video.
        """
        moments = np.asarray(times, dtype=np.float64)
        array = np.array(boxes, dtype=np.float64)
        if array.ndim == 3:
            array = array[:, :, None]
        if array.shape[:2] != (len(moments), len(objects)) or array.shape[3:] != (4,):
            raise StateError(
                f"boxes must be (T, n, 4) or (T, n, parts, 4) with T = {len(moments)} and n = "
                f"{len(objects)}, got {np.shape(boxes)}."
            )
        chosen = smoothing or TrackSmoothing()
        ready = prepare_boxes(array, moments, chosen, causal)
        motion = _motion(moments, ready, objects, causal=causal, steady=chosen.steady)
        features = single_features(motion) | pair_features(motion)
        names = vocabulary or StateVocabulary()
        features |= derived_features(names.causal() if causal else names, features, motion)
        present = ~np.isnan(motion.whole[..., 0])
        if chosen.hold:
            present[:] = True  # present before it is first visible, though without values
        return cls(video_id, moments, tuple(objects), features, present)

    @classmethod
    def from_clip(
        cls,
        clip: Clip,
        *,
        kinds: Mapping[str, str] | None = None,
        vocabulary: StateVocabulary | None = None,
        smoothing: TrackSmoothing | None = None,
        causal: bool = False,
    ) -> "StateObservations":
        """Compute the features of the tracked objects of a clip.

        Args:
            clip: A clip whose detections have ``ids``; an object is named by its most frequent
                label, with its number appended where several share one.
            kinds: The kind of each label; by default the label itself.
            vocabulary: Declares features beyond the built-in ones.
            smoothing: How boxes are smoothed and gaps filled.
            causal: Whether features may not depend on later frames.
        """
        names, boxes = named_boxes(clip)
        things = [TrackedObject(name, (kinds or {}).get(label, label)) for name, label in names]
        return cls.from_boxes(
            clip.video_id,
            clip.times,
            things,
            boxes,
            vocabulary=vocabulary,
            smoothing=smoothing,
            causal=causal,
        )

    def measured(self, feature: str, places: tuple[int, ...]) -> Array:
        """Return ``(T,)`` a feature of some of the objects, given by their numbers."""
        if feature not in self.features:
            raise StateError(
                f"{self.video_id} has no feature {feature!r}; measure it with the vocabulary that "
                "declares it, or learn without features of later frames."
            )
        where: tuple[Any, ...] = (slice(None), *places)
        return np.asarray(self.features[feature][where], dtype=np.float64)

    def with_feature(self, name: str, values: ArrayLike) -> "StateObservations":
        """Return the observations with one more feature, ``(T, n)`` or ``(T, n, n)``."""
        added = self.features | {name: np.asarray(values, dtype=np.float64)}
        return StateObservations(self.video_id, self.times, self.objects, added, self.present)

    def renamed(self, names: Mapping[str, str]) -> "StateObservations":
        """Return the observations with other names of objects."""
        things = tuple(TrackedObject(names.get(t.name, t.name), t.kind) for t in self.objects)
        return StateObservations(self.video_id, self.times, things, self.features, self.present)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        names = ", ".join(thing.name for thing in self.objects)
        return f"StateObservations({self.video_id!r}, {len(self)} frames, {names})"


def compare(values: Array, operator: str, other: Array | float) -> NDArray[np.bool_]:
    """Return where a comparison, ``<=``, ``>=`` or ``=``, holds."""
    # NaN compares false in each way: a rule does not apply where a value is missing.
    if operator == "<=":
        return np.asarray(values <= other, dtype=np.bool_)
    if operator == ">=":
        return np.asarray(values >= other, dtype=np.bool_)
    return np.asarray(np.abs(values - other) <= _EQUAL, dtype=np.bool_)


def _motion(
    times: Array, boxes: Array, objects: Sequence[TrackedObject], *, causal: bool, steady: bool
) -> Motion:
    seen = np.logical_not(np.isnan(boxes[..., 0])).any(axis=2)
    low = np.where(np.isnan(boxes[..., :2]), np.inf, boxes[..., :2]).min(axis=2)
    high = np.where(np.isnan(boxes[..., 2:]), -np.inf, boxes[..., 2:]).max(axis=2)
    whole = np.where(np.expand_dims(seen, 2), np.concatenate([low, high], axis=-1), np.nan)
    kinds = np.unique([thing.kind for thing in objects], return_inverse=True)[1]
    areas = np.prod(whole[..., 2:] - whole[..., :2], axis=-1)
    return Motion(times, boxes, whole, areas, kinds, causal, steady)
