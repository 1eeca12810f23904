"""Checkpoints: the state of a training on disk, with a fingerprint of its data and settings."""

import hashlib
import os
import tempfile
from pathlib import Path

import numpy as np

from wordsight.errors import FormatError, MeaningError
from wordsight.meaning.training.corpus import Corpus
from wordsight.meaning.training.settings import TrainingSettings, settings_text
from wordsight.meaning.training.trainer import Trainer
from wordsight.records.arrays import load_npz, save_npz

__all__ = [
    "OtherTrainingError",
    "fingerprint",
    "load_checkpoint",
    "prepare_checkpoint_path",
    "read_training_history",
    "save_checkpoint",
]

_KIND, _VERSION = "WordLearnerCheckpoint", 1


class OtherTrainingError(MeaningError):
    """Raised when a checkpoint belongs to a training on other clips, sentences or settings."""


def prepare_checkpoint_path(path: str | os.PathLike[str]) -> Path:
    """Check that a checkpoint can be written, and create its folder.

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
        for array in (example.observation.singles, example.observation.pairs):
            digest.update(np.ascontiguousarray(array).tobytes())
        meanings = [sentence.meaning for sentence in (*example.sentences, *example.candidates)]
        digest.update("\n".join(meanings).encode())
    return digest.hexdigest()


def save_checkpoint(path: str | os.PathLike[str], trainer: Trainer, mark: str) -> None:
    """Write the state of a training atomically."""
    save_npz(path, _KIND, _VERSION, trainer.arrays(), trainer.values() | {"mark": mark})


def load_checkpoint(path: str | os.PathLike[str], trainer: Trainer, mark: str) -> bool:
    """Resume from a checkpoint if there is one.

    Returns:
        Whether there was one.

    Raises:
        OtherTrainingError: If it belongs to other clips, sentences or settings.
        FormatError: If it is damaged.
    """
    if not Path(path).exists():
        return False
    arrays, values = load_npz(path, _KIND, _VERSION)
    if values.get("mark") != mark:
        raise OtherTrainingError(
            f"{path} holds the state of a training on other clips, sentences or settings; remove "
            "it to start over, or name another checkpoint."
        )
    try:
        trainer.resume(arrays, values)
    except (KeyError, TypeError, IndexError) as error:
        raise FormatError(f"{path} is damaged ({error}); remove it to start over.") from error
    return True


def read_training_history(path: str | os.PathLike[str]) -> tuple[list[list[float]], list[float]]:
    """Return the progress of a training that writes a checkpoint.

    Returns:
        Per restart of EM the objective after every iteration, and the objective after every epoch
        of discriminative training; empty where no checkpoint was written yet.

    Raises:
        FormatError: If it is damaged.
    """
    if not Path(path).exists():
        return [], []
    _, values = load_npz(path, _KIND, _VERSION)
    return values["histories"], values["sharpened"]
