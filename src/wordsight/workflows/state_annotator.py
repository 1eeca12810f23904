"""Rules of states for things in videos: which facts hold of what is detected, frame by frame."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text

if TYPE_CHECKING:
    from wordsight.records import Clip
    from wordsight.states import StateModel
    from wordsight.states.rules.facts import StateFeatures

__all__ = ["KINDS_NAME", "StateAnnotator", "load_state_annotator"]

KINDS_NAME = "kinds.json"
"""Beside a saved model: the kind of each label, as told when it was learned."""

_MOST_ARGUMENTS = 2  # of a fact that words can look at


def load_state_annotator(folder: Path) -> "StateAnnotator":
    """Read rules of states, with the kinds of labels they were learned for.

    Raises:
        WordsightError: If there are none, or they are damaged.
    """
    from wordsight.states import StateModel

    if not folder.exists():
        raise WordsightError(
            f"there is no learned model of states at {folder}; make one with `wordsight states "
            "learn`, or name its folder."
        )
    return StateAnnotator(StateModel.load(folder), _kinds(folder / KINDS_NAME))


@dataclass(frozen=True)
class StateAnnotator:
    """Whoever infers states of clips, so that learned words can look at them.

    Attributes:
        model: The rules.
        kinds: The kind of each label; a label is its own kind where it is not told.
    """

    model: "StateModel"
    kinds: dict[str, str] = field(default_factory=dict)

    @cached_property
    def predicates(self) -> dict[str, int]:
        """Per predicate that words can look at how many arguments it has."""
        known = self.model.vocabulary_.predicates
        return {p.name: p.arity for p in known if 1 <= p.arity <= _MOST_ARGUMENTS}

    @property
    def steady(self) -> bool:
        """Whether the shake of the camera is taken out before anything is measured."""
        return bool(self.model.notes_.get("steady"))

    def facts(self, clip: "Clip") -> dict[str, NDArray[np.int8]]:
        """Return which facts hold in a clip whose detections have identities.

        Returns:
            Per predicate ``(T, J)`` or ``(T, J, J)`` whether it holds of each detection: 1 or 0,
            -1 where that is not known. Nothing where nothing is followed.
        """
        from wordsight.states import StateObservations, TrackSmoothing
        from wordsight.states.rules.facts import state_columns

        seen = clip.detections
        if seen.ids is None or not (seen.ids[seen.mask] >= 0).any():
            return {}
        measured = StateObservations.from_clip(
            clip,
            kinds=self.kinds,
            vocabulary=self.model.vocabulary_,
            smoothing=TrackSmoothing(steady=self.steady),
        )
        told = self.model.predict(measured)
        columns = state_columns(told, [thing.name for thing in measured.objects], clip.times)
        known = seen.mask & (seen.ids >= 0)
        things = np.searchsorted(np.unique(seen.ids[known]), seen.ids)
        return {
            name: _laid_out(columns, name, arity, np.where(known, things, -1))
            for name, arity in self.predicates.items()
        }

    def save(self, folder: Path, *, overwrite: bool = True) -> None:
        """Write the rules and the kinds of labels to a folder."""
        self.model.save(folder, overwrite=overwrite)
        text = json.dumps(self.kinds, ensure_ascii=False, indent=2)
        write_text(folder / KINDS_NAME, text + "\n")


def _laid_out(
    columns: "StateFeatures", name: str, arity: int, things: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Return a table over things as one over detections; ``things`` is ``(T, J)``, -1 for none."""
    table = columns.table(name, arity)
    table = np.where(np.isnan(table), -1, table).astype(np.int8)
    frames, known = np.arange(len(things))[:, None], things >= 0
    if arity == 1:
        return np.where(known, table[frames, things], -1).astype(np.int8)
    both = known[:, :, None] & known[:, None]
    values = table[frames[:, :, None], things[:, :, None], things[:, None]]
    return np.where(both, values, -1).astype(np.int8)


def _kinds(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {str(label): str(kind) for label, kind in told.items()}
    except (ValueError, AttributeError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); restore it, or remove it and give --kind LABEL=KIND."
        ) from None
