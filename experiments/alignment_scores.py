"""How well texts that belong are separated from others, and what the printed sureness is worth."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment import Alignment, Belonging
from wordsight.alignment.belonging import absent_lines

__all__ = ["calibration_error", "found_absent", "printed_sureness", "separation"]


def printed_sureness(alignment: Alignment) -> NDArray[np.float64]:
    """Return ``(T,)`` the sureness that is printed for the span that each chunk belongs to."""
    sure = np.zeros(len(alignment.best))
    for span in alignment.spans:
        if span.happened:
            inside = (alignment.times[:, 0] >= span.start) & (alignment.times[:, 1] <= span.end)
            sure[inside & (alignment.best == span.line)] = span.confidence
    return sure


def calibration_error(sure: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """Return the expected calibration error: mean gap of sureness and accuracy, bin by bin."""
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        abs(float(sure[places == k].mean()) - float(right[places == k].mean()))
        * float((places == k).mean())
        for k in np.unique(places)
    ]
    return round(sum(gaps), 4)


def separation(right: Sequence[Belonging], wrong: Sequence[Belonging]) -> dict[str, float]:
    """Return the AUC of the gain over the clock, and the shares of texts refused.

    Args:
        right: Verdicts on texts that belong to their videos.
        wrong: Verdicts on texts that do not.
    """
    good, bad = (
        np.array([one.gain for one in group if one.gain is not None]) for group in (right, wrong)
    )
    if not good.size or not bad.size:
        return {}
    above = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    refused = [
        np.mean([one.verdict == "does not belong" for one in group]) for group in (right, wrong)
    ]
    return {
        "auc": round(float(above), 4),
        "right_refused": round(float(refused[0]), 4),
        "wrong_refused": round(float(refused[1]), 4),
        "right": len(right),
        "wrong": len(wrong),
    }


def found_absent(happens: NDArray[np.float64], true: NDArray[np.bool_]) -> dict[str, float]:
    """Return how well lines that do not happen are found.

    Args:
        happens: The probability that each line happens, NaN where it cannot be told.
        true: Which do not happen.
    """
    said = absent_lines(happens)
    both = int((said & true).sum())
    return {
        "precision": round(both / max(int(said.sum()), 1), 4),
        "recall": round(both / max(int(true.sum()), 1), 4),
        "false_alarms": round(int((said & ~true).sum()) / max(int((~true).sum()), 1), 4),
        "cannot_tell": round(float(np.isnan(happens).mean()), 4),
        "absent": int(true.sum()),
        "happening": int((~true).sum()),
    }
