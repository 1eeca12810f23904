"""Rules of states as the texts people edit, and sets of them: learned, or in use before others.

A set is a folder with the rules and how they came about; a learned one also holds the model's own
folder, which the command line reads. Using a set keeps the rules that were in use as a set first.
"""

import json
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.errors import WordsightError
from wordsight.files import read_present, write_text
from wordsight.progress import Progress
from wordsight.states import (
    Rule,
    StateModel,
    StateSequence,
    StateVocabulary,
    parse_rules,
    parse_vocabulary,
)
from wordsight.states.events.definitions import parse_events
from wordsight.states.events.find import check_predicates
from wordsight.states.rules.rule import format_rules
from wordsight.workflows.learn_states import LearnStatesRequest, observe_labelled
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import make_request
from wordsight.workflows.state_inputs import check_concluded, parse_kinds

__all__ = [
    "BOX_ENDINGS",
    "LABEL_ENDINGS",
    "LESSONS",
    "MODEL",
    "RuleBook",
    "RuleSet",
    "book_of",
    "compare_books",
    "keep_set",
    "labelled_request",
    "learned_book",
    "list_sets",
    "model_folder",
    "read_rules",
    "read_set",
    "remove_set",
    "rename_set",
    "settings_in_use",
    "use_set",
    "write_rules",
]


LESSONS = Path("states") / "lessons"
"""Where label files and boxes that rules are learned from are kept."""

LABEL_ENDINGS = (".csv", ".json", ".jsonl", ".eaf", ".xml")
BOX_ENDINGS = (".csv", ".txt", ".json", ".xml", ".npz")
_RULES = Path("states") / "rules.json"


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
        steady: Whether the shake of the camera is removed.
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

    def model(self) -> StateModel:
        """Make the model of these rules.

        Raises:
            WordsightError: If a text cannot be read; the message points at the place.
        """
        words = parse_vocabulary(self.vocabulary)
        parse_kinds(self.kinds)
        check_predicates(parse_events(self.events), words)
        rules = parse_rules(self.rules)
        check_concluded(rules, "the rules")
        return StateModel(rules, self.cost, words)

    def settings(self) -> dict[str, Any]:
        """Return these rules as settings of :class:`wordsight.workflows.states.FindEventsRequest`.

        A line break at the end makes them texts, not names of files.
        """
        return {
            "rules": f"{self.rules}\n",
            "vocabulary": f"{self.vocabulary}\n",
            "events": f"{self.events}\n",
            "transition_cost": self.cost,
            "hand": self.hands,
            "kind": self.kinds,
            "steady": self.steady,
        }


def read_rules(folder: Path) -> RuleBook:
    """Return the rules of a studio, or those it begins with."""
    path = folder / _RULES
    if not path.is_file():
        return RuleBook()
    return book_of(json.loads(path.read_text(encoding="utf-8")))


def book_of(kept: Mapping[str, Any]) -> RuleBook:
    """Return rules that were kept as JSON."""
    lists = {name: tuple(kept.get(name, ())) for name in ("hands", "kinds")}
    return RuleBook(**{**kept, **lists})


def write_rules(folder: Path, rules: RuleBook) -> None:
    """Keep rules that can be read; others are refused."""
    rules.model()
    (folder / _RULES).parent.mkdir(parents=True, exist_ok=True)
    write_text(folder / _RULES, json.dumps(asdict(rules), indent=2))


MODEL = "states-model"
"""Name of the folder of a learned model in the folder of its set."""

_FOLDER = Path("states") / "sets"

_FILE = "set.json"


@dataclass(frozen=True)
class RuleSet:
    """Rules that can be used, and where they are from.

    Attributes:
        name: Twelve hexadecimal digits.
        title: What they are, for people.
        time: When they were kept, in seconds since 1970.
        book: The rules.
        learned: How they were learned: films, share of their sequences that come out right, …;
            empty where they were written by hand.
    """

    name: str
    title: str
    time: float
    book: RuleBook
    learned: dict[str, Any] = field(default_factory=dict)


