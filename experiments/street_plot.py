"""The ROC curves of the street experiment as a picture: how many true pairs at what price."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.street_folds import Fold
from wordsight.evaluation import RocCurve, roc_curve
from wordsight.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_curves", "save_curves"]

_COLOURS = {
    "as_published": "#999999",
    "discriminative": "#56b4e9",
    "joint": "#0072b2",
    "hand": "#e69f00",
    "hand_fitted": "#d55e00",
}
_RATES = np.linspace(0, 1, 401)


def save_curves(folds: Sequence[Fold], path: str | os.PathLike[str]) -> None:
    """Draw the curves into a file, PNG, SVG or PDF by its ending."""
    figure = plot_curves(folds)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=100, facecolor="white")


def plot_curves(folds: Sequence[Fold]) -> "Figure":
    """Draw one panel per set of sentences, each model's curve averaged over the folds."""
    from matplotlib.figure import Figure

    names = list(folds[0].truth)
    figure = Figure(figsize=(4.2 * len(names), 4.0), layout="constrained")
    for panel, name in enumerate(names):
        axes = figure.add_subplot(1, len(names), panel + 1)
        axes.plot([0, 1], [0, 1], color="#c9ccd1", linewidth=1, linestyle="--")
        for model, colour in _COLOURS.items():
            curves = _curves(folds, name, model) if model in folds[0].scores[name] else []
            if curves:
                mean = np.mean([_rates(curve) for curve in curves], axis=0)
                area = float(np.mean([curve.area for curve in curves]))
                axes.plot(_RATES, mean, color=colour, label=f"{model} ({area:.3f})")
        axes.set_title(f"{name}: {_pairs(folds, name)} pairs", fontsize=10)
        axes.set_xlabel("false-positive rate")
        axes.set_ylabel("true-positive rate")
        axes.set_xlim(-0.01, 1)
        axes.set_ylim(0, 1.01)
        axes.legend(loc="lower right", frameon=False, fontsize=9, title="area under the curve")
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _curves(folds: Sequence[Fold], name: str, model: str) -> list[RocCurve]:
    return [
        roc_curve(fold.scores[name][model], fold.truth[name])
        for fold in folds
        if fold.truth[name].any() and not fold.truth[name].all()
    ]


def _rates(curve: RocCurve) -> np.ndarray:
    return np.array([curve.true_positive_rate_at(float(rate)) for rate in _RATES])


def _pairs(folds: Sequence[Fold], name: str) -> int:
    return sum(fold.truth[name].size for fold in folds)
