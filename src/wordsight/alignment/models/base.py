"""Base class of all alignment models: input checks, and alignments from posteriors.

A model says how probable each line is for each chunk; everything else follows from these posteriors
in the same way for all models.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.constraints import allowed_lines, penalties
from wordsight.alignment.models.decoding import alignment_from, best_lines
from wordsight.alignment.models.encoding import (
    AlignmentVocabulary,
    Encoded,
    Pair,
    encode,
    label_chunks,
    vocabulary_of,
)
from wordsight.alignment.records import (
    Alignment,
    Constraint,
    Dictionary,
    Instructions,
    LineSpan,
    Observed,
)
from wordsight.errors import AlignmentError, PoorEvidenceError
from wordsight.progress import Progress

__all__ = ["AlignmentModel", "require_chunks"]

Array = NDArray[np.float64]
Bias = Array | float
"""``(T, N)`` log weights that constraints add, or 0."""


class AlignmentModel(ABC):
    """An alignment model, fitted on pairs of text and video without labels.

    Attributes:
        vocabulary_: The known words and tokens.
        table_: ``(X, V)`` probability that each noun names each thing; rows sum to one.
    """

    vocabulary_: AlignmentVocabulary
    table_: Array

    def fit(
        self,
        pairs: Sequence[Pair],
        *,
        labels: Mapping[str, Sequence[LineSpan]] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from texts with their videos; several videos may share a text.

        Args:
            pairs: The texts and videos.
            labels: By video when its lines happen, where that is known; semi-Markov models and
                the ensemble learn from it, others do not look at it.
            progress: Called with the number of iterations done, or of members in an ensemble.

        Raises:
            AlignmentError: If there is no pair, or one that the model cannot align.
            PoorEvidenceError: If nothing was observed in a video.
        """
        pairs = list(pairs)
        if not pairs:
            raise AlignmentError("there is nothing to learn from: give one text with its video.")
        self.vocabulary_ = vocabulary_of(pairs)
        for _, observed in pairs:
            _check_evidence(observed)
        encoded = [self._encode(*pair) for pair in pairs]
        for number, (_, observed) in enumerate(pairs):
            if labels and observed.video_id in labels:
                true = label_chunks(observed, labels[observed.video_id])
                encoded[number] = replace(encoded[number], labels=true)
        self._fit(encoded, progress)
        return self

    def posterior(
        self,
        instructions: Instructions,
        observed: Observed,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> Array:
        """Return ``(T, N)`` probabilities that each chunk belongs to each line.

        One minus the sum of a row is the probability that the chunk belongs to none.
        """
        encoded, bias = self._prepared(instructions, observed, constraints)
        return self._posterior(encoded, bias)

    def predict(
        self,
        instructions: Instructions,
        observed: Observed,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> NDArray[np.int64]:
        """Return ``(T,)`` the line of each chunk, -1 for none."""
        encoded, bias = self._prepared(instructions, observed, constraints)
        return self._best(encoded, bias, self._posterior(encoded, bias))

    def align(
        self,
        instructions: Instructions,
        observed: Observed,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> Alignment:
        """Return the line of each chunk, with spans and boundaries.

        Args:
            instructions: The text.
            observed: What was observed in the video.
            constraints: User constraints.

        Raises:
            ConstraintError: If constraints contradict each other or the text.
            PoorEvidenceError: If too little was observed.
            AlignmentError: If the model is not fitted or cannot align these two.
        """
        encoded, bias = self._prepared(instructions, observed, constraints)
        if not constraints:
            self._check_order(encoded, observed.video_id)
        posterior = self._posterior(encoded, bias)
        best = self._best(encoded, bias, posterior)
        alignment = alignment_from(instructions, observed, posterior, best)
        self._check_confidence(alignment, instructions.name)
        return alignment

    @property
    def dictionary_(self) -> Dictionary:
        """The learned dictionary: noun to thing to probability, the most probable thing first.

        Nouns that cannot name a thing are omitted.
        """
        known = self._vocabulary()
        return {
            noun: {
                known.things[column]: float(row[column])
                for column in np.argsort(-row, kind="stable")
                if row[column] > 1e-6
            }
            for noun, row in zip(known.nouns, self.table_, strict=True)
            if row.any()
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder; only a saved model is ever replaced."""
        from wordsight.alignment.storage import save_aligner

        save_aligner(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, **given: Any) -> Self:
        """Read a fitted model of this kind from a folder.

        Args:
            path: The folder.
            given: Settings that cannot be saved: ``features``, if the model has any.
        """
        from wordsight.alignment.storage import load_aligner

        model = load_aligner(path, **given)
        if not isinstance(model, cls):
            raise AlignmentError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}.")
        return model

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        return {"table": self.table_}

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage."""
        self.vocabulary_, self.table_ = vocabulary, arrays["table"]

    def settings(self) -> dict[str, Any]:
        """Return the constructor arguments by name."""
        names = getattr(self, "__dataclass_fields__", {})
        return {name: getattr(self, name) for name in names}

    @abstractmethod
    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None: ...

    @abstractmethod
    def _posterior(self, encoded: Encoded, bias: Bias) -> Array: ...

    def _best(self, encoded: Encoded, bias: Bias, posterior: Array) -> NDArray[np.int64]:
        return best_lines(posterior, encoded.steps)

    def _check_order(self, encoded: Encoded, video_id: str) -> None:
        """Refuse a video whose observations do not depend on time; by default none."""
        return

    def _check_confidence(self, alignment: Alignment, text_name: str) -> None:
        """Refuse an uncertain alignment; by default none."""
        return

    def _encode(self, instructions: Instructions, observed: Observed) -> Encoded:
        return encode(instructions, observed, self._vocabulary())

    def _prepared(
        self, instructions: Instructions, observed: Observed, constraints: Sequence[Constraint]
    ) -> tuple[Encoded, Bias]:
        _check_evidence(observed)
        encoded = self._encode(instructions, observed)
        if not encoded.things.tokens.any():
            raise PoorEvidenceError(
                f"{observed.video_id} shows none of the things this model knows; fit the model on "
                "this video, or observe it in the same way as the training videos."
            )
        return encoded, penalties(allowed_lines(constraints, instructions, observed))

    def _vocabulary(self) -> AlignmentVocabulary:
        if not hasattr(self, "vocabulary_"):
            raise AlignmentError(f"this {type(self).__name__} is not fitted: call fit first.")
        return self.vocabulary_


def require_chunks(encoded: Encoded, needed: int, model: str) -> None:
    """Refuse a video with fewer chunks than a model needs.

    Raises:
        AlignmentError: If there are fewer.
    """
    if encoded.num_chunks < needed:
        raise AlignmentError(
            f"{model} needs at least {needed} chunks for {encoded.num_lines} lines in "
            f"{encoded.num_steps} steps, got {encoded.num_chunks}; cut the video into shorter "
            "chunks, group lines into steps, or use a model that may skip lines."
        )


def _check_evidence(observed: Observed) -> None:
    if not any(chunk.things for chunk in observed.chunks):
        raise PoorEvidenceError(
            f"nothing is touched or moves in {observed.video_id}, so it cannot be aligned; check "
            "that the camera shows the hands, or give observations in a file."
        )
