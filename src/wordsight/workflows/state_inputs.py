"""Inputs of the verbs of states: clips from files or a library, kinds, labels, rules, models."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.errors import FormatError, LibraryError, WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting

if TYPE_CHECKING:
    from wordsight.records import Clip, Detections
    from wordsight.states import Rule, StateModel, StateObservations, StateVocabulary
    from wordsight.states.events.definitions import EventDefinition

__all__ = [
    "DEFAULT_STATE_MODEL",
    "StateInputs",
    "StateKinds",
    "bound_setting",
    "check_concluded",
    "check_online",
    "label_kinds",
    "labels_of",
    "load_state_model",
    "observe_clips",
    "parse_kinds",
    "read_clips",
    "read_events",
    "read_rules",
    "read_vocabulary",
    "warn_of_kinds",
]

DEFAULT_STATE_MODEL = Path("states-model")

_BOX_SUFFIXES = (".npz", ".csv", ".json", ".xml", ".txt")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
Parsed = TypeVar("Parsed")
Note = TypeVar("Note")


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


def bound_setting() -> Any:
    """Declare the setting that bounds the search for a state."""
    return setting(
        None,
        "Most sets of rules that the search for a state tries to give up, 0 for greed alone; "
        "the paper's tau.",
        "--tau",
        "--bound",
        label="Bound of the search (tau)",
        default_text="exact where states are few; 100 as published",
        ge=0,
    )


class StateInputs(StateKinds):
    """Whose things states are about."""

    inputs: tuple[str, ...] = argument(
        "Boxes with identities (.csv .txt .json .xml), clips (.npz), films, videos of a library.",
        metavar="INPUT...",
    )
    library: str = setting("wordsight-library", "The library of the videos.", hidden=True)
    rate: float | None = setting(
        None, "Frames per second, for boxes in files that have no times.", gt=0.0
    )


def load_state_model(folder: Path) -> tuple["StateModel", dict[str, str]]:
    """Return a learned model and the kinds of labels it was learned with."""
    from wordsight.workflows.annotator import load_state_annotator

    if not folder.exists():
        raise WordsightError(
            f"there is no learned model at {folder}; make one with `wordsight states learn`, name "
            "its folder with --model, or give --rules FILE and --vocabulary FILE."
        )
    known = load_state_annotator(folder)
    return known.model, known.kinds


def check_online(model: "StateModel") -> None:
    """Refuse rules that compare what only later frames show.

    Raises:
        WordsightError: If there are such rules.
    """
    from wordsight.states.rules.rule import FeatureComparison

    later = {feature.name for feature in model.vocabulary_.features if not feature.causal}
    used = sorted(
        {part.feature for rule in model.rules_ for part in rule.body
         if isinstance(part, FeatureComparison)} & later
    )  # fmt: skip
    if used:
        raise WordsightError(
            f"these rules look at later moments ({', '.join(used[:3])}); learn rules for live "
            "video with `wordsight states learn --online`, or infer without --online."
        )


def read_clips(
    inputs: Sequence[str], library: str, reporter: RecordingReporter, *, rate: float | None = None
) -> list["Clip"]:
    """Read each input: a file of boxes, a clip or a video; boxes without identities are tracked.

    Args:
        inputs: Files, or videos of the library.
        library: The library.
        reporter: Is given notes.
        rate: Frames per second of boxes in files that have no times.
    """
    clips = [_read_clip(Path(name), name, library, reporter, rate) for name in inputs]
    names = [clip.video_id for clip in clips]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WordsightError(
            f"two inputs are called {twice[0]!r}; rename one, since results carry these names."
        )
    return [_tracked(clip, reporter) for clip in clips]


def _read_clip(
    path: Path, name: str, library: str, reporter: RecordingReporter, rate: float | None
) -> "Clip":
    from wordsight.records import Clip

    if path.is_file():
        if path.suffix.lower() == ".npz":
            return Clip.load(path)
        if path.suffix.lower() not in _BOX_SUFFIXES:
            return _watched(path, library, reporter)
        from wordsight.perception import read_boxes

        # film.boxes.csv belongs to film.mp4
        return _whole(path.stem.removesuffix(".boxes"), read_boxes(path, frame_rate=rate))
    if path.suffix.lower() in _BOX_SUFFIXES:
        raise WordsightError(f"there is no file {path}.")
    from wordsight.library import Library

    with Library.open(library) as opened:
        video_id = opened.resolve(name)
        return _whole(video_id, opened.detections(video_id))


def _watched(film: Path, library: str, reporter: RecordingReporter) -> "Clip":
    """Return what is seen in a film: as the library knows it, or by the default detector."""
    from wordsight.library import Library
    from wordsight.workflows.detect import DetectRequest, default_detector, detect

    with suppress(LibraryError), Library.open(library) as opened:
        video_id = opened.resolve(str(film))
        return _whole(video_id, opened.detections(video_id))
    reporter.note(
        f"{film} is not in a library; looking at it with the detector {default_detector()}. "
        "`wordsight detect FILM --follow -o FILM.csv` keeps what is seen."
    )
    with reporter.progress("Detecting") as progress:
        seen = detect(DetectRequest(video=film), progress=progress).detections
    return _whole(film.stem, seen)


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


def label_kinds(request: StateKinds, clips: Sequence["Clip"]) -> dict[str, str]:
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


def observe_clips(
    clips: Sequence["Clip"],
    kinds: dict[str, str],
    vocabulary: "StateVocabulary | None",
    steady: bool,
    *,
    causal: bool = False,
) -> list["StateObservations"]:
    """Measure the tracked things of clips; ``causal`` without looking at later frames."""
    from wordsight.states import StateObservations, TrackSmoothing

    smoothing = TrackSmoothing(steady=steady)
    return [
        StateObservations.from_clip(
            clip, kinds=kinds, vocabulary=vocabulary, smoothing=smoothing, causal=causal
        )
        for clip in clips
    ]


def warn_of_kinds(
    model: "StateModel", observations: Sequence["StateObservations"], reporter: RecordingReporter
) -> None:
    """Name the kinds of things that no rule of a model mentions."""
    from wordsight.states.rules.vocabulary import ANY_KIND

    spoken = {kind for predicate in model.vocabulary_.predicates for kind in predicate.types}
    things = [thing for one in observations for thing in one.objects]
    unspoken = sorted({t.kind for t in things} - spoken)
    if not unspoken or ANY_KIND in spoken:
        return
    examples = ", ".join(
        f"{kind} ({next(t.name for t in things if t.kind == kind)})" for kind in unspoken
    )
    reporter.note(
        f"No rule mentions these kinds of things, so nothing is inferred of them: {examples}. The "
        f"rules know {', '.join(sorted(spoken))}; --kind LABEL=KIND says what a label is."
    )


def labels_of(
    observations: Sequence["StateObservations"],
    labels: Mapping[str, list[Note]],
    file: Path,
    library: str,
) -> list[list[Note]]:
    """Return the labels or sentences of each video, which they may call by its id or its file.

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


