"""``states``: which facts hold when, by weighted rules that are learned, read and edited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.state_inputs import (
    DEFAULT_STATE_MODEL,
    StateInputs,
    bound_setting,
    check_online,
    label_kinds,
    load_state_model,
    observe_clips,
    read_clips,
    read_events,
    read_rules,
    read_vocabulary,
    warn_of_kinds,
)
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.states import Rule, StateModel, StateObservations, StateSequence
    from wordsight.states.beliefs import FactBelief, StateBeliefs
    from wordsight.states.events.find import StateEvent
    from wordsight.states.explanations import RuleUse, StateExplanation

__all__ = [
    "ExplainStateRequest",
    "ExplainStateResult",
    "FindEventsRequest",
    "FindEventsResult",
    "InferStatesRequest",
    "InferStatesResult",
    "StateRulesRequest",
    "StateRulesResult",
    "explain_state",
    "find_events",
    "infer_states",
    "observe_inputs",
    "state_rules",
]


class _Inference(StateInputs):
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
    tau: int | None = bound_setting()


class _Files(Request):
    output: Path | None = setting(
        None, "Write to .json, .csv or .eaf.", "--output", "-o", metavar="FILE"
    )
    plot: Path | None = setting(None, "Draw a timeline; of one input only.", metavar="PNG")
    force: bool = setting(False, "Replace files that exist.")


class InferStatesRequest(_Inference, _Files):
    """Whose states are inferred, by which rules, and what is written."""

    online: bool = setting(
        False,
        "Say each moment's state from that moment and earlier ones only, as with live video, and "
        "print after how many frames it was final; learn the rules with --online.",
    )
    unsure: bool = setting(
        False, "Also list facts that may hold: those more probable than 0.2, less than 0.8."
    )


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
class InferStatesResult(Result):
    """When facts hold.

    Attributes:
        sequences: Per video the facts over time.
        files: What was written.
        beliefs: Per video how probable each fact is.
        unsure: Whether facts that may hold are listed too.
        latency: With ``online``: per video after how many frames states were final, on average and
            at most.
    """

    sequences: tuple["StateSequence", ...]
    files: tuple[Path, ...]
    beliefs: tuple["StateBeliefs", ...] = ()
    unsure: bool = False
    latency: tuple[tuple[float, int], ...] = ()

    def rows(self) -> list["FactBelief"]:
        """Return when facts hold, or may hold, and how probable that is."""
        return [row for one in self.beliefs for row in one.rows(doubts=self.unsure)]

    def to_json(self) -> Any:
        """Return what ``wordsight states infer --json`` prints: a row per interval."""
        return as_json(
            [
                {
                    "video": row.video_id,
                    "start": row.start,
                    "end": row.end,
                    "fact": str(row.fact),
                    "probability": row.probability,
                    "answer": row.answer,
                    "moments": one.moments(row.fact, row.start, row.end),
                }
                for one in self.beliefs
                for row in one.rows(doubts=self.unsure)
            ]
        )


@dataclass(frozen=True, eq=False)
class FindEventsResult(InferStatesResult):
    """What happens.

    Attributes:
        events: The events of all videos.
        probabilities: How probable each of them is.
    """

    events: tuple["StateEvent", ...] = ()
    probabilities: tuple[float, ...] = ()

    def to_json(self) -> Any:
        """Return what ``wordsight states events --json`` prints."""
        pairs = zip(self.events, self.probabilities, strict=True)
        return [as_json(event) | {"probability": share} for event, share in pairs]


@dataclass(frozen=True, eq=False)
class StateRulesResult(Result):
    """Rules to read.

    Attributes:
        rules: The rules, the weightiest first.
        transition_cost: What every change of state costs.
        violations: Per rule how often the labels it was learned from violate it, and how often it
            applies there; empty for rules that were not learned.
    """

    rules: tuple["Rule", ...]
    transition_cost: float
    violations: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> Any:
        """Return what ``wordsight states rules --json`` prints."""
        rules = [str(rule) for rule in self.rules]
        return {
            "transition_cost": self.transition_cost,
            "rules": rules,
            "violations": [list(row) for row in self.violations],
        }


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


@workflow(InferStatesRequest)
def infer_states(request: InferStatesRequest, *, reporter: RecordingReporter) -> InferStatesResult:
    """Infer when each fact holds in videos, and how probable that is."""
    from wordsight.states.formats import write_states

    _check_files(request)
    beliefs, latency = _believe(request, reporter, online=request.online)
    sequences = [one.sequence for one in beliefs]
    files = []
    if request.output is not None:
        write_states(request.output, sequences, overwrite=request.force, beliefs=beliefs)
        files.append(request.output)
    files += _draw(request, sequences, ())
    for path in files:
        reporter.note(f"Wrote {path}")
    return InferStatesResult(
        tuple(sequences), tuple(files), tuple(beliefs), request.unsure, tuple(latency)
    )


@workflow(FindEventsRequest)
def find_events(request: FindEventsRequest, *, reporter: RecordingReporter) -> FindEventsResult:
    """Find what happens in videos, to whom and when, and how probable that is."""
    from wordsight.states.events import find
    from wordsight.states.events.definitions import leonard_events
    from wordsight.states.formats import write_events

    _check_files(request)
    wanted = leonard_events() if request.events is None else read_events(request.events)
    beliefs, _ = _believe(
        request, reporter, check=lambda model: find.check_predicates(wanted, model.vocabulary_)
    )
    events: list[StateEvent] = []
    shares: list[float] = []
    for one in beliefs:
        every = find.find_events(one.sequence, wanted)
        kept = every if request.everything else find.outermost(every)
        events += kept
        shares += one.event_probabilities(kept, wanted)
    sequences = [one.sequence for one in beliefs]
    files = []
    if request.output is not None:
        write_events(request.output, events, overwrite=request.force, probabilities=shares)
        files.append(request.output)
    files += _draw(request, sequences, tuple(events))
    for path in files:
        reporter.note(f"Wrote {path}")
    return FindEventsResult(
        tuple(sequences),
        tuple(files),
        tuple(beliefs),
        events=tuple(events),
        probabilities=tuple(shares),
    )


@workflow(StateRulesRequest)
def state_rules(request: StateRulesRequest, *, reporter: RecordingReporter) -> StateRulesResult:
    """Return the rules of a model, the weightiest first."""
    model, _ = load_state_model(request.model)
    known = model.notes_.get("violations") or [()] * len(model.rules_)
    order = sorted(zip(model.rules_, known, strict=True), key=lambda row: -row[0].weight)
    rows = order[: request.strongest]
    return StateRulesResult(
        tuple(rule for rule, _ in rows),
        model.transition_cost_,
        tuple((int(row[0]), int(row[1])) for _, row in rows if len(row) == 2),
    )


@workflow(ExplainStateRequest)
def explain_state(
    request: ExplainStateRequest, *, reporter: RecordingReporter
) -> ExplainStateResult:
    """Find which rules speak for and against the state of a moment, and what they cost."""
    from wordsight.states.explanations import explain

    model, (observations,) = observe_inputs(
        request.model_copy(update={"inputs": (request.source,)}), reporter
    )
    return ExplainStateResult(explain(model, observations, request.at))


def observe_inputs(
    request: _Inference, reporter: RecordingReporter, *, online: bool = False
) -> tuple["StateModel", list["StateObservations"]]:
    """Return the model of a request and the measured things of its inputs."""
    from wordsight.states import StateModel
    from wordsight.states.methods import with_bound

    known: dict[str, str] = {}
    if request.rules is not None:
        if request.vocabulary is None:
            raise WordsightError("rules need --vocabulary FILE, which declares their predicates.")
        vocabulary = read_vocabulary(request.vocabulary)
        model = StateModel(read_rules(request.rules), request.transition_cost, vocabulary)
    else:
        model, known = load_state_model(request.model)
    model = model if request.tau is None else with_bound(model, request.tau)
    clips = read_clips(request.inputs, request.library, reporter, rate=request.rate)
    kinds = known | label_kinds(request, clips)
    steady = request.steady or bool(model.notes_.get("steady"))
    causal = online or bool(model.notes_.get("online"))
    if causal and steady:
        raise WordsightError("a camera's shake is found from later frames too; leave out --steady.")
    observations = observe_clips(clips, kinds, model.vocabulary_, steady, causal=causal)
    if online:
        check_online(model)
    warn_of_kinds(model, observations, reporter)
    return model, observations


def _believe(
    request: _Inference,
    reporter: RecordingReporter,
    *,
    online: bool = False,
    check: Callable[["StateModel"], None] = lambda model: None,
) -> tuple[list["StateBeliefs"], list[tuple[float, int]]]:
    """Return what is believed of each input, and after how many frames states were final."""
    model, observations = observe_inputs(request, reporter, online=online)
    check(model)
    beliefs, latency = [], []
    with reporter.progress("Inferring") as progress:
        for done, one in enumerate(observations):
            progress(done, len(observations), one.video_id)
            beliefs.append(model.believe(one, online=online))
            if online:
                late = model.follow(one)[1]
                latency.append((float(late.mean()), int(late.max())))
    return beliefs, latency


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
