"""Learning weighted rules from labelled films, kept as a set beside the rules in use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.studio.jobs.task import JobContext

if TYPE_CHECKING:
    from wordsight.states import StateModel, StateObservations, StateSequence, StateVocabulary
    from wordsight.studio.states import RuleBook

__all__ = ["learn_rules", "measured"]


def learn_rules(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Learn rules and keep them as a set, beside those in use.

    Args:
        arguments: ``name`` of the set; ``title``; ``lesson``, the folder of labels and boxes;
            ``videos`` of the library; ``kinds`` such as ``red,green=block``; ``rules``, of which
            only the weights are learned, none to discover them; ``vocabulary``; ``steady``;
            ``seed``; ``engine``.
        workplace: Where to work.
    """
    from wordsight.engine import open_engine
    from wordsight.states import StateModel, parse_rules, parse_vocabulary
    from wordsight.studio.rule_sets import keep_set
    from wordsight.studio.states import RuleBook, read_rules

    steady, kinds = bool(arguments.get("steady")), tuple(arguments["kinds"])
    book = RuleBook(arguments["vocabulary"], "", "", 0.0, (), kinds, steady)
    lesson = {"lesson": arguments["lesson"], "videos": list(arguments["videos"])}
    workplace.progress(0, None, "measuring what is seen")
    seen, truth, labels = measured(lesson, workplace, book)
    given = parse_rules(arguments["rules"]) if arguments["rules"].strip() else None
    words, seed = parse_vocabulary(book.vocabulary), int(arguments["seed"])
    learner = StateModel(given, vocabulary=words, random_state=seed)
    with open_engine(arguments.get("engine")) as engine:
        learner.fit(seen, truth, progress=workplace.progress, engine=engine)
    if steady:
        learner.notes_["steady"] = True  # so that the command line steadies, too
    report = {
        **lesson,
        "films": len(seen),
        "right": learner.score(seen, truth),
        "rules": len(learner.rules_),
        "cost": learner.transition_cost_,
        "facts": [predicate.name for predicate in learner.vocabulary_.predicates],
        "seed": seed,
    }
    made = keep_set(
        workplace.folder,
        arguments["title"],
        _book(learner, book, read_rules(workplace.folder).events),
        name=arguments["name"],
        learned=report,
        model=learner,
        kinds={label: book.kind_of(label) for label in labels},
    )
    return {"set": made.name, **report}


def measured(
    lesson: Mapping[str, Any], workplace: JobContext, book: "RuleBook"
) -> tuple[list["StateObservations"], list["StateSequence"], list[str]]:
    """Measure labelled films as some rules need it.

    Args:
        lesson: ``lesson``, the folder of labels and boxes, and ``videos`` of the library.
        workplace: Where to work.
        book: Says what kind things are of and what is measured.

    Returns:
        What is measured in each film, what is noted to hold in each, and all labels of things.
    """
    from wordsight.library import Library
    from wordsight.states.formats import sequence_from_intervals
    from wordsight.studio.labelled import LESSONS, labelled_clips
    from wordsight.studio.states import observe_clip

    folder = workplace.folder / LESSONS / Path(lesson["lesson"]).name
    with Library.open(workplace.library) as library:
        films = labelled_clips(library, lesson["videos"], folder)
    seen = [observe_clip(clip, book) for clip, _ in films]
    truth = [
        sequence_from_intervals(one.video_id, one.times, noted)
        for one, (_, noted) in zip(seen, films, strict=True)
    ]
    labels = sorted({label for clip, _ in films for label in clip.detections.label_names})
    return seen, truth, labels


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
    from wordsight.errors import WordsightError
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
