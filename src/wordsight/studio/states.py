"""The rules the studio infers states with, as the texts people edit."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wordsight.files import atomic_path
from wordsight.states import StateModel, parse_rules, parse_vocabulary
from wordsight.states.events.definitions import parse_events
from wordsight.states.events.find import check_predicates
from wordsight.workflows.state_inputs import parse_kinds

__all__ = ["RuleBook", "book_of", "read_rules", "write_rules"]

_FILE = Path("states") / "rules.json"


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
        return StateModel(parse_rules(self.rules), self.cost, words)

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
    path = folder / _FILE
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
    (folder / _FILE).parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / _FILE) as path:
        path.write_text(json.dumps(asdict(rules), indent=2), encoding="utf-8")
