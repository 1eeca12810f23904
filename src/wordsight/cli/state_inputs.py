"""What the commands about states read: tracked things from files or a library, models, labels."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from wordsight.cli.output import Output
from wordsight.errors import FormatError, LibraryError, WordsightError

if TYPE_CHECKING:
    from wordsight.records import Clip, Detections
    from wordsight.states import Rule, StateModel, StateObservations, StateVocabulary
    from wordsight.states.events.definitions import EventDefinition
    from wordsight.states.rules.facts import FactInterval

__all__ = [
    "labels_of",
    "parse_kinds",
    "read_clips",
    "read_events",
    "read_model",
    "read_observations",
    "read_rules",
    "read_vocabulary",
]

Found = TypeVar("Found")


def read_observations(
    output: Output,
    inputs: Sequence[str],
    library: str,
    kinds: dict[str, str],
    vocabulary: "StateVocabulary | None",
    *,
    steady: bool = False,
) -> list["StateObservations"]:
    """Measure the tracked things of each input, the shake of the camera taken out if told so."""
    from wordsight.states import StateObservations, TrackSmoothing

    smoothing = TrackSmoothing(steady=steady)
    return [
        StateObservations.from_clip(clip, kinds=kinds, vocabulary=vocabulary, smoothing=smoothing)
        for clip in read_clips(output, inputs, library)
    ]


def labels_of(
    seen: Sequence["StateObservations"],
    told: "dict[str, list[FactInterval]]",
    file: Path,
    library: str,
) -> list[list["FactInterval"]]:
    """Return what is told of each film, which may be called by its id or its file.

    Boxes in ``film.csv`` or ``film.boxes.csv`` are those of ``film.mp4``.
    """
    from wordsight.library import Library
    from wordsight.workflows.clips import names_of, noted

    stems = {Path(name).stem: name for name in sorted(told, reverse=True)}
    names: list[tuple[str, ...]] = [
        (one.video_id, stems.get(one.video_id, one.video_id)) for one in seen
    ]
    if any(one.video_id not in told for one in seen):
        with suppress(LibraryError), Library.open(library) as opened:
            names = [names_of(opened, one[0]) if one[0] in opened else one for one in names]
    return [noted(told, one, str(file)) for one in names]


def read_clips(output: Output, inputs: Sequence[str], library: str) -> list["Clip"]:
    """Read each input: a file of boxes, a clip or a video; things are followed if they are not."""
    clips = [_clip(Path(name), name, library) for name in inputs]
    names = [clip.video_id for clip in clips]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WordsightError(
            f"two inputs are called {twice[0]!r}; rename one, since states are told by name."
        )
    return [_followed(output, clip) for clip in clips]


def _clip(path: Path, name: str, library: str) -> "Clip":
    from wordsight.records import Clip

    if not path.is_file():
        if path.suffix.lower() in (".npz", ".csv", ".json", ".xml", ".txt"):
            raise WordsightError(f"there is no file {path}.")
        from wordsight.library import Library

        with Library.open(library) as opened:
            video_id = opened.resolve(name)
            return _whole(video_id, opened.detections(video_id))
    if path.suffix.lower() == ".npz":
        return Clip.load(path)
    from wordsight.perception import read_boxes

    return _whole(path.stem.removesuffix(".boxes"), read_boxes(path))  # film.boxes.csv is a film's


def _whole(video_id: str, seen: "Detections") -> "Clip":
    from wordsight.records import Clip

    if not len(seen):
        raise WordsightError(f"{video_id} has no frames; there is nothing to infer states from.")
    return Clip(video_id, float(seen.times[0]), float(seen.times[-1]) + 1e-3, seen)


def _followed(output: Output, clip: "Clip") -> "Clip":
    """Return a clip with identities; things are followed where they have none yet."""
    from dataclasses import replace

    from wordsight.perception import Tracker, detections_from_tracks

    seen = clip.detections
    if seen.ids is not None and (seen.ids[seen.mask] >= 0).any():
        return clip
    tracks = Tracker().track(seen, clip.video_id)
    if not tracks:
        raise WordsightError(f"nothing can be followed in {clip.video_id}; it needs boxes.")
    output.note(f"{clip.video_id}: boxes without identities, followed {len(tracks)} things.")
    followed = detections_from_tracks(
        tracks, seen.times, seen.frame_size, label_names=seen.label_names
    )
    return replace(clip, detections=followed)


def parse_kinds(pairs: Sequence[str] | None) -> dict[str, str]:
    """Read ``LABEL=KIND`` settings; ``red,green=block`` gives several labels one kind."""
    found = {}
    for pair in pairs or []:
        labels, equals, kind = pair.partition("=")
        if not (labels and equals and kind):
            raise WordsightError(f"--kind takes LABEL=KIND or A,B=KIND, got {pair!r}.")
        found.update({label.strip(): kind.strip() for label in labels.split(",")})
    return found


def read_vocabulary(path: Path | None) -> "StateVocabulary | None":
    """Read the file that declares predicates and features."""
    from wordsight.states import parse_vocabulary

    return None if path is None else _parsed(path, parse_vocabulary)


def read_rules(path: Path) -> "tuple[Rule, ...]":
    """Read rules that somebody wrote."""
    from wordsight.states import parse_rules

    found = _parsed(path, parse_rules)
    if not found:
        raise FormatError(
            f"{path} holds no rule; write one a line, such as 2: speed(X) >= 20 -> moves(X)."
        )
    return found


def read_events(path: Path) -> "tuple[EventDefinition, ...]":
    """Read kinds of events that somebody defined."""
    from wordsight.states.events.definitions import parse_events

    found = _parsed(path, parse_events)
    if not found:
        raise FormatError(
            f"{path} defines no event; write one a line, such as START(x) = [not moves(x)] ; "
            "[moves(x)]."
        )
    return found


def _parsed(path: Path, parse: Callable[[str], Found]) -> Found:
    """Read a text file; whatever is wrong with its text is told with the file's name."""
    from wordsight.states import StateError

    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise WordsightError(f"there is no file {path}; check the name.") from None
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path}: expected UTF-8 text, but byte {error.start} is not; save it as UTF-8."
        ) from None
    except StateError as error:
        raise FormatError(f"{path}, {error}") from error


def read_model(
    folder: Path, rules: Path | None, vocabulary: Path | None, transition_cost: float
) -> tuple["StateModel", dict[str, str]]:
    """Load a learned model, or make one of rules that somebody wrote; with the kinds of labels."""
    from wordsight.states import StateModel
    from wordsight.workflows.state_annotator import load_state_annotator

    if rules is not None:
        if vocabulary is None:
            raise WordsightError("rules need --vocabulary FILE, which declares their predicates.")
        return StateModel(read_rules(rules), transition_cost, read_vocabulary(vocabulary)), {}
    if not folder.exists():
        raise WordsightError(
            f"there is no learned model at {folder}; make one with `wordsight states learn`, name "
            "its folder with --model, or give --rules FILE and --vocabulary FILE."
        )
    known = load_state_annotator(folder)
    return known.model, known.kinds
