"""``states``: which facts hold when, by weighted rules that are learned, read and edited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.compute import engine_setting, using_engine
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.state_inputs import (
    StateKinds,
    label_kinds,
    labels_of,
    load_state_model,
    observe_clips,
    read_clips,
    read_events,
    read_rules,
    read_vocabulary,
)
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.states import Rule, StateModel, StateObservations, StateSequence
    from wordsight.states.events.find import StateEvent
    from wordsight.states.explanations import RuleUse, StateExplanation

__all__ = [
    "DEFAULT_STATE_MODEL",
    "ExplainStateRequest",
    "ExplainStateResult",
    "FindEventsRequest",
    "FindEventsResult",
    "InferStatesRequest",
    "InferStatesResult",
    "LabelledStates",
    "LearnStatesRequest",
    "LearnStatesResult",
    "StateRulesRequest",
    "StateRulesResult",
    "explain_state",
    "find_events",
    "infer_states",
    "learn_states",
    "observe_inputs",
    "observe_labelled",
    "state_rules",
]

DEFAULT_STATE_MODEL = Path("states-model")


# --- requests and results -----------------------------------------------------------------------


class _Inputs(StateKinds):
    inputs: tuple[str, ...] = argument(
        "Boxes with identities (.csv .txt .json .xml), clips (.npz), videos of a library.",
        metavar="INPUT...",
    )
    library: str = setting("wordsight-library", "The library of the videos.", hidden=True)


class _Inference(_Inputs):
    model: Path = setting(
        DEFAULT_STATE_MODEL, "The learned model.", "--model", "-m", metavar="FOLDER"
    )
    rules: str | None = setting(
        None, "A file of rules, used instead of a learned model.", metavar="FILE"
    )
    vocabulary: str | None = setting(
        None, "A file that declares predicates and features; see the guide.", metavar="FILE"
    )
    transition_cost: float = setting(10.0, "With --rules: what a change costs.", ge=0.0)


class _Files(Request):
    output: Path | None = setting(
        None, "Write to .json, .csv or .eaf.", "--output", "-o", metavar="FILE"
    )
    plot: Path | None = setting(None, "Draw a timeline; of one input only.", metavar="PNG")
    force: bool = setting(False, "Replace files that exist.")


class LearnStatesRequest(_Inputs):
    """What to learn rules from, and where to keep them."""

    labels: Path = setting(
        ..., "When facts hold: .csv with video,start,end,fact, or .json.", metavar="FILE"
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


class InferStatesRequest(_Inference, _Files):
    """Whose states are inferred, by which rules, and what is written."""


class FindEventsRequest(_Inference, _Files):
    """In which videos events are found, of which kinds, and what is written."""

    events: str | None = setting(
        None, "A file of kinds of events.", metavar="FILE", default_text="seven events of a hand"
    )
    everything: bool = setting(False, "Also events that are part of others.", "--all")


class StateRulesRequest(Request):
    """Which rules to show."""

    model: Path = setting(
        DEFAULT_STATE_MODEL, "The learned model.", "--model", "-m", metavar="FOLDER"
    )
    strongest: int | None = setting(None, "Only so many, the weightiest.", ge=1)


class ExplainStateRequest(_Inference):
    """Which moment to explain."""

    inputs: tuple[str, ...] = setting((), "", hidden=True)
    source: str = argument("Boxes, a clip or a video.", metavar="INPUT")
    at: float = setting(..., "The moment, in seconds.", "--at")
    strongest: int = setting(10, "So many rules for and against.", ge=1)


@dataclass(frozen=True, eq=False)
class LearnStatesResult(Result):
    """Learned rules.

    Attributes:
        model: The rules with their weights.
        folder: Where they were written, if anywhere.
        kinds: The kind of each label that is not its own kind.
        num_videos: How many videos they were learned from.
        right: Share of the training videos whose sequence of states comes out exactly right.
    """

    model: "StateModel"
    folder: Path | None
    kinds: dict[str, str]
    num_videos: int
    right: float

    def to_json(self) -> Any:
        """Return what ``wordsight states learn --json`` prints."""
        return as_json(
            {
                "model": self.folder,
                "videos": self.num_videos,
                "rules": len(self.model.rules_),
                "transition_cost": self.model.transition_cost_,
                "training_sequences_right": self.right,
            }
        )


@dataclass(frozen=True, eq=False)
class InferStatesResult(Result):
    """When facts hold.

    Attributes:
        sequences: Per video the facts over time.
        files: What was written.
    """

    sequences: tuple["StateSequence", ...]
    files: tuple[Path, ...]

    def to_json(self) -> Any:
        """Return what ``wordsight states infer --json`` prints: a row per interval."""
        return as_json(
            [
                {"video": row.video_id, "start": row.start, "end": row.end, "fact": str(row.fact)}
                for sequence in self.sequences
                for row in sequence.intervals()
            ]
        )


@dataclass(frozen=True, eq=False)
class FindEventsResult(InferStatesResult):
    """What happens.

    Attributes:
        events: The events of all videos.
    """

    events: tuple["StateEvent", ...]

    def to_json(self) -> Any:
        """Return what ``wordsight states events --json`` prints."""
        return as_json(self.events)


@dataclass(frozen=True, eq=False)
class StateRulesResult(Result):
    """Rules to read.

    Attributes:
        rules: The rules, the weightiest first.
        transition_cost: What every change of state costs.
    """

    rules: tuple["Rule", ...]
    transition_cost: float

    def to_json(self) -> Any:
        """Return what ``wordsight states rules --json`` prints."""
        rules = [str(rule) for rule in self.rules]
        return {"transition_cost": self.transition_cost, "rules": rules}


@dataclass(frozen=True, eq=False)
class ExplainStateResult(Result):
    """Why a state is inferred.

    Attributes:
        explanation: The rules for and against the state of the moment.
    """

    explanation: "StateExplanation"

    def to_json(self) -> Any:
        """Return what ``wordsight states explain --json`` prints."""
        known = self.explanation
        return as_json(
            {
                "video": known.video_id,
                "time": known.time,
                "facts": [str(fact) for fact in known.facts],
                "violated": [_use_json(use) for use in known.violated],
                "kept": [_use_json(use) for use in known.kept],
                "cost": known.cost,
                "changes": known.changes,
                "transition_cost": known.transition_cost,
            }
        )


def _use_json(use: "RuleUse") -> dict[str, object]:
    return {"rule": str(use.rule), "objects": use.objects, "text": use.text, "cost": use.cost}


# --- verbs --------------------------------------------------------------------------------------


@workflow(LearnStatesRequest)
def learn_states(request: LearnStatesRequest, *, reporter: RecordingReporter) -> LearnStatesResult:
    """Learn weighted rules from tracked things and labels of when facts hold."""
    from wordsight.states import StateModel
    from wordsight.workflows.state_annotator import StateAnnotator

    refuse_existing(request.model, force=request.force)
    rules = None if request.rules is None else read_rules(request.rules)
    vocabulary = read_vocabulary(request.vocabulary)
    labelled = observe_labelled(request, reporter)
    observations, truth = labelled.observations, labelled.truth
    model = StateModel(rules, vocabulary=vocabulary, random_state=request.seed)
    with (
        using_engine(request.engine, reporter) as engine,
        reporter.progress("Learning") as progress,
    ):
        model.fit(observations, truth, progress=progress, engine=engine)
    if request.steady:
        model.notes_["steady"] = True
    if request.model is not None:
        StateAnnotator(model, labelled.kinds).save(request.model, overwrite=request.force)
    return LearnStatesResult(
        model,
        request.model,
        labelled.kinds,
        len(observations),
        model.score(observations, truth),
        warnings=tuple(reporter.notes),
    )


@dataclass(frozen=True, eq=False)
class LabelledStates:
    """Measured videos with the states that labels give them.

    Attributes:
        observations: The measured things of each video.
        truth: The labelled states of each video.
        kinds: The kind of each label that is not its own kind.
    """

    observations: list["StateObservations"]
    truth: list["StateSequence"]
    kinds: dict[str, str]


def observe_labelled(request: LearnStatesRequest, reporter: RecordingReporter) -> LabelledStates:
    """Measure the inputs of a request and read their labels."""
    from wordsight.states.formats import read_intervals, sequence_from_intervals

    vocabulary, intervals = read_vocabulary(request.vocabulary), read_intervals(request.labels)
    clips = read_clips(request.inputs, request.library, reporter)
    kinds = label_kinds(request, clips)
    observations = observe_clips(clips, kinds, vocabulary, request.steady)
    labels = labels_of(observations, intervals, request.labels, request.library)
    truth = [
        sequence_from_intervals(one.video_id, one.times, its_labels)
        for one, its_labels in zip(observations, labels, strict=True)
    ]
    return LabelledStates(observations, truth, kinds)


@workflow(InferStatesRequest)
def infer_states(request: InferStatesRequest, *, reporter: RecordingReporter) -> InferStatesResult:
    """Infer when each fact holds in videos."""
    from wordsight.states.formats import write_states

    _check_files(request)
    _, sequences = _predict(request, reporter)
    files = []
    if request.output is not None:
        write_states(request.output, sequences, overwrite=request.force)
        files.append(request.output)
    files += _draw(request, sequences, ())
    return InferStatesResult(tuple(sequences), tuple(files), warnings=tuple(reporter.notes))


@workflow(FindEventsRequest)
def find_events(request: FindEventsRequest, *, reporter: RecordingReporter) -> FindEventsResult:
    """Find what happens in videos, to whom and when."""
    from wordsight.states.events import find
    from wordsight.states.events.definitions import leonard_events
    from wordsight.states.formats import write_events

    _check_files(request)
    wanted = leonard_events() if request.events is None else read_events(request.events)
    _, sequences = _predict(
        request, reporter, check=lambda model: find.check_predicates(wanted, model.vocabulary_)
    )
    events: list[StateEvent] = []
    for sequence in sequences:
        every = find.find_events(sequence, wanted)
        events += every if request.everything else find.outermost(every)
    files = []
    if request.output is not None:
        write_events(request.output, events, overwrite=request.force)
        files.append(request.output)
    files += _draw(request, sequences, tuple(events))
    return FindEventsResult(
        tuple(sequences), tuple(files), tuple(events), warnings=tuple(reporter.notes)
    )


@workflow(StateRulesRequest)
def state_rules(request: StateRulesRequest, *, reporter: RecordingReporter) -> StateRulesResult:
    """Return the rules of a model, the weightiest first."""
    model, _ = load_state_model(request.model)
    rules = sorted(model.rules_, key=lambda rule: -rule.weight)[: request.strongest]
    return StateRulesResult(tuple(rules), model.transition_cost_)


@workflow(ExplainStateRequest)
def explain_state(
    request: ExplainStateRequest, *, reporter: RecordingReporter
) -> ExplainStateResult:
    """Find which rules speak for and against the state of a moment, and what they cost."""
    from wordsight.states.explanations import explain

    model, (observations,) = observe_inputs(
        request.model_copy(update={"inputs": (request.source,)}), reporter
    )
    return ExplainStateResult(
        explain(model, observations, request.at), warnings=tuple(reporter.notes)
    )


def observe_inputs(
    request: _Inference, reporter: RecordingReporter
) -> tuple["StateModel", list["StateObservations"]]:
    """Return the model of a request and the measured things of its inputs."""
    from wordsight.states import StateModel

    known: dict[str, str] = {}
    if request.rules is not None:
        if request.vocabulary is None:
            raise WordsightError("rules need --vocabulary FILE, which declares their predicates.")
        vocabulary = read_vocabulary(request.vocabulary)
        model = StateModel(read_rules(request.rules), request.transition_cost, vocabulary)
    else:
        model, known = load_state_model(request.model)
    clips = read_clips(request.inputs, request.library, reporter)
    kinds = known | label_kinds(request, clips)
    steady = request.steady or bool(model.notes_.get("steady"))
    return model, observe_clips(clips, kinds, model.vocabulary_, steady)


def _predict(
    request: _Inference,
    reporter: RecordingReporter,
    check: Callable[["StateModel"], None] = lambda model: None,
) -> tuple["StateModel", list["StateSequence"]]:
    model, observations = observe_inputs(request, reporter)
    check(model)
    sequences = []
    with reporter.progress("Inferring") as progress:
        for done, one in enumerate(observations):
            progress(done, len(observations), one.video_id)
            sequences.append(model.predict(one))
    return model, sequences


# --- what is written ----------------------------------------------------------------------------


def _check_files(request: "InferStatesRequest | FindEventsRequest") -> None:
    refuse_existing(request.output, request.plot, force=request.force)
    if request.plot is not None and len(request.inputs) > 1:
        raise WordsightError(
            f"--plot draws one video, got {len(request.inputs)}; plot them one by one."
        )


def _draw(
    request: "InferStatesRequest | FindEventsRequest",
    sequences: Sequence["StateSequence"],
    events: tuple["StateEvent", ...],
) -> list[Path]:
    if request.plot is None:
        return []
    from wordsight.states.formats import draw_timeline

    draw_timeline(request.plot, sequences[0], events=events, overwrite=request.force)
    return [request.plot]
