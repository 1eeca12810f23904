"""Recordings: reading, writing, resampling and joining sounds of one channel."""

import os
import warnings
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import SoundError, SoundWarning
from wordsight.files import atomic_path

__all__ = ["SPEECH_RATE", "Sound", "join_sounds", "read_sound", "resample", "write_sound"]

SPEECH_RATE = 16_000
"""Samples per second to which speech is resampled."""

_MAX_SECONDS = 600
_CLIPPED_SHARE = 0.02  # of the samples at full scale; more is audible distortion
_SILENT = 1e-4  # of full scale: the noise of a recorder
_FULL_SCALE = 32767
_UNREADABLE = (
    "{} cannot be read as sound ({}): it is damaged or in an unsupported format. Restore it from a "
    "copy, convert it to 16-bit WAV, or leave it out."
)


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of sound.

    Attributes:
        samples: ``(N,)`` values between -1 and 1.
        rate: Samples per second.
    """

    samples: NDArray[np.float32]
    rate: int

    def __post_init__(self) -> None:
        samples = np.asarray(self.samples, dtype=np.float32)
        if samples.ndim != 1 or not len(samples):
            raise SoundError(f"a sound must be a row of samples, got an array {samples.shape}.")
        if not np.isfinite(samples).all():
            raise SoundError("a sound contains values that are not finite; record it again.")
        if self.rate < 1000:
            raise SoundError(f"speech needs 1000 samples per second or more, got {self.rate}.")
        object.__setattr__(self, "samples", samples)

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate

    @property
    def silent(self) -> bool:
        """Whether it is silent."""
        return float(np.abs(self.samples - self.samples.mean()).max()) < _SILENT

    @property
    def clipped(self) -> bool:
        """Whether its peaks are clipped."""
        return float(np.mean(np.abs(self.samples) >= 0.999)) > _CLIPPED_SHARE


def read_sound(path: str | os.PathLike[str]) -> Sound:
    """Read a recording; channels are averaged.

    WAV files of 8 to 32 bits need no extra package; FLAC, Ogg and other formats need soundfile.

    Args:
        path: The file.

    Returns:
        The sound at its recorded rate.

    Raises:
        SoundError: If the file is missing, damaged, too long or in an unsupported format.
    """
    source = Path(path)
    if not source.is_file():
        raise SoundError(f"{source} does not exist; check the name.")
    samples, rate = _read_wav(source) if _is_wav(source) else _read_other(source)
    if samples.ndim == 2:
        samples = samples.mean(axis=1)
    if not len(samples):
        raise SoundError(f"{source} contains no samples; record it again.")
    if rate <= 0:
        raise SoundError(f"{source} claims {rate} samples per second; record it again.")
    if len(samples) > _MAX_SECONDS * rate:
        raise SoundError(
            f"{source} lasts {len(samples) / rate:.0f} s; a word or a short utterance was "
            f"expected, {_MAX_SECONDS} s at most. Cut it first."
        )
    sound = Sound(samples.astype(np.float32), int(rate))
    if sound.clipped:
        warnings.warn(
            f"{source.name} is clipped: it was recorded too loud and may be misrecognised.",
            SoundWarning,
            stacklevel=2,
        )
    return sound


def write_sound(path: str | os.PathLike[str], sound: Sound, *, overwrite: bool = False) -> None:
    """Write a 16-bit WAV file atomically.

    Raises:
        SoundError: If the name does not end in .wav, or the file exists and may not be replaced.
    """
    target = Path(path)
    if target.suffix.lower() != ".wav":
        raise SoundError(f"{target.name} must end in .wav.")
    values = np.clip(np.round(sound.samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE)
    try:
        with (
            atomic_path(target, overwrite=overwrite) as temporary,
            wave.open(str(temporary), "wb") as file,
        ):
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(sound.rate)
            file.writeframes(values.astype("<i2").tobytes())
    except FileExistsError as error:
        raise SoundError(str(error)) from error


def resample(sound: Sound, rate: int = SPEECH_RATE) -> Sound:
    """Return the sound at another rate."""
    if sound.rate == rate:
        return sound
    from scipy.signal import resample_poly

    shared = gcd(sound.rate, rate)
    samples = resample_poly(sound.samples, rate // shared, sound.rate // shared)
    return Sound(samples.astype(np.float32), rate)


def join_sounds(sounds: Sequence[Sound], *, pause: float = 0.15) -> Sound:
    """Concatenate sounds.

    Args:
        sounds: At least one, of any rates; the result has the highest rate.
        pause: Seconds of silence between them.

    Raises:
        SoundError: If there is none.
    """
    if not sounds:
        raise SoundError("there is no recording to play: the words were taught as text.")
    rate = max(sound.rate for sound in sounds)
    gap = np.zeros(round(pause * rate), dtype=np.float32)
    pieces = [piece for sound in sounds for piece in (gap, resample(sound, rate).samples)]
    return Sound(np.concatenate(pieces[1:]), rate)


def _is_wav(source: Path) -> bool:
    with source.open("rb") as file:
        head = file.read(12)
    return head[:4] in (b"RIFF", b"RIFX") and head[8:] == b"WAVE"


def _read_wav(source: Path) -> tuple[NDArray[np.float64], int]:
    from scipy.io import wavfile

    try:
        with warnings.catch_warnings():
            # Unknown chunks are harmless.
            warnings.simplefilter("ignore", wavfile.WavFileWarning)
            rate, samples = wavfile.read(source)
    except Exception as error:  # a damaged header can raise anything
        raise SoundError(_UNREADABLE.format(source, error)) from error
    if samples.dtype == np.uint8:
        return (samples.astype(np.float64) - 128) / 128, rate
    if np.issubdtype(samples.dtype, np.integer):
        return samples.astype(np.float64) / (np.iinfo(samples.dtype).max + 1.0), rate
    return samples.astype(np.float64), rate


def _read_other(source: Path) -> tuple[NDArray[np.float64], int]:
    try:
        import soundfile
    except ImportError:
        raise SoundError(
            f"{source} is not a WAV file; other formats need soundfile, which the extra `speech` "
            "installs (pip install 'wordsight[speech]'). Or convert it to WAV."
        ) from None
    try:
        samples, rate = soundfile.read(source, dtype="float64")
    except (RuntimeError, OSError, ValueError) as error:
        raise SoundError(_UNREADABLE.format(source, error)) from error
    return np.asarray(samples), int(rate)
