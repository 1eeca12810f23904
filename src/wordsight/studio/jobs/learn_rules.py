"""Learning weighted rules from labelled films, kept as a set beside the rules in use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.settings import make_request
from wordsight.workflows.states import LearnStatesRequest, learn_states

if TYPE_CHECKING:
    from wordsight.states import StateModel, StateVocabulary
    from wordsight.studio.states import RuleBook

__all__ = ["BOX_ENDINGS", "LABEL_ENDINGS", "LESSONS", "labelled_request", "learn_rules"]

LESSONS = Path("states") / "lessons"
"""Where label files and boxes that were sent are kept, in the studio's folder."""

LABEL_ENDINGS = (".csv", ".json")
BOX_ENDINGS = (".csv", ".txt", ".json", ".xml", ".npz")


def learn_rules(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Learn rules and keep them as a set, beside those in use.

    Args:
        arguments: ``name`` of the set; ``title``; ``lesson``, the folder of labels and boxes;
            ``videos`` of the library; ``kinds`` such as ``red,green=block``; ``rules``, of which
            only the weights are learned, none to discover them; ``vocabulary``; ``steady``;
            ``seed``; ``engine``.
        workplace: Where to work.
    """
    from wordsight.studio.rule_sets import keep_set
    from wordsight.studio.states import RuleBook, read_rules

    steady, kinds = bool(arguments.get("steady")), tuple(arguments["kinds"])
    book = RuleBook(arguments["vocabulary"], "", "", 0.0, (), kinds, steady)
    lesson = {"lesson": arguments["lesson"], "videos": list(arguments["videos"])}
    rules = arguments["rules"]
    request = labelled_request(lesson, workplace, book).model_copy(
        update={
            "rules": f"{rules}\n" if rules.strip() else None,
            "seed": int(arguments["seed"]),
            "engine": arguments.get("engine"),
        }
    )
    result = learn_states(request, progress=workplace.progress)
    learner = result.model
    report = {
        **lesson,
        "films": result.num_videos,
        "right": result.right,
        "rules": len(learner.rules_),
        "cost": learner.transition_cost_,
        "facts": [predicate.name for predicate in learner.vocabulary_.predicates],
        "seed": int(arguments["seed"]),
    }
    kept = keep_set(
        workplace.folder,
        arguments["title"],
        _book(learner, book, read_rules(workplace.folder).events),
        name=arguments["name"],
        learned=report,
        model=learner,
        kinds=result.kinds,
    )
    return {"set": kept.name, **report}


def labelled_request(
    lesson: Mapping[str, Any], workplace: JobContext, book: "RuleBook"
) -> LearnStatesRequest:
    """Return what learns from labelled videos, measured as some rules need it; nothing is written.

    Args:
        lesson: ``lesson``, the folder of labels and boxes, and ``videos`` of the library.
        workplace: Where to work.
        book: Says what kind things are of and what is measured.

    Raises:
        WordsightError: If the labels are gone, or no video is chosen.
    """
    folder = workplace.folder / LESSONS / Path(lesson["lesson"]).name
    labels = [path for path in sorted(folder.glob("labels/*")) if path.is_file()]
    if not labels:
        raise WordsightError("the labels are not there any more; send them again.")
    inputs = (*map(str, sorted(folder.glob("boxes/*"))), *lesson["videos"])
    if not inputs:
        raise WordsightError("choose films of the library, or send files of boxes.")
    known = book.settings()
    settings = {name: known[name] for name in ("vocabulary", "hand", "kind", "steady")}
    settings |= {
        "inputs": inputs,
        "labels": labels[0],
        "model": None,
        "library": workplace.library,
    }
    return make_request(LearnStatesRequest, settings)


def _book(learner: "StateModel", given: "RuleBook", events: str) -> "RuleBook":
    """Write a learned model as the texts people edit; events it cannot speak of are left out."""
    from wordsight.states import parse_vocabulary
    from wordsight.states.rules.rule import format_rules

    words = learner.vocabulary_
    declared = {predicate.name for predicate in parse_vocabulary(given.vocabulary).predicates}
    more = [
        f"predicate {one.name}({', '.join(one.types)})\n"
        for one in words.predicates
        if one.name not in declared
    ]
    before = f"{given.vocabulary.rstrip()}\n" if given.vocabulary.strip() else ""
    return replace(
        given,
        vocabulary=before + "".join(more),
        rules=format_rules(sorted(learner.rules_, key=lambda rule: -rule.weight)),
        events=_fitting([events, _leonard()], words),
        cost=learner.transition_cost_,
    )


def _fitting(texts: Sequence[str], words: "StateVocabulary") -> str:
    from wordsight.states.events.definitions import parse_events
    from wordsight.states.events.find import check_predicates

    for text in texts:
        try:
            check_predicates(parse_events(text), words)
        except WordsightError:
            continue
        return text
    return ""


def _leonard() -> str:
    from importlib import resources

    text = resources.files("wordsight.states.events").joinpath("leonard.events")
    return text.read_text(encoding="utf-8")
