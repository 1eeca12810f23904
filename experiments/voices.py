"""Synthetic voices that speak single words, by eSpeak NG through ctypes.

The engine is GPL and comes with the extra ``voices``; it runs once per process and is only asked
for here. Every recording differs a little in speed, pitch and noise, as people's do.
"""

import ctypes
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes import Sound
from wordsight.errors import WordsightError

__all__ = ["Speaker", "VoiceError"]

_SYNCHRONOUS, _CHARACTERS, _UTF8 = 2, 1, 1
_RATE, _PITCH, _RANGE = 1, 3, 4
_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)
# Text, its size, where to begin, how that is counted, where to end, flags, and two we leave out.
_SYNTH = (
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_uint,
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_uint,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class VoiceError(WordsightError):
    """No voice can speak here."""


class _Engine:
    """The engine, started: its functions, its sampling rate, and what it has said."""

    def __init__(self) -> None:
        try:
            import espeakng_loader
        except ImportError:
            raise VoiceError(
                "synthetic voices need the extra `voices`: pip install 'wordsight[voices]'."
            ) from None
        self.library = ctypes.CDLL(espeakng_loader.get_library_path())
        self.library.espeak_Synth.argtypes = _SYNTH
        data = espeakng_loader.get_data_path().encode()
        self.rate = int(self.library.espeak_Initialize(_SYNCHRONOUS, 0, data, 0))
        if self.rate <= 0:
            raise VoiceError("the voice engine did not start; reinstall the extra `voices`.")
        self.pieces: list[NDArray[np.int16]] = []
        # Kept as an attribute: the engine holds on to the address.
        self._callback = _CALLBACK(self._take)
        self.library.espeak_SetSynthCallback(self._callback)

    def _take(self, samples: "ctypes._Pointer[ctypes.c_short]", count: int, _: int) -> int:
        if count > 0:
            self.pieces.append(np.ctypeslib.as_array(samples, (count,)).astype(np.int16))
        return 0


@lru_cache(maxsize=1)
def _started() -> _Engine:
    """Return the engine, started once: starting it again frees what it still looks at."""
    return _Engine()


class Speaker:
    """eSpeak NG in this process.

    Raises:
        VoiceError: If the extra ``voices`` is missing or the engine does not start.
    """

    def __init__(self) -> None:
        self._engine = _started()
        self.rate = self._engine.rate

    def say(
        self,
        text: str,
        *,
        voice: str,
        speed: int = 160,
        pitch: int = 45,
        noise: float = 0.0,
        random: np.random.Generator | None = None,
    ) -> Sound:
        """Speak a word.

        Args:
            text: The word, in the script of the voice's language.
            voice: The engine's name of the voice, such as ``ja+m3``.
            speed: Words per minute.
            pitch: 0 to 99.
            noise: Standard deviation of added noise, of full scale.
            random: Where noise comes from.
        """
        library = self._engine.library
        if library.espeak_SetVoiceByName(voice.encode()) != 0:
            raise VoiceError(f"the engine has no voice {voice!r}.")
        for parameter, value in ((_RATE, speed), (_PITCH, pitch), (_RANGE, 40)):
            library.espeak_SetParameter(parameter, int(value), 0)
        self._engine.pieces = []
        words = text.encode()
        library.espeak_Synth(words, len(words) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
        library.espeak_Synchronize()
        if not self._engine.pieces:
            raise VoiceError(f"the voice {voice!r} said nothing for {text!r}.")
        samples = np.concatenate(self._engine.pieces).astype(np.float32) / 32768
        if noise and random is not None:
            samples = samples + noise * random.normal(size=len(samples)).astype(np.float32)
        return Sound(samples, self.rate)

    def recordings(
        self, text: str, voices: Sequence[str], count: int, random: np.random.Generator
    ) -> list[Sound]:
        """Speak a word ``count`` times in each voice, never quite the same."""
        return [
            self.say(
                text,
                voice=voice,
                speed=int(random.integers(135, 190)),
                pitch=int(random.integers(35, 56)),
                noise=float(random.uniform(0.001, 0.006)),
                random=random,
            )
            for voice in voices
            for _ in range(count)
        ]
