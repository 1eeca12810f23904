"""``states``: which facts hold when, by weighted rules that are learned, read and edited."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.errors import FormatError, LibraryError, WordsightError
from wordsight.workflows.compute import engine_setting, using_engine
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.records import Clip, Detections
    from wordsight.states import Rule, StateModel, StateObservations, StateSequence, StateVocabulary
    from wordsight.states.events.definitions import EventDefinition
    from wordsight.states.events.find import StateEvent
    from wordsight.states.explanations import RuleUse, StateExplanation
    from wordsight.states.rules.facts import FactInterval

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
    "StateKinds",
    "StateRulesRequest",
    "StateRulesResult",
    "explain_state",
    "find_events",
    "infer_states",
    "labels_of",
    "learn_states",
    "observe_inputs",
    "observe_labelled",
    "parse_kinds",
    "read_clips",
    "state_rules",
]

DEFAULT_STATE_MODEL = Path("states-model")

_BOX_SUFFIXES = (".npz", ".csv", ".json", ".xml", ".txt")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
Parsed = TypeVar("Parsed")


# --- requests and results -----------------------------------------------------------------------


class StateKinds(Request):
    """Of which kind labels are, and how boxes are prepared."""

    kind: tuple[str, ...] = setting(
        (), "The kind of a label: red,green=block.", "--kind", metavar="LABEL=KIND"
    )
    hand: tuple[str, ...] = setting(
        (),
        "Labels that contain this word are of the kind `hand`, and all others of the kind "
        "`object`, unless --kind says otherwise.",
        metavar="WORD",
    )
    steady: bool = setting(
        False,
        "Remove the shake of the camera from the boxes; a learned model remembers it.",
        label="Stabilise",
    )


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
    rules = None if request.rules is None else _read_rules(request.rules)
    vocabulary = _read_vocabulary(request.vocabulary)
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

    vocabulary, intervals = _read_vocabulary(request.vocabulary), read_intervals(request.labels)
    clips = read_clips(request.inputs, request.library, reporter)
    kinds = _kinds(request, clips)
    observations = _observe(clips, kinds, vocabulary, request.steady)
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
    wanted = leonard_events() if request.events is None else _read_events(request.events)
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
    model, _ = _load_model(request.model)
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
        vocabulary = _read_vocabulary(request.vocabulary)
        model = StateModel(_read_rules(request.rules), request.transition_cost, vocabulary)
    else:
        model, known = _load_model(request.model)
    clips = read_clips(request.inputs, request.library, reporter)
    kinds = known | _kinds(request, clips)
    steady = request.steady or bool(model.notes_.get("steady"))
    return model, _observe(clips, kinds, model.vocabulary_, steady)


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


# --- what is read -------------------------------------------------------------------------------


def _load_model(folder: Path) -> tuple["StateModel", dict[str, str]]:
    """Return a learned model and the kinds of labels it was learned with."""
    from wordsight.workflows.state_annotator import load_state_annotator

    if not folder.exists():
        raise WordsightError(
            f"there is no learned model at {folder}; make one with `wordsight states learn`, name "
            "its folder with --model, or give --rules FILE and --vocabulary FILE."
        )
    known = load_state_annotator(folder)
    return known.model, known.kinds


def read_clips(inputs: Sequence[str], library: str, reporter: RecordingReporter) -> list["Clip"]:
    """Read each input: a file of boxes, a clip or a video; boxes without identities are tracked."""
    clips = [_read_clip(Path(name), name, library) for name in inputs]
    names = [clip.video_id for clip in clips]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WordsightError(
            f"two inputs are called {twice[0]!r}; rename one, since results carry these names."
        )
    return [_tracked(clip, reporter) for clip in clips]


def _read_clip(path: Path, name: str, library: str) -> "Clip":
    from wordsight.records import Clip

    if path.is_file():
        if path.suffix.lower() == ".npz":
            return Clip.load(path)
        from wordsight.perception import read_boxes

        # film.boxes.csv belongs to film.mp4
        return _whole(path.stem.removesuffix(".boxes"), read_boxes(path))
    if path.suffix.lower() in _BOX_SUFFIXES:
        raise WordsightError(f"there is no file {path}.")
    from wordsight.library import Library

    with Library.open(library) as opened:
        video_id = opened.resolve(name)
        return _whole(video_id, opened.detections(video_id))


def _whole(video_id: str, detections: "Detections") -> "Clip":
    from wordsight.records import Clip

    if not len(detections):
        raise WordsightError(f"{video_id} has no frames; there is nothing to infer states from.")
    times = detections.times
    return Clip(video_id, float(times[0]), float(times[-1]) + 1e-3, detections)


def _tracked(clip: "Clip", reporter: RecordingReporter) -> "Clip":
    from wordsight.perception import tracked_clip

    tracked = tracked_clip(clip)
    if tracked is clip:
        return clip
    ids = tracked.detections.ids
    number = 0 if ids is None else len({int(one) for one in ids[tracked.detections.mask]})
    if not number:
        raise WordsightError(f"nothing can be tracked in {clip.video_id}; it needs boxes.")
    reporter.note(f"{clip.video_id}: boxes without identities, tracked {number} things.")
    return tracked


def _kinds(request: StateKinds, clips: Sequence["Clip"]) -> dict[str, str]:
    """Return the kind of every label that is not its own kind."""
    kinds = parse_kinds(request.kind)
    for label in {label for clip in clips for label in clip.detections.label_names}:
        usual = label
        if request.hand:
            is_hand = any(word.lower() in label.lower() for word in request.hand)
            usual = "hand" if is_hand else "object"
        kind = _name_in_rules(kinds.get(label, usual))
        if label in kinds or kind != label:
            kinds[label] = kind
    return kinds


def parse_kinds(pairs: Sequence[str]) -> dict[str, str]:
    """Read the kinds of labels; ``red,green=block`` gives several labels one kind.

    Raises:
        WordsightError: If one is written otherwise.
    """
    kinds: dict[str, str] = {}
    for pair in pairs:
        labels, equals, kind = (part.strip() for part in pair.partition("="))
        if not (labels and equals and kind):
            raise WordsightError(f"kinds are written as LABEL=KIND or A,B=KIND, got {pair!r}.")
        kinds.update({label.strip(): kind for label in labels.split(",")})
    return kinds


def _name_in_rules(kind: str) -> str:
    """Return a kind as a word that rules can be written with."""
    word = _NOT_IN_NAMES.sub("_", kind)
    return word if word[:1].islower() else f"a_{word}"


def _observe(
    clips: Sequence["Clip"],
    kinds: dict[str, str],
    vocabulary: "StateVocabulary | None",
    steady: bool,
) -> list["StateObservations"]:
    from wordsight.states import StateObservations, TrackSmoothing

    smoothing = TrackSmoothing(steady=steady)
    return [
        StateObservations.from_clip(clip, kinds=kinds, vocabulary=vocabulary, smoothing=smoothing)
        for clip in clips
    ]


def labels_of(
    observations: Sequence["StateObservations"],
    labels: "dict[str, list[FactInterval]]",
    file: Path,
    library: str,
) -> list[list["FactInterval"]]:
    """Return the labels of each video, which they may call by its id or its file.

    Boxes in ``film.csv`` or ``film.boxes.csv`` are those of ``film.mp4``.
    """
    from wordsight.library import Library
    from wordsight.workflows.clips import names_of, noted

    stems = {Path(name).stem: name for name in sorted(labels, reverse=True)}
    names: list[tuple[str, ...]] = [
        (one.video_id, stems.get(one.video_id, one.video_id)) for one in observations
    ]
    if any(one.video_id not in labels for one in observations):
        with suppress(LibraryError), Library.open(library) as opened:
            names = [names_of(opened, one[0]) if one[0] in opened else one for one in names]
    return [noted(labels, one, str(file)) for one in names]


def _read_vocabulary(source: str | None) -> "StateVocabulary | None":
    from wordsight.states import parse_vocabulary

    return None if source is None else _parsed(source, parse_vocabulary)


def _read_rules(source: str) -> "tuple[Rule, ...]":
    from wordsight.states import parse_rules

    rules = _parsed(source, parse_rules)
    if not rules:
        raise FormatError(
            f"{_shown(source)} holds no rule; write one a line, such as "
            "2: speed(X) >= 20 -> moves(X)."
        )
    return rules


def _read_events(source: str) -> "tuple[EventDefinition, ...]":
    from wordsight.states.events.definitions import parse_events

    if not source.strip():
        return ()
    events = _parsed(source, parse_events)
    if not events:
        raise FormatError(
            f"{_shown(source)} defines no event; write one a line, such as START(x) = "
            "[not moves(x)] ; [moves(x)]."
        )
    return events


def _parsed(source: str, parse: Callable[[str], Parsed]) -> Parsed:
    """Parse a text, or the text file of that name; errors in a file name the file."""
    from wordsight.states import StateError

    if _is_text(source):
        return parse(source)
    try:
        return parse(Path(source).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise WordsightError(f"there is no file {source}; check the name.") from None
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{source}: expected UTF-8 text, but byte {error.start} is not; save it as UTF-8."
        ) from None
    except StateError as error:
        raise FormatError(f"{source}, {error}") from error


def _is_text(source: str) -> bool:
    """Whether this is a text itself, not the name of a file: it has a line break or is empty."""
    return "\n" in source or not source.strip()


def _shown(source: str) -> str:
    return "the text" if _is_text(source) else source


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
    from wordsight.states.timeline import draw_timeline

    draw_timeline(request.plot, sequences[0], events=events, overwrite=request.force)
    return [request.plot]
