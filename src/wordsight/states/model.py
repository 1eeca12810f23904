"""`StateModel`: learns weighted rules from labelled videos and infers the states of others."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine
from wordsight.errors import StateError
from wordsight.progress import Progress
from wordsight.records.model_folder import ModelFolder
from wordsight.states.beliefs import BeliefSettings, StateBeliefs, posterior
from wordsight.states.discovery.learning import (
    LearningTask,
    StateLearningSettings,
    learn,
    training_vocabulary,
)
from wordsight.states.discovery.training import PerceptronSettings
from wordsight.states.grounding.grounder import Grounder, Grounding
from wordsight.states.grounding.observations import StateObservations
from wordsight.states.rules.facts import StateSequence
from wordsight.states.rules.rule import Rule, format_rules, parse_rules
from wordsight.states.rules.vocabulary import ObjectFeature, Predicate, Recipe, StateVocabulary
from wordsight.states.search.inference import InferenceSettings, infer
from wordsight.states.search.segments import SegmentDecoder, SegmentSearchSettings

__all__ = [
    "StateModel",
    "check_hard_rules",
    "check_pairs",
    "check_training",
    "load_model",
    "save_model",
    "state_sequence",
]


# 2: notes may require that tracks are stabilised; version 1 would ignore that. 3: merging.
_FOLDER = ModelFolder("StateModel", 3, "a state model", "restore it or learn again")

Model = TypeVar("Model", bound="StateModel")


def save_model(
    model: "StateModel", path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to a folder.

    Args:
        model: The model.
        path: The folder to create.
        overwrite: Whether an existing model may be replaced; other folders are never replaced.

    Raises:
        FileExistsError: If the folder exists and may not be replaced.
    """
    _FOLDER.write(
        path,
        _described(model),
        texts={"rules.txt": format_rules(model.rules_), "card.md": _card(model)},
        overwrite=overwrite,
    )


