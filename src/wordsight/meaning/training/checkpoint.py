"""Stopping and going on: the state of a training on disk, marked as belonging to its data."""

import hashlib
import os
import tempfile
from pathlib import Path

import numpy as np

from wordsight.errors import FormatError
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.training.corpus import Corpus
from wordsight.meaning.training.settings import TrainingSettings, settings_text
from wordsight.meaning.training.trainer import Trainer
from wordsight.records.arrays import load_npz, save_npz

__all__ = [
    "fingerprint",
    "load_checkpoint",
    "prepare_checkpoint_path",
    "read_training_history",
    "save_checkpoint",
]

_KIND, _VERSION = "WordLearnerCheckpoint", 1


def prepare_checkpoint_path(path: str | os.PathLike[str]) -> Path:
    """Make sure that a checkpoint can be written, before the work of hours depends on it.

    Its folder is made if it is not there.

    Raises:
        MeaningError: If no file can be written there.
    """
    if not isinstance(path, str | os.PathLike):
        raise MeaningError(f"a checkpoint is the name of a file, got {type(path).__name__}.")
    place = Path(path)
    if place.is_dir():
        raise MeaningError(
            f"the checkpoint {place} is a folder; name a file, such as {place / 'learning.npz'}."
        )
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as error:
        raise MeaningError(
            f"the checkpoint {place} cannot be written ({error.strerror or error}); name a file in "
            "a folder in which you may write."
        ) from error
    return place


def fingerprint(corpus: Corpus, settings: TrainingSettings) -> str:
    """Return a hash of everything the result of a training depends on."""
    digest = hashlib.sha256(settings_text(settings).encode())
    for example in corpus.examples:
        for array in (example.seen.singles, example.seen.pairs):
            digest.update(np.ascontiguousarray(array).tobytes())
        said = [sentence.meaning for sentence in (*example.sentences, *example.candidates)]
        digest.update("\n".join(said).encode())
    return digest.hexdigest()


def save_checkpoint(path: str | os.PathLike[str], training: Trainer, mark: str) -> None:
    """Write the state of a training atomically."""
    save_npz(path, _KIND, _VERSION, training.arrays(), training.values() | {"mark": mark})


def load_checkpoint(path: str | os.PathLike[str], training: Trainer, mark: str) -> bool:
    """Go on from a checkpoint if there is one.

    Returns:
        Whether there was one.

    Raises:
        MeaningError: If it belongs to other clips, sentences or settings.
        FormatError: If it is damaged.
    """
    if not Path(path).exists():
        return False
    arrays, values = load_npz(path, _KIND, _VERSION)
    if values.get("mark") != mark:
        raise MeaningError(
            f"{path} holds the state of a training on other clips, sentences or settings; remove "
            "it to start anew, or name another checkpoint."
        )
    try:
        training.resume(arrays, values)
    except (KeyError, TypeError, IndexError) as error:
        raise FormatError(f"{path} is damaged ({error}); remove it to start anew.") from error
    return True


def read_training_history(path: str | os.PathLike[str]) -> tuple[list[list[float]], list[float]]:
    """Return how far a training has come that writes a checkpoint, for those who watch it.

    Returns:
        Per restart of EM the objective after every iteration, and the objective after every epoch
        of discriminative training; nothing where no checkpoint was written yet.

    Raises:
        FormatError: If it is damaged.
    """
    if not Path(path).exists():
        return [], []
    _, values = load_npz(path, _KIND, _VERSION)
    return values["histories"], values["sharpened"]
