"""``states learn``: weighted rules from tracked things and labels of when facts hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.compute import engine_setting, using_engine
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.state_inputs import (
    DEFAULT_STATE_MODEL,
    StateInputs,
    bound_setting,
    label_kinds,
    labels_of,
    observe_clips,
    read_clips,
    read_rules,
    read_vocabulary,
    warn_of_kinds,
)
from wordsight.workflows.units import count
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.states import StateModel, StateObservations, StateSequence
    from wordsight.states.discovery.sentences import TimedSentence, WordRole
    from wordsight.states.rules.facts import FactInterval

__all__ = [
    "LabelledStates",
    "LearnStatesRequest",
    "LearnStatesResult",
    "StateLabelsRequest",
    "StateLabelsResult",
    "learn_states",
    "observe_labelled",
    "state_labels",
]


_ENOUGH = 12  # videos with labels


class LearnStatesRequest(StateInputs):
    """What to learn rules from, and where to keep them."""

    labels: Path | None = setting(
        None,
        "When facts hold: .csv with video,start,end,fact, .json, .eaf, CVAT's .xml, or the "
        "truth.jsonl of a made world.",
        metavar="FILE",
    )
    from_sentences: Path | None = setting(
        None,
        "Instead of labels, what is said when: .csv with video,start,end,sentence. When the fact "
        "holds is then learned together with what the words say of it.",
        metavar="FILE",
    )
    fact: str = setting(
        "attached(hand,object)",
        "With --from-sentences: what is learned, with the kinds of its things.",
        metavar="FACT",
    )
    method: Literal["boosted", "few", "published", "fgm"] = setting(
        "boosted",
        "How rules are found: boosted one by one (boosted), few that read well (few), as A. Fern "
        "published it in 2005 (published), or rules that are always right, merged greedily (fgm).",
        label="Method",
        titles={
            "boosted": "Boosted rules",
            "few": "Few rules that read well",
            "published": "As published in 2005",
            "fgm": "Rules that are always right (FGM)",
        },
    )
    most_rules: int | None = setting(
        None,
        "Most rules in all, of boosted ones; 60 are about as right as all of them, easier read.",
        label="Most rules",
        default_text="any number",
        ge=4,
    )
    tau: int | None = bound_setting()
    online: bool = setting(
        False,
        "Learn from what is seen up to each moment, for `states infer --online`.",
        label="For live video: look at no later moment",
    )
    model: Path | None = setting(
        DEFAULT_STATE_MODEL,
        "Folder of the learned model.",
        "--model",
        "-m",
        metavar="FOLDER",
        default_text=str(DEFAULT_STATE_MODEL),
    )
    rules: str | None = setting(
        None, "A file of rules, of which only the weights are learned.", metavar="FILE"
    )
    vocabulary: str | None = setting(
        None, "A file that declares predicates and features; see the guide.", metavar="FILE"
    )
    seed: int = setting(0, "The same seed learns the same rules.", label="Random seed", ge=0)
    engine: str | None = engine_setting()
    force: bool = setting(False, "Replace files that exist.")


class StateLabelsRequest(Request):
    """Which labels to read, and where to write them as a table."""

    labels: tuple[Path, ...] = argument(
        "Labels of when facts hold: .csv, .json, .eaf, CVAT's .xml, truth.jsonl.",
        metavar="FILE...",
    )
    output: Path | None = setting(
        None, "Write video,start,end,fact to .csv, or .json.", "--output", "-o", metavar="FILE"
    )
    rate: float | None = setting(None, "Frames per second, for CVAT.", gt=0.0)
    force: bool = setting(False, "Replace files that exist.")


@dataclass(frozen=True)
class StateLabelsResult(Result):
    """Labels that were read.

    Attributes:
        intervals: When facts hold, by video.
        file: What was written.
    """

    intervals: "dict[str, list[FactInterval]]"
    file: Path | None

    def to_json(self) -> Any:
        """Return what ``wordsight states labels --json`` prints."""
        return [
            {"video": row.video_id, "start": row.start, "end": row.end, "fact": str(row.fact)}
            for rows in self.intervals.values()
            for row in rows
        ]


@dataclass(frozen=True, eq=False)
class LearnStatesResult(Result):
    """Learned rules.

    Attributes:
        model: The rules with their weights.
        folder: Where they were written, if anywhere.
        kinds: The kind of each label that is not its own kind.
        num_videos: How many videos they were learned from.
        right: Share of the training videos whose sequence of states comes out exactly right.
        held_out: The same share, and that of facts at all moments, where each video is judged by
            rules learned from others; empty where that was not measured.
        roles: With sentences: what their words came to say of the fact.
    """

    model: "StateModel"
    folder: Path | None
    kinds: dict[str, str]
    num_videos: int
    right: float
    held_out: dict[str, float]
    roles: tuple["WordRole", ...] = ()

    def to_json(self) -> Any:
        """Return what ``wordsight states learn --json`` prints."""
        return as_json(
            {
                "model": self.folder,
                "videos": self.num_videos,
                "rules": len(self.model.rules_),
                "transition_cost": self.model.transition_cost_,
                "training_sequences_right": self.right,
                "held_out_sequences_right": self.held_out.get("sequences"),
                "held_out_facts_right": self.held_out.get("facts"),
            }
            | ({"roles": [role._asdict() for role in self.roles]} if self.roles else {})
        )


@workflow(LearnStatesRequest)
def learn_states(request: LearnStatesRequest, *, reporter: RecordingReporter) -> LearnStatesResult:
    """Learn weighted rules from tracked things and labels of when facts hold."""
    from wordsight.states.methods import judge_by_folds, state_model
    from wordsight.workflows.annotator import StateAnnotator

    if (request.labels is None) == (request.from_sentences is None):
        raise WordsightError(
            "rules are learned from labels or from sentences: give --labels FILE or "
            "--from-sentences FILE, one of the two."
        )
    if request.online and request.steady:
        raise WordsightError(
            "a camera's shake is found from later frames too; leave out --steady or --online."
        )
    refuse_existing(request.model, force=request.force)
    rules = None if request.rules is None else read_rules(request.rules)
    vocabulary = read_vocabulary(request.vocabulary)
    labelled = observe_labelled(request, reporter)
    observations, truth = labelled.observations, labelled.truth
    _advise(observations, reporter)
    new = partial(
        state_model,
        request.method,
        rules=rules,
        vocabulary=vocabulary,
        bound=request.tau,
        most_rules=request.most_rules,
        random_state=request.seed,
    )
    model = new()
    with (
        using_engine(request.engine, reporter) as engine,
        reporter.progress("Learning") as progress,
    ):
        model.fit(observations, truth, progress=progress, engine=engine)
        if "held_out" not in model.notes_ and len(observations) > 1:
            model.notes_["held_out"] = judge_by_folds(
                new,
                observations,
                truth,
                random_state=request.seed,
                progress=progress,
                engine=engine,
            )
    model.notes_ |= {"steady": True} if request.steady else {}
    model.notes_ |= {"online": True} if request.online else {}
    warn_of_kinds(model, observations, reporter)
    _warn_of_facts(model, truth, reporter)
    if request.model is not None:
        StateAnnotator(model, labelled.kinds).save(request.model, overwrite=request.force)
    return LearnStatesResult(
        model,
        request.model,
        labelled.kinds,
        len(observations),
        model.score(observations, truth),
        model.notes_.get("held_out", {}),
        labelled.roles,
    )


def _advise(observations: "Sequence[StateObservations]", reporter: RecordingReporter) -> None:
    """Say so if there is little to learn from."""
    if len(observations) < _ENOUGH:
        reporter.note(
            f"{count(len(observations), 'video')} with labels: expect rules that do not hold "
            f"elsewhere. Label {_ENOUGH} or more, of different people and places; --method few "
            "needs fewer than boosted rules do."
        )


def _warn_of_facts(
    model: "StateModel", truth: "Sequence[StateSequence]", reporter: RecordingReporter
) -> None:
    """Name what is labelled and concluded by no rule, so that it is never inferred."""
    concluded = {rule.head.predicate for rule in model.rules_ if rule.head is not None}
    labelled = {fact.predicate for one in truth for fact in one.facts}
    if never := sorted(labelled - concluded):
        reporter.note(
            f"No rule concludes {', '.join(never)}, so that what the labels say of it is not "
            "learned; add a rule for it, check its spelling, or label more videos in which it "
            "holds."
        )


@workflow(StateLabelsRequest)
def state_labels(request: StateLabelsRequest, *, reporter: RecordingReporter) -> StateLabelsResult:
    """Read labels of when facts hold from any format, and write them as one table."""
    from wordsight.states.formats import write_labels
    from wordsight.states.labels import read_intervals

    refuse_existing(request.output, force=request.force)
    found: dict[str, list[FactInterval]] = {}
    for file in request.labels:
        for video, rows in read_intervals(file, frame_rate=request.rate).items():
            if video in found:
                raise WordsightError(f"{file} labels {video}, which an earlier file does too.")
            found[video] = sorted(rows, key=lambda row: (row.start, row.fact))
    if request.output is not None:
        write_labels(request.output, found, overwrite=request.force)
        reporter.note(f"Wrote {request.output}")
    return StateLabelsResult(found, request.output)


@dataclass(frozen=True, eq=False)
class LabelledStates:
    """Measured videos with the states that labels give them.

    Attributes:
        observations: The measured things of each video.
        truth: The labelled states of each video.
        kinds: The kind of each label that is not its own kind.
        roles: Where states come from sentences: what their words came to say.
    """

    observations: list["StateObservations"]
    truth: list["StateSequence"]
    kinds: dict[str, str]
    roles: tuple["WordRole", ...] = ()


def observe_labelled(request: LearnStatesRequest, reporter: RecordingReporter) -> LabelledStates:
    """Measure the inputs of a request and read their labels, or learn them from sentences."""
    from wordsight.states.grounding.stabilise import lower_edges
    from wordsight.states.labels import (
        LabelledTracks,
        check_directions,
        read_intervals,
        read_timed_sentences,
        sequence_from_intervals,
    )

    vocabulary = read_vocabulary(request.vocabulary)
    said, intervals = {}, {}
    if request.from_sentences is not None:
        said = read_timed_sentences(request.from_sentences)
    elif request.labels is not None:
        intervals = read_intervals(request.labels, frame_rate=request.rate)
    clips = read_clips(request.inputs, request.library, reporter, rate=request.rate)
    kinds = label_kinds(request, clips)
    observations = observe_clips(clips, kinds, vocabulary, request.steady, causal=request.online)
    if request.from_sentences is not None:
        lines = labels_of(observations, said, request.from_sentences, request.library)
        return _said(request, observations, lines, kinds, reporter)
    file = request.labels or Path()
    labels = labels_of(observations, intervals, file, request.library)
    others = [video for video, rows in intervals.items() if not any(rows is one for one in labels)]
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        reporter.note(f"{file} also labels {', '.join(others[:5])}{more}: not among the inputs.")
    rightly, wrongly = check_directions(
        LabelledTracks(
            its_labels,
            lower_edges(clip),
            clip.times,
            {thing.name for thing in one.objects if thing.kind == "hand"},
        )
        for clip, one, its_labels in zip(clips, observations, labels, strict=True)
    )
    if wrongly > rightly:
        reporter.note(
            f"contacts(a,b) means that a holds up b, but in {wrongly} of {rightly + wrongly} "
            "labels a is the upper one; `states events` then finds other events or none. Turn them "
            "round if so meant."
        )
    truth = [
        sequence_from_intervals(one.video_id, one.times, its_labels)
        for one, its_labels in zip(observations, labels, strict=True)
    ]
    return LabelledStates(observations, truth, kinds)


def _said(
    request: LearnStatesRequest,
    observations: "list[StateObservations]",
    sentences: "list[list[TimedSentence]]",
    kinds: dict[str, str],
    reporter: RecordingReporter,
) -> LabelledStates:
    """Return states that sentences imply, in place of labelled ones."""
    from wordsight.states import Predicate, StateVocabulary, facts_said, parse_fact

    fact = parse_fact(request.fact)
    vocabulary = read_vocabulary(request.vocabulary) or StateVocabulary()
    with reporter.progress("Learning facts from sentences") as progress:
        found = facts_said(
            Predicate(fact.predicate, fact.arguments),
            observations,
            sentences,
            vocabulary,
            progress=progress,
        )
    return LabelledStates(observations, found.states, kinds, found.roles)
