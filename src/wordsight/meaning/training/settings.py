"""Settings of training, with defaults that worked on real detections."""

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Literal

from wordsight.meaning.checks import (
    require_instance,
    require_integer,
    require_number,
    require_one_of,
)
from wordsight.meaning.features import FeatureSet
from wordsight.meaning.model.lexicon import ViewSettings
from wordsight.meaning.model.storage import SAVED_NAMES
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.scorer import TrackPrior

__all__ = [
    "FAITHFUL",
    "ON_CUT_CLIPS",
    "ON_FILM",
    "GradientSettings",
    "GrowthSettings",
    "TrainingSettings",
    "WordSmoothing",
    "settings_text",
]


@dataclass(frozen=True)
class WordSmoothing:
    """Pseudo-counts of the M-step.

    Attributes:
        emission: Pseudo-counts per state and feature of words with several states, distributed
            like the background.
        static: The same for words of one state, such as nouns.
        transition: Pseudo-counts of each possible transition.
        shared: Share of the pseudo-counts of words with several states that, after the last
            iteration, is distributed like the words of the same part of speech instead of like the
            background, so that a word that is said once is not less sure than others of what all
            have in common.
    """

    emission: float = 5.0
    static: float = 5.0
    transition: float = 1.0
    shared: float = 0.0

    def of(self, word: WordModel) -> float:
        """Return the pseudo-counts of the emissions of a word."""
        return self.static if word.num_states == 1 else self.emission


@dataclass(frozen=True)
class GradientSettings:
    """Settings of discriminative training by gradient.

    Attributes:
        epochs: Passes over the training clips.
        rate: Step size of Adam.
        batch: Clips per step.
        penalty: L2 penalty of logits towards the start, per clip.
    """

    epochs: int = 15
    rate: float = 0.03
    batch: int = 64
    penalty: float = 1e-3


