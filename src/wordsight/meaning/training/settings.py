"""How a learner trains: everything that can be chosen, with what worked on real detections."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Literal

from wordsight.meaning.checks import (
    require_instance,
    require_integer,
    require_number,
    require_one_of,
)
from wordsight.meaning.features import FeatureSet
from wordsight.meaning.model.lexicon import ViewSettings
from wordsight.meaning.training.discriminative import GradientSettings, GrowthSettings
from wordsight.meaning.training.em import WordSmoothing

__all__ = ["FAITHFUL", "ON_FILM", "TrainingSettings", "settings_text"]


@dataclass(frozen=True)
class TrainingSettings:
    """Everything about training but the data.

    Attributes:
        features: The feature set, or its name.
        phases: States of words that have several, such as verbs; what the features say if None.
        clusters: Cut learned features into so many clusters instead of by their own schemes.
        trembling: Whether boxes come from a detector and tremble, so that what counts as still is
            measured instead of taken from good tracks.
        background: What words are compared with: the corpus as it is ("empirical"), or "uniform",
            as in the paper's Eq. 10.
        looking: How clips are looked at.
        restarts: How often EM starts anew.
        choose_by: How the best restart is told: by the conditional likelihood of true sentences
            among candidates, or by the likelihood of the corpus, as the paper does.
        tempered_iterations: EM iterations in which ratios of words with several states are raised
            to the power ``temper``, so that they do not drown the nouns.
        temper: That power.
        iterations: EM iterations after those.
        tolerance: Within tempered iterations and within those after them, EM stops as soon as the
            objective rises by less than this; None runs all iterations.
        two_phase: Whether tempered iterations use only sentences of nouns and verbs.
        smoothing: Imagined counts.
        noise: Probability that a sentence has nothing to do with its clip.
        presence: Whether frequent nouns start at labels that are in sight whenever they are said.
        left_to_right: Whether words go through their states in order; else any state may come
            first and any may follow any, for what repeats itself, such as waving.
        forced_end: Whether an event must have reached its last state when its clip ends; only
            where states come in order.
        durations: Whether how long a clip lasts is evidence for its verb.
        habits: Whether which nouns usually fill a verb's roles is evidence, where sentences about
            one clip are compared.
        believed: Whether a sentence is judged by how likely each of its words is true, instead of
            by its log ratio per frame.
        calibrated: Whether scales and biases per verb are fitted.
        discriminative: How to train against false sentences: by gradient, by growth
            transformations, or not at all.
        gradient: Settings of the gradient.
        growth: Settings of growth.
        most_candidates: How many near misses compete with a true sentence, where candidates are
            not given.
        random_state: Seed of everything random.
    """

    features: str | FeatureSet = "recommended"
    phases: int | None = None
    clusters: int | None = None
    trembling: bool = False
    background: Literal["empirical", "uniform"] = "empirical"
    looking: ViewSettings = field(default_factory=ViewSettings)
    restarts: int = 3
    choose_by: Literal["conditional", "likelihood"] = "conditional"
    tempered_iterations: int = 15
    temper: float = 0.2
    iterations: int = 5
    tolerance: float | None = None
    two_phase: bool = False
    smoothing: WordSmoothing = field(default_factory=WordSmoothing)
    noise: float = 0.02
    presence: bool = True
    left_to_right: bool = True
    forced_end: bool = True
    durations: bool = True
    habits: bool = True
    believed: bool = True
    calibrated: bool = True
    discriminative: Literal["gradient", "growth"] | None = "gradient"
    gradient: GradientSettings = field(default_factory=GradientSettings)
    growth: GrowthSettings = field(default_factory=GrowthSettings)
    most_candidates: int = 40
    random_state: int = 0

    def __post_init__(self) -> None:
        require_one_of("background", self.background, ("empirical", "uniform"))
        require_one_of("choose_by", self.choose_by, ("conditional", "likelihood"))
        require_one_of("discriminative", self.discriminative, ("gradient", "growth", None))
        kinds = {"looking": ViewSettings, "smoothing": WordSmoothing}
        kinds |= {"gradient": GradientSettings, "growth": GrowthSettings}
        for name, kind in kinds.items():
            require_instance(name, getattr(self, name), kind)
        counts = {"restarts": 1, "tempered_iterations": 0, "iterations": 0}
        for name, least in (counts | {"most_candidates": 0, "random_state": 0}).items():
            require_integer(name, getattr(self, name), least=least)
        require_integer("clusters", self.clusters, least=2, none=True)
        require_integer("phases", self.phases, least=3, none=True)
        require_number("temper", self.temper, above=0.0)
        require_number("tolerance", self.tolerance, least=0.0, none=True)
        require_number("noise", self.noise, least=0.0, below=1.0)


ON_FILM = TrainingSettings(trembling=True, phases=4)
"""For whole videos and what a detector finds in them. An event is then only part of its clip: what
was before and what comes after take a state each, and two are left for the event itself, such as
bending down and rising again. Clips that are cut to their events do with three."""

FAITHFUL = TrainingSettings(
    features="paper",
    background="uniform",
    restarts=2,
    choose_by="likelihood",
    tempered_iterations=0,
    temper=1.0,
    iterations=20,
    smoothing=WordSmoothing(1e-2, 1e-2, 1e-2),
    noise=0.0,
    presence=False,
    forced_end=False,
    durations=False,
    habits=False,
    believed=False,
    calibrated=False,
    discriminative=None,
)
"""The method as published: Table 2's features, Eqs. 4 to 10, the best restart by likelihood."""


# Saved lexicons and checkpoints hold settings as text, with the names of the first layout; settings
# that came later are written only where they are used.
_SAVED_CLASS_NAMES = {
    "ViewSettings": "Looking",
    "TrackPrior": "Sight",
    "WordSmoothing": "Smoothing",
}
_LATER_SETTINGS = ("tolerance",)


def settings_text(settings: TrainingSettings) -> str:
    """Return settings as the text that saved lexicons and checkpoints keep of them."""
    return _saved_text(settings)


def _saved_text(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_saved_text(v)}" for key, v in value.items()) + "}"
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    name = type(value).__name__
    parts = (
        f"{field.name}={_saved_text(getattr(value, field.name))}"
        for field in fields(value)
        if field.name not in _LATER_SETTINGS or getattr(value, field.name) is not None
    )
    return f"{_SAVED_CLASS_NAMES.get(name, name)}({', '.join(parts)})"