def keep_set(
    folder: Path,
    title: str,
    book: RuleBook,
    *,
    name: str | None = None,
    learned: Mapping[str, Any] | None = None,
    model: StateModel | None = None,
    kinds: Mapping[str, str] | None = None,
) -> RuleSet:
    """Keep rules as a set.

    Args:
        folder: The studio's folder.
        title: What they are.
        book: The rules.
        name: What to call the set; made up if left out. One of that name is replaced.
        learned: How they were learned.
        model: The learned model, for export.
        kinds: The kind of each label it was learned with.
    """
    kept = RuleSet(name or secrets.token_hex(6), title, time.time(), book, dict(learned or {}))
    place = folder / _FOLDER
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".") as beside:
        made = Path(beside) / "set"
        made.mkdir()
        write_text(made / _FILE, json.dumps(asdict(kept), indent=2))
        if model is not None:
            model.save(made / MODEL)
            write_text(made / MODEL / "kinds.json", json.dumps(dict(kinds or {}), indent=2) + "\n")
        shutil.rmtree(place / kept.name, ignore_errors=True)
        made.rename(place / kept.name)  # there is all of it, or nothing
    return kept


def list_sets(folder: Path) -> list[RuleSet]:
    """Return all sets, the newest first."""
    found = read_present((folder / _FOLDER).glob(f"[0-9a-f]*/{_FILE}"), _read)
    return sorted(found, key=lambda one: -one.time)


def read_set(folder: Path, name: str) -> RuleSet:
    """Return one set.

    Raises:
        WordsightError: If there is none of that name.
    """
    return _read(_place(folder, name) / _FILE)


def model_folder(folder: Path, name: str) -> Path:
    """Return the folder of a learned model, as the command line reads it.

    Raises:
        WordsightError: If the rules of that set were not learned.
    """
    place = _place(folder, name) / MODEL
    if not place.is_dir():
        raise WordsightError("these rules were written, not learned; there is no model of them.")
    return place


def use_set(folder: Path, name: str) -> RuleSet:
    """Infer with the rules of a set from now on; those in use until now become a set too."""
    wanted, now = read_set(folder, name), read_rules(folder)
    if now not in [one.book for one in list_sets(folder)]:
        keep_set(folder, f"In use before {wanted.title}", now)
    write_rules(folder, wanted.book)
    return wanted


def settings_in_use(folder: Path) -> dict[str, Any]:
    """Return the rules in use as settings of a request.

    Where they are those of a set that was learned, its model is used: that also knows how to infer
    with them and how far to trust them, which their texts do not say.
    """
    book = read_rules(folder)
    settings = book.settings()
    for one in list_sets(folder):
        place = folder / _FOLDER / one.name / MODEL
        if one.book == book and place.is_dir():
            return settings | {"model": place, "rules": None, "vocabulary": None}
    return settings


def rename_set(folder: Path, name: str, title: str) -> None:
    """Give a set another title."""
    path = _place(folder, name) / _FILE
    kept = json.loads(path.read_text(encoding="utf-8"))
    write_text(path, json.dumps(kept | {"title": title}))


def remove_set(folder: Path, name: str) -> None:
    """Forget a set, with the labels it was learned from; the rules in use stay as they are."""
    lesson = read_set(folder, name).learned.get("lesson")
    shutil.rmtree(_place(folder, name))
    if lesson:
        shutil.rmtree(folder / LESSONS / Path(lesson).name, ignore_errors=True)


def _place(folder: Path, name: str) -> Path:
    place = folder / _FOLDER / Path(name).name
    if not (place / _FILE).is_file():
        raise WordsightError(f"there is no set of rules {name}.")
    return place


def _read(path: Path) -> RuleSet:
    kept = json.loads(path.read_text(encoding="utf-8"))
    return RuleSet(**{**kept, "book": book_of(kept["book"])})


def labelled_request(
    folder: Path, lesson: Mapping[str, Any], book: RuleBook, library: str
) -> LearnStatesRequest:
    """Return a request to learn from labelled videos, measured as some rules need it.

    Args:
        folder: The studio's folder.
        lesson: ``lesson``, the folder of labels and boxes, ``videos`` of the library, and ``rate``,
            frames per second, if files need it.
        book: Says what kind things are of and what is measured.
        library: The library of the videos.

    Raises:
        WordsightError: If the labels are gone, or no video is chosen.
    """
    place = folder / LESSONS / Path(lesson["lesson"]).name
    labels = [path for path in sorted(place.glob("labels/*")) if path.is_file()]
    if not labels:
        raise WordsightError("the labels are not there any more; send them again.")
    inputs = (*map(str, sorted(place.glob("boxes/*"))), *lesson["videos"])
    if not inputs:
        raise WordsightError("choose films of the library, or send files of boxes.")
    known = book.settings()
    settings = {name: known[name] for name in ("vocabulary", "hand", "kind", "steady")}
    settings |= {"inputs": inputs, "labels": labels[0], "model": None, "library": library}
    return make_request(LearnStatesRequest, settings | {"rate": lesson.get("rate")})


