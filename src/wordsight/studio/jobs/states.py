"""Learning rules from labelled videos, comparing them, inferring states with them."""

import json
from collections.abc import Mapping
from typing import Any

from wordsight.files import write_text
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.learn_states import learn_states
from wordsight.workflows.rule_sets import (
    RuleBook,
    compare_books,
    keep_set,
    labelled_request,
    learned_book,
    read_rules,
    read_set,
    settings_in_use,
)
from wordsight.workflows.settings import make_request
from wordsight.workflows.states import FindEventsRequest, find_events
from wordsight.workflows.workflow import open_library

__all__ = ["compare_rules", "infer_states", "learn_rules", "states_file"]


def states_file(video_id: str) -> str:
    """Return the name of the file that keeps the states of a video."""
    return f"states/video-{video_id}.json"


def infer_states(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Infer which facts hold when in a video, and what happens.

    Args:
        arguments: ``video``.
        context: Where to work.
    """
    with open_library(context.library) as library:
        video = library.video(library.resolve(arguments["video"]))
    settings = settings_in_use(context.folder)
    settings |= {"inputs": (video.id,), "library": context.library}
    result = find_events(make_request(FindEventsRequest, settings), progress=context.progress)
    (beliefs,) = result.beliefs
    facts = [
        {
            "start": row.start,
            "end": row.end,
            "fact": str(row.fact),
            "probability": row.probability,
            "answer": row.answer,
        }
        for row in beliefs.rows(doubts=True)
    ]
    happened = [
        {"start": event.start, "end": event.end, "event": str(event), "probability": share}
        for event, share in zip(result.events, result.probabilities, strict=True)
    ]
    states = {"video": video.id, "duration": video.duration, "facts": facts, "events": happened}
    target = context.folder / states_file(video.id)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, json.dumps(states))
    return {"video": video.id, "facts": len(facts), "events": len(happened)}


def learn_rules(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Learn rules and keep them as a set, beside those in use.

    Args:
        arguments: ``name`` of the set; ``title``; ``lesson``, the folder of labels and boxes;
            ``videos`` of the library; ``kinds`` such as ``red,green=block``; ``rules``, of which
            only the weights are learned, none to discover them; ``vocabulary``; ``steady``;
            ``method``, ``tau``, ``online``; ``rate`` of files without times; ``seed``; ``engine``.
        context: Where to work.
    """
    steady, kinds = bool(arguments.get("steady")), tuple(arguments["kinds"])
    book = RuleBook(arguments["vocabulary"], "", "", 0.0, (), kinds, steady)
    lesson = {"lesson": arguments["lesson"], "videos": list(arguments["videos"])}
    if arguments.get("rate") is not None:
        lesson["rate"] = arguments["rate"]
    rules, seed = arguments["rules"], int(arguments["seed"])
    request = labelled_request(context.folder, lesson, book, context.library).model_copy(
        update={
            "rules": f"{rules}\n" if rules.strip() else None,
            "seed": seed,
            "engine": arguments.get("engine"),
            "method": arguments.get("method", "boosted"),
            "tau": arguments.get("tau"),
            "online": bool(arguments.get("online")),
        }
    )
    result = learn_states(request, progress=context.progress)
    model = result.model
    report = {
        **lesson,
        "films": result.num_videos,
        "right": result.right,
        "held_out": result.held_out.get("sequences"),
        "method": request.method,
        "rules": len(model.rules_),
        "cost": model.transition_cost_,
        "facts": [predicate.name for predicate in model.vocabulary_.predicates],
        "seed": seed,
    }
    kept = keep_set(
        context.folder,
        arguments["title"],
        learned_book(model, book, read_rules(context.folder).events),
        name=arguments["name"],
        learned=report,
        model=model,
        kinds=result.kinds,
    )
    return {"set": kept.name, **report}


def compare_rules(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Compare a set with the rules in use.

    Args:
        arguments: ``name`` of the set.
        context: Where to work.
    """
    now, other = read_rules(context.folder), read_set(context.folder, arguments["name"])
    return compare_books(context.folder, now, other, context.library, context.progress)