@dataclass(frozen=True)
class GrowthSettings:
    """Settings of discriminative training by growth transformations.

    Attributes:
        iterations: Maximum number of steps that are tried; the paper needs 20 to 30.
        tolerance: Stop when the objective rises by less than this.
        damping: Factor of the damping after a failed step.
        least: Minimum of the damping, and of probabilities.
        posterior: Whether the true sentence is among its own rivals: safer, bounded by 0.
    """

    iterations: int = 30
    tolerance: float = 1e-3
    damping: float = 2.0
    least: float = 1e-3
    posterior: bool = True


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of :class:`~wordsight.meaning.WordLearner`.

    Attributes:
        features: The feature set, or its name.
        phases: Number of states of words that have several, such as verbs; as the feature set has
            it if None.
        weights: Features and powers of their ratios, where not 1.
        clusters: Bin features by this many clusters instead of their own schemes; if "own", by as
            many as those have bins.
        jitter: Whether boxes come from a detector and jitter, so that the limit of stillness is
            estimated instead of that of good tracks.
        background: Distribution that words are compared with: that of the corpus ("empirical"), or
            "uniform", as in Eq. 10 of the paper.
        view_settings: How frames and objects of clips are selected.
        restarts: Number of starts of EM.
        choose_by: Criterion for the best restart: the conditional likelihood of true sentences
            among candidates, or the likelihood of the corpus, as in the paper.
        tempered_iterations: EM iterations in which ratios of words with several states are raised
            to the power ``temper``, so that they do not dominate the nouns.
        temper: That power.
        iterations: EM iterations after those.
        tolerance: Within tempered iterations and within those after them, EM stops as soon as the
            objective rises by less than this; None runs all iterations.
        two_phase: Whether tempered iterations use only sentences of nouns and verbs.
        smoothing: Pseudo-counts.
        noise: Probability that a sentence has nothing to do with its clip.
        presence: Whether frequent nouns start at labels that are visible whenever they are used.
        left_to_right: Whether words go through their states in order; else any state may come
            first and any may follow any, for repetitive events such as waving.
        skips: Whether words that go through their states in order may begin in any of them and
            leave some out.
        forced_end: Whether the last state must be reached when the clip ends; only where states
            come in order.
        durations: Whether the duration of a clip is evidence for its verb.
        role_priors: Whether the nouns that usually fill a verb's roles are evidence, where
            sentences about one clip are compared.
        belief: Whether a sentence is judged by the probability that each of its words is true,
            instead of its log ratio per frame.
        calibrated: Whether scales and biases per verb are fitted.
        discriminative: Training against false sentences: by gradient, by growth transformations,
            or not at all.
        gradient: Settings of the gradient.
        growth: Settings of growth transformations.
        max_candidates: Number of near misses that compete with a true sentence, where candidates
            are not given.
        random_state: Seed of all random numbers.
        looks: Whether nouns learn what they look like where boxes have no classes; else regions
            keep the labels of a codebook.
        class_names: Whether a noun that the detector has a class for means things of that class.
        cut: Whether clips are cut to their events, so that no state is the time around them.
        senses: Whether a verb gets two senses where that tells left-out clips better, see
            :mod:`~wordsight.meaning.training.senses`.
    """

    features: str | FeatureSet = "recommended"
    phases: int | None = None
    weights: tuple[tuple[str, float], ...] = ()
    clusters: int | Literal["own"] | None = None
    jitter: bool = False
    background: Literal["empirical", "uniform"] = "empirical"
    view_settings: ViewSettings = field(default_factory=ViewSettings)
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
    skips: bool = False
    forced_end: bool = True
    durations: bool = True
    role_priors: bool = True
    belief: bool = True
    calibrated: bool = True
    discriminative: Literal["gradient", "growth"] | None = "gradient"
    gradient: GradientSettings = field(default_factory=GradientSettings)
    growth: GrowthSettings = field(default_factory=GrowthSettings)
    max_candidates: int = 40
    random_state: int = 0
    looks: bool = True
    class_names: bool | None = None
    cut: bool = False
    senses: bool = False

    def __post_init__(self) -> None:
        require_one_of("background", self.background, ("empirical", "uniform"))
        require_one_of("choose_by", self.choose_by, ("conditional", "likelihood"))
        require_one_of("discriminative", self.discriminative, ("gradient", "growth", None))
        kinds = {"view_settings": ViewSettings, "smoothing": WordSmoothing}
        kinds |= {"gradient": GradientSettings, "growth": GrowthSettings}
        for name, kind in kinds.items():
            require_instance(name, getattr(self, name), kind)
        counts = {"restarts": 1, "tempered_iterations": 0, "iterations": 0}
        for name, least in (counts | {"max_candidates": 0, "random_state": 0}).items():
            require_integer(name, getattr(self, name), least=least)
        if self.clusters != "own":
            require_integer("clusters", self.clusters, least=2, none=True)
        require_integer("phases", self.phases, least=2, none=True)
        require_number("temper", self.temper, above=0.0)
        for name, weight in self.weights:
            require_number(f"the weight of {name}", weight, above=0.0)
        require_number("tolerance", self.tolerance, least=0.0, none=True)
        require_number("noise", self.noise, least=0.0, below=1.0)


ON_FILM = TrainingSettings(jitter=True, phases=4, class_names=True)
"""Settings for whole videos and detected boxes. An event is then only part of its clip: the time
before and the time after take a state each, which leaves two for the event itself, such as bending
down and rising again."""

_PLACES = (
    *("distance", "gap", "share-inside", "horizontal-offset", "vertical-offset", "size-ratio"),
    *("head-distance", "hand-distance", "hand-to-head"),
)
_SIZES = ("aspect", "area")

ON_CUT_CLIPS = replace(
    ON_FILM,
    cut=True,
    phases=5,
    weights=(
        *((name, 0.5) for name in _PLACES),
        ("label", 0.3),
        *((name, 0.1) for name in _SIZES),
    ),
    smoothing=WordSmoothing(shared=0.7),
)
"""Settings for clips that are cut to their events. Most frames then show the event, and where
things are hardly differs from one frame to the next, what the detector takes them for, their size
and shape even less: ten frames of a hand on a bottle are not ten times the evidence of one. Five
states make a verb show all of its phases: lowered bottles do not rest from the first frame on. Such
clips are often few, so verbs share what all of them have in common."""

FAITHFUL = TrainingSettings(
    features="paper",
    clusters="own",
    background="uniform",
    view_settings=ViewSettings(
        rate=None,
        min_visible=0.0,
        participants="boxes",
        # A detector that always answers needs no unseen objects; this one may miss.
        track_prior=TrackPrior(unseen=1e-4, label_change=0.0),
    ),
    restarts=2,
    choose_by="likelihood",
    tempered_iterations=0,
    temper=1.0,
    iterations=40,
    tolerance=1e-3,
    smoothing=WordSmoothing(1e-2, 1e-2, 1e-2),
    noise=0.0,
    presence=False,
    skips=True,
    forced_end=False,
    durations=False,
    role_priors=False,
    belief=False,
    calibrated=False,
    discriminative=None,
    looks=False,
)
"""The method as published: Table 2's features in clustered bins, all frames, tracks, participants
and words summed in one lattice (Eqs. 4 to 10), states that never go back, the best restart by
likelihood. The authors had the two surest boxes of each detector."""

# Missing in files of the first layout, written only where they differ from this.
_LATER_SETTINGS = {
    "tolerance": None,
    "looks": True,
    "class_names": None,
    "parts": None,
    "skips": False,
    "weights": (),
    "cut": False,
    "shared": 0.0,
    "senses": False,
}


def settings_text(settings: TrainingSettings) -> str:
    """Return settings as text for saved lexicons and checkpoints, in the names of their layout."""
    return _saved_text(settings)


def _saved_text(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_saved_text(v)}" for key, v in value.items()) + "}"
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    parts = (
        f"{SAVED_NAMES.get(name, name)}={_saved_text(each)}"
        for name, each in values.items()
        if name not in _LATER_SETTINGS or each != _LATER_SETTINGS[name]
    )
    kind = type(value).__name__
    return f"{SAVED_NAMES.get(kind, kind)}({', '.join(parts)})"