def learned_book(model: StateModel, given: RuleBook, events: str) -> RuleBook:
    """Write a learned model as the texts people edit.

    Args:
        model: The learned rules.
        given: What they were learned with.
        events: Kinds of events; left out where the model has no predicates for them.
    """
    words = model.vocabulary_
    declared = {predicate.name for predicate in parse_vocabulary(given.vocabulary).predicates}
    more = [
        f"predicate {one.name}({', '.join(one.types)})\n"
        for one in words.predicates
        if one.name not in declared
    ]
    before = f"{given.vocabulary.rstrip()}\n" if given.vocabulary.strip() else ""
    leonard = resources.files("wordsight.states.events").joinpath("leonard.events")
    return replace(
        given,
        vocabulary=before + "".join(more),
        rules=format_rules(sorted(model.rules_, key=lambda rule: -rule.weight)),
        events=_first_fitting([events, leonard.read_text(encoding="utf-8")], words),
        cost=model.transition_cost_,
    )


def _first_fitting(texts: Sequence[str], words: StateVocabulary) -> str:
    for text in texts:
        try:
            check_predicates(parse_events(text), words)
        except WordsightError:
            continue
        return text
    return ""


def compare_books(
    folder: Path, now: RuleBook, other: RuleSet, library: str, progress: Progress
) -> dict[str, Any]:
    """Compare a set with the rules in use.

    Returns:
        ``rules``, each with its weight in use and in the set, ``None`` where it is not in one;
        ``films``, where the set was learned from labelled ones: whether the sequence of states is
        right and which share of facts, with the rules in use and with the set.
    """
    films: dict[str, dict[str, Any]] = {}
    for which, book in (("now", now), ("set", other.book)) if other.learned else ():
        request = labelled_request(folder, other.learned, book, library)
        for name, row in _judge(request, book.model(), progress).items():
            films.setdefault(name, {"film": name})[which] = row
    return {
        "set": other.name,
        "costs": [now.cost, other.book.cost],
        "rules": _weights(parse_rules(now.rules), parse_rules(other.book.rules)),
        "films": list(films.values()),
    }


def _weights(now: Sequence[Rule], other: Sequence[Rule]) -> list[dict[str, Any]]:
    """Pair rules that say the same, whatever their weights."""
    weights: dict[str, list[str | None]] = {}
    for place, rules in enumerate((now, other)):
        for rule in rules:
            weight, _, text = str(rule).partition(": ")
            weights.setdefault(text, [None, None])[place] = weight
    return [{"rule": text, "now": one[0], "set": one[1]} for text, one in weights.items()]


def _judge(
    request: LearnStatesRequest, model: StateModel, progress: Progress
) -> dict[str, dict[str, Any]]:
    labelled = observe_labelled(request, RecordingReporter())
    pairs, found = list(zip(labelled.observations, labelled.truth, strict=True)), {}
    for done, (one, truth) in enumerate(pairs, start=1):
        inferred = model.predict(one)
        share = _facts_right(inferred, truth)
        found[one.video_id] = {"right": inferred.states() == truth.states(), "facts": share}
        progress(done, len(pairs), one.video_id)
    return found


def _facts_right(inferred: StateSequence, truth: StateSequence) -> float:
    """Return the share of moments at which both agree on the facts that ever hold in either."""
    both = (inferred, truth)
    values = [dict(zip(map(str, one.facts), one.values.T, strict=True)) for one in both]
    nothing = np.zeros(len(truth.times), dtype=bool)
    ever = sorted({name for one in values for name, holds in one.items() if holds.any()})
    same = [np.mean(values[0].get(n, nothing) == values[1].get(n, nothing)) for n in ever]
    return float(np.mean(same)) if same else 1.0
