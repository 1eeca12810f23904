"""Mel cepstra: the shape of the spectrum of speech, hundred times a second, as a dozen numbers."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.sounds import SPEECH_RATE, Sound, resampled

__all__ = ["mel_cepstrum", "mel_filters", "speech_part"]

Array = NDArray[np.float64]

_WINDOW_SECONDS, _STEP_SECONDS = 0.025, 0.010  # a few periods of a voice; a tenth of a syllable
_EMPHASIS = 0.97  # lifts high frequencies, which voices make weaker by 6 dB per octave
_NUM_FILTERS = 26
_TRANSFORM = 512
_LOWEST, _HIGHEST = 80.0, 8000.0  # Hz; below is hum, above nothing at 16,000 samples per second
_QUIET = 1e-3  # energy beside the loudest moment's, 30 dB, below which nothing is being said


def mel_cepstrum(sound: Sound, count: int = 12) -> Array:
    """Return the cepstra of a sound.

    Args:
        sound: Any rate; it is brought to 16,000 samples per second.
        count: Coefficients, from the first on; the zeroth, which is loudness, is left out.

    Returns:
        ``(T, count)`` one row per 10 ms, at least one.
    """
    from scipy.fft import dct

    power = _spectra(resampled(sound).samples)
    energy = power @ mel_filters().T
    # A floor 80 dB below the sound's mean: digital silence has no logarithm.
    floor = 1e-8 * energy.mean() + 1e-20
    return np.asarray(dct(np.log(energy + floor), axis=1, norm="ortho")[:, 1 : count + 1])


@cache
def mel_filters() -> Array:
    """Return ``(26, 257)`` triangles that are evenly spaced on the ear's scale of pitch."""
    edges = _hertz(np.linspace(_mels(_LOWEST), _mels(_HIGHEST), _NUM_FILTERS + 2))
    frequencies = np.arange(_TRANSFORM // 2 + 1) * SPEECH_RATE / _TRANSFORM
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (frequencies - low) / (middle - low)
    falling = (high - frequencies) / (high - middle)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def speech_part(sound: Sound) -> Sound:
    """Cut silence off both ends, leaving at least a twentieth of a second.

    The quiet before and after a word says how it was cut, not what it is.
    """
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


def _spectra(samples: NDArray[np.float32]) -> Array:
    """Return ``(T, 257)`` power spectra of overlapping windows."""
    window, step = (round(s * SPEECH_RATE) for s in (_WINDOW_SECONDS, _STEP_SECONDS))
    values = samples.astype(np.float64)
    values = np.append(values[0], values[1:] - _EMPHASIS * values[:-1])
    if len(values) < window:
        values = np.pad(values, (0, window - len(values)))
    frames = np.lib.stride_tricks.sliding_window_view(values, window)[::step]
    return np.asarray(np.abs(np.fft.rfft(frames * np.hamming(window), _TRANSFORM)) ** 2)


def _mels(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def _hertz(mels: Array) -> Array:
    return np.asarray(700 * (10 ** (mels / 2595) - 1))
