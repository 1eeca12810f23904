"""The rules the studio infers states with, as the texts people edit, and how videos are read."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.files import atomic_path
from wordsight.library import Library
from wordsight.perception import Tracker, detections_from_tracks
from wordsight.records import Clip
from wordsight.states import (
    StateModel,
    StateObservations,
    TrackSmoothing,
    parse_rules,
    parse_vocabulary,
)
from wordsight.states.events.definitions import parse_events
from wordsight.states.events.find import check_predicates
from wordsight.workflows.clips import whole_clip

__all__ = [
    "RuleBook",
    "book_of",
    "observe",
    "observe_clip",
    "parse_kinds_text",
    "read_rules",
    "write_rules",
]

_FILE = Path("states") / "rules.json"
_ODD = re.compile(r"[^A-Za-z0-9_]")


@dataclass(frozen=True)
class RuleBook:
    """Everything states are inferred with.

    Attributes:
        vocabulary: Predicates and features, declared in text.
        rules: Weighted rules.
        events: Kinds of events over states.
        cost: What every change of state costs.
        hands: Labels of what can hold things: they are of the kind ``hand``, others of the kind
            ``object``; where none are named, a label is its own kind.
        kinds: The kinds of labels, such as ``red,green=block``; they come before ``hands``.
        steady: Whether the shake of the camera is taken out.
    """

    vocabulary: str = "predicate attached(hand, object)\n"
    rules: str = (
        "# held: near a hand and moving along with it\n"
        "3: distance(X,Y) <= 4, speed(Y) >= 25, relative_speed(X,Y) <= 80 -> attached(X,Y)\n"
        "# nothing is held without a reason\n"
        "1: attached(X,Y) -> false\n"
    )
    events: str = (
        "PICKUP(x,y) = [not attached(x,y)] ; [attached(x,y)]\n"
        "PUTDOWN(x,y) = [attached(x,y)] ; [not attached(x,y)]\n"
    )
    cost: float = 10.0
    hands: tuple[str, ...] = ("hand", "person")
    kinds: tuple[str, ...] = ()
    steady: bool = False

    def kind_of(self, label: str) -> str:
        """Return the kind of what a detector calls so, as a word that rules can be written with."""
        usual = label
        if self.hands:
            usual = "hand" if any(hand in label.lower() for hand in self.hands) else "object"
        kind = _ODD.sub("_", parse_kinds_text(self.kinds).get(label, usual))
        return kind if kind[:1].islower() else f"a_{kind}"

    def model(self) -> StateModel:
        """Make the model of these rules.

        Raises:
            WordsightError: If a text cannot be read; the message points at the place.
        """
        words = parse_vocabulary(self.vocabulary)
        parse_kinds_text(self.kinds)
        check_predicates(parse_events(self.events), words)
        return StateModel(parse_rules(self.rules), self.cost, words)


def read_rules(folder: Path) -> RuleBook:
    """Return the rules of a studio, or those it begins with."""
    path = folder / _FILE
    if not path.is_file():
        return RuleBook()
    return book_of(json.loads(path.read_text(encoding="utf-8")))


def book_of(kept: Mapping[str, Any]) -> RuleBook:
    """Return rules that were kept as JSON."""
    lists = {name: tuple(kept.get(name, ())) for name in ("hands", "kinds")}
    return RuleBook(**{**kept, **lists})


def parse_kinds_text(pairs: Iterable[str]) -> dict[str, str]:
    """Read which labels are of which kind, as in ``red,green=block``.

    Raises:
        WordsightError: If one is written otherwise.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        labels, _, kind = (part.strip() for part in pair.partition("="))
        if not (labels and kind):
            raise WordsightError(f"kinds are written as LABEL=KIND or A,B=KIND, got {pair!r}.")
        found.update({label.strip(): kind for label in labels.split(",")})
    return found


def write_rules(folder: Path, rules: RuleBook) -> None:
    """Keep rules that can be read; others are refused."""
    rules.model()
    (folder / _FILE).parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / _FILE) as path:
        path.write_text(json.dumps(asdict(rules), indent=2), encoding="utf-8")


def observe(library: Library, video_id: str, rules: RuleBook) -> StateObservations:
    """Follow the things of a video and measure them."""
    return observe_clip(whole_clip(library, video_id), rules)


def observe_clip(clip: Clip, rules: RuleBook) -> StateObservations:
    """Follow the things of a clip, where they have no identities yet, and measure them."""
    clip = _followed(clip)
    kinds = {label: rules.kind_of(label) for label in clip.detections.label_names}
    words = parse_vocabulary(rules.vocabulary)
    smoothing = TrackSmoothing(steady=rules.steady)
    return StateObservations.from_clip(clip, kinds=kinds, vocabulary=words, smoothing=smoothing)


def _followed(clip: Clip) -> Clip:
    seen = clip.detections
    if seen.ids is not None and (seen.ids[seen.mask] >= 0).any():
        return clip
    tracks = Tracker().track(seen, clip.video_id)
    if not tracks:
        raise WordsightError(f"nothing can be followed in {clip.video_id}; it shows no things.")
    linked = detections_from_tracks(
        tracks, seen.times, seen.frame_size, label_names=seen.label_names
    )
    return replace(clip, detections=linked)
