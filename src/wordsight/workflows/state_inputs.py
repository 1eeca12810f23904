"""What the verbs of states read: clips from files or a library, kinds, labels, rules, models."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from wordsight.errors import FormatError, LibraryError, WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, setting

if TYPE_CHECKING:
    from wordsight.records import Clip, Detections
    from wordsight.states import Rule, StateModel, StateObservations, StateVocabulary
    from wordsight.states.events.definitions import EventDefinition
    from wordsight.states.rules.facts import FactInterval

__all__ = [
    "StateKinds",
    "label_kinds",
    "labels_of",
    "load_state_model",
    "observe_clips",
    "parse_kinds",
    "read_clips",
    "read_events",
    "read_rules",
    "read_vocabulary",
]

_BOX_SUFFIXES = (".npz", ".csv", ".json", ".xml", ".txt")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
Parsed = TypeVar("Parsed")


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


def load_state_model(folder: Path) -> tuple["StateModel", dict[str, str]]:
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
) -> list["StateObservations"]:
    """Measure the tracked things of clips."""
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
    return rules


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
