"""Word models as named arrays and back, for files and checkpoints."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.meaning.word import WordModel

__all__ = ["arrays_of_words", "words_from_arrays"]


def arrays_of_words(words: Mapping[str, WordModel], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return every table of every word under a name of its own."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, word in enumerate(words.values()):
        place = f"{prefix}{number:04d}"
        arrays[f"{place}.initial"] = word.initial
        arrays[f"{place}.transition"] = word.transition
        arrays[f"{place}.final"] = word.final
        for slot, table in enumerate(word.emissions):
            arrays[f"{place}.emission{slot:03d}"] = table
    return arrays


def words_from_arrays(
    templates: Mapping[str, WordModel], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> dict[str, WordModel]:
    """Fill words of the right shape, in the same order, with saved tables."""
    words = {}
    for number, (entry, word) in enumerate(templates.items()):
        place = f"{prefix}{number:04d}"
        try:
            words[entry] = replace(
                word,
                initial=np.asarray(arrays[f"{place}.initial"], dtype=np.float64),
                transition=np.asarray(arrays[f"{place}.transition"], dtype=np.float64),
                final=np.asarray(arrays[f"{place}.final"], dtype=np.float64),
                emissions=tuple(
                    _shaped(arrays[f"{place}.emission{slot:03d}"], table)
                    for slot, table in enumerate(word.emissions)
                ),
            )
        except (KeyError, ValueError) as error:
            raise FormatError(
                f"the saved tables of {entry!r} are missing or of another shape ({error}); the "
                "file is damaged or belongs to another lexicon."
            ) from error
    return words


def _shaped(array: NDArray[Any], like: NDArray[np.float64]) -> NDArray[np.float64]:
    if array.shape != like.shape:
        raise ValueError(f"expected {like.shape}, got {array.shape}")
    return np.asarray(array, dtype=np.float64)
