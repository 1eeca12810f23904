"""``wordsight states``: which facts hold when; rules learned, read and used."""

from typing import TYPE_CHECKING

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command, verb
from wordsight.cli.output import Output
from wordsight.workflows import states as workflows
from wordsight.workflows.learn_states import (
    LearnStatesResult,
    StateLabelsResult,
    learn_states,
    state_labels,
)
from wordsight.workflows.states import (
    ExplainStateRequest,
    FindEventsResult,
    InferStatesResult,
    StateRulesResult,
)
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.states.explanations import RuleUse, StateExplanation

__all__ = ["states"]

states = typer.Typer(
    help="Learn and infer states over time: what holds what, what rests on what, events.",
    no_args_is_help=True,
)


@states.command()
@verb(learn_states)
def learn(output: Output, result: LearnStatesResult) -> None:
    """Learn weighted rules from tracked things and labels of when facts hold."""
    rules, videos = count(len(result.model.rules_), "rule"), count(result.num_videos, "video")
    output.line(
        f"Learned {rules} from {videos}; {result.right:.0%} of their sequences come out exactly "
        "right."
    )
    if result.held_out:
        output.line(
            f"Judged by rules learned from other videos: {result.held_out['sequences']:.0%} of "
            f"the sequences, {result.held_out['facts'] or 0.0:.1%} of the facts at all moments."
        )
    if result.roles:
        output.line("Right means as the sentences imply; no label was seen. What words say of it:")
        rows = [(role.words or "(not mentioned)", f"{role.holds:.0%}") for role in result.roles]
        output.table(["said before the thing", "fact holds"], rows)
    output.line(f"Read them with: wordsight states rules --model {result.folder}")


@states.command()
@verb(state_labels)
def labels(output: Output, result: StateLabelsResult) -> None:
    """Read labels of when facts hold from CSV, JSON, EAF, CVAT or a made world's truth."""
    rows = [
        (row.video_id, row.start, row.end, str(row.fact))
        for intervals in result.intervals.values()
        for row in intervals
    ]
    output.table(["video", "from s", "to s", "fact"], rows)


@states.command()
@verb(workflows.infer_states)
def infer(output: Output, result: InferStatesResult) -> None:
    """Say when each fact holds in videos, and how probable that is."""
    rows = [
        (row.video_id, row.start, row.end, str(row.fact), f"{row.probability:.2f}", row.answer)
        for row in result.rows()
    ]
    output.table(["video", "from s", "to s", "fact", "probability", "holds"], rows)
    _render_trust(output, result)
    for one, (mean, most) in zip(result.sequences, result.latency, strict=False):
        output.line(
            f"{one.video_id}: final after {mean:.1f} frames on average, {most} at most; each "
            "moment's state is said at once."
        )


def _render_trust(output: Output, result: InferStatesResult) -> None:
    """Say if probabilities come from weights that were not fitted to anything."""
    if result.beliefs and not all(one.calibrated for one in result.beliefs):
        output.line(
            "Probabilities take the weights of the rules as log-odds; those of rules that "
            "`wordsight states learn` discovers are calibrated."
        )


@states.command()
@verb(workflows.state_rules)
def rules(output: Output, result: StateRulesResult) -> None:
    """Print the rules of a model, the weightiest first."""
    known: list[tuple[int, int] | None] = [*result.violations]
    known += [None] * (len(result.rules) - len(known))
    for rule, uses in zip(result.rules, known, strict=True):
        sound = "" if uses is None else f"  # violated in {uses[0]:,} of {uses[1]:,} uses"
        output.line(f"{rule}{sound}")
    output.line(f"# every change of state costs {result.transition_cost:.4g}")


@states.command()
@verb(workflows.find_events)
def events(output: Output, result: FindEventsResult) -> None:
    """Say what happens in videos, to whom and when."""
    rows = [
        (event.video_id, event.start, event.end, str(event), f"{share:.2f}")
        for event, share in zip(result.events, result.probabilities, strict=True)
    ]
    if rows:
        output.table(["video", "from s", "to s", "event", "probability"], rows)
        _render_trust(output, result)
    else:
        output.line("Nothing happens that the definitions know.")


@states.command()
@command(ExplainStateRequest)
def explain(
    output: Output, request: ExplainStateRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Say which rules speak for and against the state of a moment, and what they cost."""
    request = request.model_copy(update={"library": library})
    result = workflows.explain_state(request, progress=output)
    output.result(
        result, lambda out: _render_explanation(out, result.explanation, request.strongest)
    )


def _render_explanation(output: Output, known: "StateExplanation", strongest: int) -> None:
    output.line(f"{known.video_id} at {known.time:.2f} s")
    output.line(f"Holds: {', '.join(map(str, known.facts)) or 'nothing'}.")
    if known.kept:
        rows = [_saving(use) for use in known.kept[:strongest]]
        output.table(["saves", f"kept: {count(len(known.kept), 'rule')}"], rows)
    if known.violated:
        rows = [(f"{use.cost:.2f}", use.text) for use in known.violated[:strongest]]
        broken = f"broken: {count(len(known.violated), 'rule')}, {known.cost:.3g} in all"
        output.table(["costs", broken], rows)
    else:
        output.line("No rule is broken.")
    output.line(
        f"The state changes {count(known.changes, 'time')} in this video, at "
        f"{known.transition_cost:.3g} each."
    )


def _saving(use: "RuleUse") -> tuple[str, str]:
    return ("hard" if use.rule.hard else f"{use.spared:.2f}", use.text)
