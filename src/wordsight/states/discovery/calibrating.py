"""What videos held out from their rules say: how right the rules are, and how far to trust them.

The temperature of beliefs and how probable a change is are chosen to make the truth of these videos
most probable, fact by fact and moment by moment; see :mod:`wordsight.states.search.beliefs`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.states.beliefs import BeliefCalibration, calibration
from wordsight.states.discovery.training import TrainingVideo
from wordsight.states.search.beliefs import BeliefSettings, candidate_states, posterior

__all__ = ["judge_held_out"]

Array = NDArray[np.float64]

_TEMPERATURES = tuple(np.geomspace(0.5, 64.0, 15).round(3).tolist())
_CHANGES = (1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0)


def judge_held_out(
    videos: Sequence[TrainingVideo], weights: Sequence[Array], transition_cost: float
) -> dict[str, Any]:
    """Return notes on videos that were held out from their rules.

    Args:
        videos: The videos.
        weights: Per video the weights of its rules.
        transition_cost: K, as chosen on these videos.

    Returns:
        ``held_out``: the share of their sequences that is right, and of their facts; ``beliefs``:
        temperature, change and calibration, unless labels give only the order of states.
    """
    right, facts = [], []
    for video, own in zip(videos, weights, strict=True):
        values = video.predict(own, transition_cost)
        right.append(video.is_right(values))
        if video.timed and values.size:
            facts.append(float((values == video.truth).mean()))
    notes: dict[str, Any] = {
        "held_out": {
            "sequences": round(float(np.mean(right)), 4),
            "facts": round(float(np.mean(facts)), 4) if facts else None,
        }
    }
    timed = [(v, w) for v, w in zip(videos, weights, strict=True) if v.timed and v.truth.size]
    if timed:
        notes["beliefs"] = _fitted(timed, transition_cost)
    return notes


def _fitted(pairs: Sequence[tuple[TrainingVideo, Array]], transition_cost: float) -> dict[str, Any]:
    states = [
        video.states
        if video.states is not None
        else candidate_states(
            video.grounding, video.grounding.costs(own), transition_cost, BeliefSettings()
        )
        for video, own in pairs
    ]
    truth = np.concatenate([video.truth.ravel() for video, _ in pairs])

    def measured(settings: BeliefSettings) -> BeliefCalibration:
        said = [
            posterior(video.grounding, transition_cost, settings, weights=own, states=known)
            for (video, own), known in zip(pairs, states, strict=True)
        ]
        return calibration(np.concatenate([one.facts().ravel() for one in said]), truth)

    tried = [
        (measured(settings), settings)
        for settings in (BeliefSettings(t, c) for t in _TEMPERATURES for c in _CHANGES)
    ]
    best, settings = min(tried, key=lambda row: row[0].log_loss)
    return {
        "temperature": settings.temperature,
        "change": settings.change,
        "error": round(best.error, 4),
        "log_loss": round(best.log_loss, 4),
    }