def load_model(kind: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_model` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    described, _ = _FOLDER.read(path)
    with _FOLDER.restoring(path):
        rules = parse_rules((Path(path) / "rules.txt").read_text(encoding="utf-8"))
        return _restored(kind, described, rules)


def _described(model: "StateModel") -> dict[str, Any]:
    return {
        "transition_cost": model.transition_cost_,
        "predicates": [asdict(predicate) for predicate in model.vocabulary_.predicates],
        "features": [asdict(feature) for feature in model.vocabulary_.features],
        "inference": asdict(model.inference),
        "random_state": model.random_state,
        "notes": model.notes_,
    }


def _restored(kind: type[Model], described: dict[str, Any], rules: tuple[Rule, ...]) -> Model:
    vocabulary = StateVocabulary(
        tuple(Predicate(p["name"], tuple(p["types"])) for p in described["predicates"]),
        tuple(map(_feature, described["features"])),
    )
    inference = dict(described["inference"])
    inference["search"] = SegmentSearchSettings(**inference["search"])
    model = kind(
        rules,
        float(described["transition_cost"]),
        vocabulary,
        inference=InferenceSettings(**inference),
        random_state=int(described["random_state"]),
    )
    model.notes_ = dict(described["notes"])
    return model


def _feature(values: dict[str, Any]) -> ObjectFeature:
    recipe = values["recipe"]
    return ObjectFeature(
        values["name"],
        tuple(values["types"]),
        bool(values["causal"]),
        None if recipe is None else Recipe(**recipe),
        values["meaning"],
    )


def _card(model: "StateModel") -> str:
    hard = [rule for rule in model.rules_ if rule.hard]
    soft = sorted((r for r in model.rules_ if not r.hard), key=lambda rule: -rule.weight)
    lines = ["# A state model", "", "Made by Wordsight. It says which facts hold when:", ""]
    lines += [f"- {p.name}({', '.join(p.types)})" for p in model.vocabulary_.predicates]
    lines += [
        "",
        f"Every change of state costs {model.transition_cost_:g}. There are {len(model.rules_)} "
        "rules, all in rules.txt. A rule costs its weight at every moment at which it is broken.",
        "",
        "## Rules that always hold",
        "",
        *[f"    {rule}" for rule in hard],
        "",
        "## The strongest rules",
        "",
        *[f"    {rule}" for rule in soft[:20]],
        "",
        "## Limits",
        "",
        "Thresholds are in pixels and seconds of the videos it was learned from; another camera or",
        "another distance may need learning anew.",
    ]
    return "\n".join(lines) + "\n"


def check_pairs(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    groups: Sequence[object] | None = None,
) -> None:
    """Refuse an empty list of videos, or lists of different lengths."""
    if not len(observations):
        raise StateError("there is no video to learn from; give at least one with its states.")
    if len(observations) != len(states) or (groups is not None and len(groups) != len(states)):
        count = "" if groups is None else f" and {len(groups)} groups"
        raise StateError(
            f"every video needs its states: got {len(observations)} videos, {len(states)} label "
            f"sequences{count}."
        )


def check_training(
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    groups: Sequence[object] | None,
    *,
    timed: bool,
) -> None:
    """Refuse videos that cannot be learned from.

    Args:
        observations: The videos.
        states: Their labels.
        groups: Which videos belong together, or ``None``.
        timed: Whether every frame must be labelled.
    """
    check_pairs(observations, states, groups)
    for video, labels in zip(observations, states, strict=True):
        if video.video_id != labels.video_id:
            raise StateError(
                f"the labels of {labels.video_id} are given for the video {video.video_id}; put "
                "both lists in the same order."
            )
        if not len(video) or not len(labels):
            raise StateError(f"{video.video_id} has no frames or no labels; leave it out.")
        if timed and not (len(video) == len(labels) and np.array_equal(video.times, labels.times)):
            raise StateError(
                f"to discover rules every frame needs a label, but {video.video_id} has "
                f"{len(video)} frames and {len(labels)} labels at other times; create them with "
                "StateSequence.from_segments(video_id, observations.times, ...)."
            )
    _check_repeated(states)


def check_hard_rules(
    rules: Sequence[Rule],
    observations: Sequence[StateObservations],
    states: Sequence[StateSequence],
    vocabulary: StateVocabulary,
) -> None:
    """Refuse labels that violate a hard rule, which no weights could reproduce.

    Args:
        rules: The rules; only hard ones are checked.
        observations: The videos.
        states: Their labels; those that give only the order of states are not checked.
        vocabulary: The predicates and features of the rules.
    """
    grounder = Grounder([rule for rule in rules if rule.hard], vocabulary)
    for video, labels in zip(observations, states, strict=True):
        if not (grounder.rules and np.array_equal(video.times, labels.times)):
            continue
        grounding = grounder.ground(video)
        rows, instances = np.nonzero(grounding.broken(labels.table(grounding.facts)))
        if len(rows):
            binding = grounding.bindings[int(instances[0])]
            names = ", ".join(f"{variable} = {name}" for variable, name in binding.items())
            rule = grounding.rules[int(grounding.rule_of[instances[0]])]
            raise StateError(
                f"the labels of {video.video_id} contradict the rule '{rule}' at "
                f"{video.times[rows[0]]:.2f} s ({names}); correct the labels, or give the rule a "
                "weight instead of 'hard'."
            )


def _check_repeated(states: Sequence[StateSequence]) -> None:
    """Refuse a video that occurs twice with different labels."""
    known: dict[str, StateSequence] = {}
    for labels in states:
        before = known.setdefault(labels.video_id, labels)
        if before is not labels and before.states() != labels.states():
            raise StateError(
                f"{labels.video_id} occurs twice with labels that contradict each other; keep the "
                "right ones."
            )


_WEIGHING = PerceptronSettings(iterations=20, step=0.02, transition_step=50.0, held_out=0.25)
"""How weights of given rules are learned: a hundred wrong frames change a weight by 2."""


class StateModel:
    r"""States of videos by weighted Horn rules and a cost K of every change of state.

    The states of a video are those of least cost
    :math:`\sum_t \sum_r w_r [\text{rule } r \text{ violated at } t] + K \cdot \text{changes}`,
    found by dynamic programming over segments, each segment's state by best-first search over the
    rules to give up (A. Fern, IJCAI 2005), or over all states where hard rules leave few.

    Args:
        rules: Rules to start from; :meth:`fit` learns their weights and keeps hard ones. ``None``
            to discover rules.
        transition_cost: K to start from.
        vocabulary: Predicates and features; by default predicates are taken from the labels.
        learning: How rules, weights and K are learned.
        inference: How states are inferred.
        random_state: Seed of the random number generator.

    Attributes:
        rules_: The rules with their weights.
        transition_cost_: K.
        vocabulary_: Predicates and features of the rules.
        notes_: How they were learned.

    Examples:
        >>> from wordsight.states import Predicate, TrackedObject, parse_rules
        >>> boxes = np.zeros((20, 1, 4)) + [0, 0, 10, 10]
        >>> boxes[10:, 0, [0, 2]] += 9 * np.arange(10)[:, None]
        >>> cup, times = TrackedObject("cup"), np.arange(20) / 10
        >>> seen = StateObservations.from_boxes("film", times, [cup], boxes)
        >>> rules = parse_rules("2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false")
        >>> model = StateModel(rules, 1.0, StateVocabulary((Predicate("moves", ("thing",)),)))
        >>> [str(row.fact) for row in model.predict(seen).intervals()]
        ['moves(cup)']
    """

    def __init__(
        self,
        rules: Sequence[Rule] | None = None,
        transition_cost: float = 10.0,
        vocabulary: StateVocabulary | None = None,
        *,
        learning: StateLearningSettings | None = None,
        inference: InferenceSettings | None = None,
        random_state: int = 0,
    ):
        if not (transition_cost >= 0 and np.isfinite(transition_cost)):
            raise StateError(f"the transition cost must be 0 or more, got {transition_cost}.")
        self.rules, self.transition_cost, self.vocabulary = rules, transition_cost, vocabulary
        # Discovered rules have weights; those of given rules are learned.
        default = StateLearningSettings(perceptron=None if rules is None else _WEIGHING)
        self.learning, self.inference = learning or default, inference or InferenceSettings()
        self.random_state = random_state
        self.rules_: tuple[Rule, ...] = tuple(rules or ())
        self.transition_cost_ = float(transition_cost)
        self.vocabulary_ = vocabulary or StateVocabulary()
        self.notes_: dict[str, Any] = {}
        self._grounder: Grounder | None = None

    def fit(
        self,
        observations: Sequence[StateObservations],
        states: Sequence[StateSequence],
        *,
        groups: Sequence[object] | None = None,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Learn from labelled videos.

        Args:
            observations: The videos.
            states: Their labels. Labels that give only the order of states, one row per state, are
                sufficient if rules are given and K is not cross-fitted; to discover rules, every
                frame needs a label.
            groups: Which videos belong together, such as those of one person, so that K is chosen
                on other people than the rules.
            progress: Called with the amount done.
            engine: Engine that discovers rules; by default this process. The result is the same.
        """
        discovers = self.rules is None
        check_training(observations, states, groups, timed=discovers)
        vocabulary = training_vocabulary(observations, states, self.vocabulary)
        check_hard_rules(self.rules or (), observations, states, vocabulary)
        task = LearningTask(
            tuple(observations),
            tuple(states),
            vocabulary,
            None if self.rules is None else tuple(self.rules),
            self.learning,
            self.inference,
            self.random_state,
        )
        learned = learn(task, self.transition_cost, groups=groups, progress=progress, engine=engine)
        self.rules_, self.transition_cost_ = learned.rules, learned.transition_cost
        self.vocabulary_, self.notes_ = vocabulary, learned.notes
        self.inference = learned.inference
        return self

    def ground(self, observations: StateObservations) -> Grounding:
        """Instantiate the rules over the objects of a video."""
        if not self.rules_:
            raise StateError("the model has no rules; call fit first, or give it rules.")
        grounder = self._grounder
        if (
            grounder is None
            or grounder.rules is not self.rules_
            or grounder.vocabulary is not self.vocabulary_
        ):
            self._grounder = grounder = Grounder(self.rules_, self.vocabulary_)
        return grounder.ground(observations)

    def predict(self, observations: StateObservations) -> StateSequence:
        """Infer which facts hold at which time."""
        grounding = self.ground(observations)
        _, values = infer(grounding, self.transition_cost_, self.inference)
        return state_sequence(grounding, values)

    def believe(self, observations: StateObservations, *, online: bool = False) -> StateBeliefs:
        """Infer how probable each fact is at each time, besides the cheapest states.

        Probabilities are calibrated if the model was learned with cross-fitting; otherwise weights
        are taken as log-odds.

        Args:
            observations: The video.
            online: Whether each moment is judged by that moment and earlier ones only.
        """
        grounding = self.ground(observations)
        known = self.notes_.get("beliefs", {})
        settings = BeliefSettings(**{key: known[key] for key in ("temperature", "change") if known})
        found = posterior(grounding, self.transition_cost_, settings)
        sequence = (self.predict_online if online else self.predict)(observations)
        order = [grounding.facts.index(fact) for fact in sequence.facts]
        visible = visible_facts(grounding)[:, order]
        found = replace(found, states=found.states[:, order])
        shares = found.facts(online=online) * visible
        return StateBeliefs(sequence, shares, found, visible, bool(known))

    def predict_online(self, observations: StateObservations) -> StateSequence:
        """Infer the state of every frame from that frame and earlier ones only.

        This requires observations measured with ``causal=True``.
        """
        return self.follow(observations)[0]

    def follow(self, observations: StateObservations) -> tuple[StateSequence, NDArray[np.int64]]:
        """Infer the state of every frame when it arrives, and see when it is settled.

        Returns:
            The states as said at each frame, and ``(T,)`` how many frames later the state of that
            frame was final, whatever came afterwards.
        """
        grounding = self.ground(observations)
        decoder = SegmentDecoder(grounding.clauses, self.transition_cost_, self.inference.search)
        late = np.zeros(len(observations), dtype=np.int64)
        for frame, costs in enumerate(grounding.costs()):
            for part in decoder.feed(costs[None]):
                late[part.start : part.end] = frame - np.arange(part.start, part.end)
        for part in decoder.finish():
            last = len(observations) - 1
            late[part.start : part.end] = last - np.arange(part.start, part.end)
        return state_sequence(grounding, decoder.last_states()), late

    def score(
        self, observations: Sequence[StateObservations], states: Sequence[StateSequence]
    ) -> float:
        """Return the share of videos whose compressed sequence of states is exactly right."""
        check_training(observations, states, None, timed=False)
        pairs = zip(observations, states, strict=True)
        return float(np.mean([self.predict(o).states() == s.states() for o, s in pairs]))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a folder: rules as text, the rest as JSON, and a card."""
        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote."""
        return load_model(cls, path)


def state_sequence(grounding: Grounding, values: NDArray[np.bool_]) -> StateSequence:
    """Return inferred values ``(T, F)`` as a sequence; no facts hold for invisible objects."""
    video = grounding.observations
    visible = values & visible_facts(grounding)
    return StateSequence(video.video_id, video.times, grounding.facts, visible)


def visible_facts(grounding: Grounding) -> NDArray[np.bool_]:
    """Return ``(T, F)`` whether all objects of each fact are visible."""
    video = grounding.observations
    place = {thing.name: k for k, thing in enumerate(video.objects)}
    seen = np.ones((len(video), len(grounding.facts)), dtype=np.bool_)
    for column, fact in enumerate(grounding.facts):
        for name in fact.arguments:
            seen[:, column] &= video.present[:, place[name]]
    return seen