def read_vocabulary(source: str | None) -> "StateVocabulary | None":
    """Read the text or file that declares predicates and features."""
    from wordsight.states import parse_vocabulary

    return None if source is None else _parsed(source, parse_vocabulary)


def read_rules(source: str) -> "tuple[Rule, ...]":
    """Read rules from a text or a file."""
    from wordsight.states import parse_rules

    rules = _parsed(source, parse_rules)
    if not rules:
        raise FormatError(
            f"{_shown(source)} holds no rule; write one a line, such as "
            "2: speed(X) >= 20 -> moves(X)."
        )
    check_concluded(rules, _shown(source))
    return rules


def check_concluded(rules: "Sequence[Rule]", where: str) -> None:
    """Refuse facts that rules only conclude from each other, so that none is ever concluded.

    Args:
        rules: The rules.
        where: What they were read from, for the message.
    """
    from wordsight.states import Atom

    concluded = {rule.head.predicate for rule in rules if rule.head is not None}
    known: set[str] = set()
    for _ in range(len(concluded)):
        known |= {
            rule.head.predicate
            for rule in rules
            if rule.head is not None
            and all(
                part.predicate in known or part.predicate not in concluded
                for part in rule.body
                if isinstance(part, Atom)
            )
        }
    circular = sorted(concluded - known)
    if circular:
        raise FormatError(
            f"{where}: the rules conclude {', '.join(circular)} only from each other, in "
            "a cycle, so that none of them is ever concluded; add a rule that concludes one of "
            "them from what is measured, such as distance(X,Y) <= 5 -> "
            f"{circular[0]}(...)."
        )


def read_events(source: str) -> "tuple[EventDefinition, ...]":
    """Read kinds of events from a text or a file; an empty text defines none."""
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
