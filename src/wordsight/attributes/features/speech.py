"""Speech features: the mel cepstra of a spoken word, at a fixed number of moments."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.sounds import SPEECH_RATE, Sound, resample
from wordsight.errors import TeachingError

__all__ = [
    "SpeechFeatures",
    "fixed_frames",
    "mel_cepstrum",
    "mel_filters",
    "speech_features",
    "split_words",
    "trim_silence",
]

Array = NDArray[np.float64]
Timing = Literal["thinned", "averaged", "by-change"]

_WINDOW_SECONDS, _STEP_SECONDS = 0.025, 0.010  # a few periods of a voice; a tenth of a syllable
_EMPHASIS = 0.97  # compensates the fall of voices by 6 dB per octave
_NUM_FILTERS = 26
_TRANSFORM = 512
_LOWEST, _HIGHEST = 80.0, 8000.0  # Hz; below is hum, above nothing at 16,000 samples per second
_QUIET = 1e-3  # energy relative to the loudest moment, -30 dB, below which is silence

_LEAST_PAUSE = 0.12  # seconds; the silence before a plosive within a word is shorter
_LEAST_WORD = 0.06  # seconds; shorter noises are clicks
_PAUSE_LEVEL = 0.003  # energy relative to the loudest moment, -25 dB


@dataclass(frozen=True)
class SpeechFeatures:
    """Mel cepstra at a fixed number of moments.

    Attributes:
        num_frames: Moments per word.
        num_cepstra: Cepstral coefficients per moment.
        timing: How frames are reduced to that many moments: "thinned" takes every n-th frame, as in
            the paper; "averaged" takes the means of equal intervals; "by-change" the means of
            intervals of equal spectral change, so that a long vowel takes no more room than a short
            one.
        deltas: Whether the slope of every coefficient over time is added.
        trimmed: Whether silence at both ends is removed first.
    """

    num_frames: int = 10
    num_cepstra: int = 12
    timing: Timing = "averaged"
    deltas: bool = False
    trimmed: bool = True

    def __post_init__(self) -> None:
        if self.timing not in get_args(Timing):
            raise TeachingError(
                f"timing must be one of {', '.join(get_args(Timing))}, got {self.timing!r}."
            )
        if self.num_frames < 1 or self.num_cepstra < 1:
            raise TeachingError(
                "num_frames and num_cepstra must be 1 or more, got "
                f"{self.num_frames} and {self.num_cepstra}."
            )

    def describe(self, sounds: Sequence[Sound]) -> Array:
        """Return ``(N, num_frames x num_cepstra)``, twice as wide with deltas.

        Raises:
            TeachingError: If a recording is silent.
        """
        rows = []
        for number, sound in enumerate(sounds):
            if sound.silent:
                raise TeachingError(
                    f"recording {number} is silent; record it again or leave its pair out."
                )
            speech = trim_silence(sound) if self.trimmed else sound
            rows.append(self._row(mel_cepstrum(speech, self.num_cepstra)))
        return np.stack(rows) if rows else np.zeros((0, self.num_frames * self.num_cepstra))

    def _row(self, cepstra: Array) -> Array:
        parts = [fixed_frames(cepstra, self.num_frames, self.timing)]
        if self.deltas:
            slopes = np.gradient(cepstra, axis=0) if len(cepstra) > 1 else np.zeros_like(cepstra)
            parts.append(fixed_frames(slopes, self.num_frames, self.timing, change_of=cepstra))
        return np.concatenate([part.ravel() for part in parts])


def speech_features(features: "str | SpeechFeatures") -> SpeechFeatures:
    """Return the features "recommended" or "paper"; given features are returned as they are."""
    if isinstance(features, SpeechFeatures):
        return features
    named = {
        "recommended": SpeechFeatures(),
        "paper": SpeechFeatures(timing="thinned", trimmed=False),
    }
    if features not in named:
        raise TeachingError(
            f"there are no speech features {features!r}; known are {', '.join(named)}."
        )
    return named[features]


def fixed_frames(
    frames: Array, count: int, timing: Timing, *, change_of: Array | None = None
) -> Array:
    """Reduce T frames to a fixed number.

    Args:
        frames: ``(T, D)``.
        count: The number of frames to return.
        timing: "thinned", "averaged" or "by-change"; see :class:`SpeechFeatures`.
        change_of: ``(T, E)`` whose change counts for "by-change"; the frames by default.

    Returns:
        ``(count, D)``.
    """
    if timing == "thinned":
        return frames[np.arange(count) * len(frames) // count]
    edges = np.linspace(0, len(frames), count + 1)
    if timing == "by-change":
        changing = frames if change_of is None else change_of
        change = np.linalg.norm(np.diff(changing, axis=0, prepend=changing[:1]), axis=1)
        # Half of the pace is uniform in time: noise changes too.
        travelled = np.concatenate([[0], np.cumsum(change + change.mean() + 1e-9)])
        edges = np.interp(
            np.linspace(0, travelled[-1], count + 1), travelled, np.arange(len(frames) + 1)
        )
    sums = np.vstack([np.zeros(frames.shape[1]), np.cumsum(frames, axis=0)])
    at = np.minimum(edges.astype(int), len(frames) - 1)
    values = sums[at] + (edges - at)[:, None] * frames[at]
    return np.asarray(np.diff(values, axis=0) / np.diff(edges)[:, None])


def mel_cepstrum(sound: Sound, count: int = 12) -> Array:
    """Return the mel cepstra of a sound.

    Args:
        sound: Any rate; it is resampled to 16,000 samples per second.
        count: Number of coefficients; the zeroth, which is loudness, is omitted.

    Returns:
        ``(T, count)`` one row per 10 ms, at least one.
    """
    from scipy.fft import dct

    power = _spectra(resample(sound).samples)
    energy = power @ mel_filters().T
    # A floor 80 dB below the mean: digital silence has no logarithm.
    floor = 1e-8 * energy.mean() + 1e-20
    return np.asarray(dct(np.log(energy + floor), axis=1, norm="ortho")[:, 1 : count + 1])


@cache
def mel_filters() -> Array:
    """Return ``(26, 257)`` triangular filters, evenly spaced on the mel scale."""
    lowest, highest = (2595 * np.log10(1 + hertz / 700) for hertz in (_LOWEST, _HIGHEST))
    edges = 700 * (10 ** (np.linspace(lowest, highest, _NUM_FILTERS + 2) / 2595) - 1)
    frequencies = np.arange(_TRANSFORM // 2 + 1) * SPEECH_RATE / _TRANSFORM
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (frequencies - low) / (middle - low)
    falling = (high - frequencies) / (high - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def _spectra(samples: NDArray[np.float32]) -> Array:
    """Return ``(T, 257)`` power spectra of overlapping windows."""
    window, step = (round(s * SPEECH_RATE) for s in (_WINDOW_SECONDS, _STEP_SECONDS))
    values = samples.astype(np.float64)
    values = np.append(values[0], values[1:] - _EMPHASIS * values[:-1])
    if len(values) < window:
        values = np.pad(values, (0, window - len(values)))
    frames = np.lib.stride_tricks.sliding_window_view(values, window)[::step]
    return np.asarray(np.abs(np.fft.rfft(frames * np.hamming(window), _TRANSFORM)) ** 2)


def trim_silence(sound: Sound) -> Sound:
    """Remove silence at both ends, leaving at least a twentieth of a second."""
    window = round(_WINDOW_SECONDS * sound.rate)
    count = max(1, len(sound.samples) // window)
    frames = np.array_split(sound.samples.astype(np.float64), count)
    energy = np.array([np.mean((frame - frame.mean()) ** 2) for frame in frames])
    loud = np.flatnonzero(energy > _QUIET * energy.max())
    if not len(loud) or len(loud) == count:
        return sound
    starts = np.cumsum([0, *(len(frame) for frame in frames)])
    first, last = int(starts[loud[0]]), int(starts[loud[-1] + 1])
    if last - first < sound.rate // 20:
        return sound
    return Sound(sound.samples[first:last], sound.rate)


def split_words(sound: Sound) -> list[Sound]:
    """Split an utterance into words at its pauses.

    Args:
        sound: Words with at least an eighth of a second of quiet between them.

    Returns:
        The words in order; the sound itself if there is no pause.
    """
    frame = max(1, round(0.01 * sound.rate))
    count = len(sound.samples) // frame
    if count < 3:
        return [sound]
    blocks = sound.samples[: count * frame].astype(np.float64).reshape(count, frame)
    energy = ((blocks - blocks.mean(axis=1, keepdims=True)) ** 2).mean(axis=1)
    loud = energy > _PAUSE_LEVEL * energy.max()
    words = [(first, last) for first, last in _runs(loud) if (last - first) * 0.01 >= _LEAST_WORD]
    if len(words) < 2:
        return [sound]
    return [Sound(sound.samples[first * frame : last * frame], sound.rate) for first, last in words]


def _runs(loud: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and end of loud intervals, with short gaps closed."""
    places = np.flatnonzero(loud)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) * 0.01 > _LEAST_PAUSE)
    firsts = places[np.concatenate([[0], breaks + 1])]
    lasts = places[np.concatenate([breaks, [len(places) - 1]])] + 1
    return [(int(first), int(last)) for first, last in zip(firsts, lasts, strict=True)]
