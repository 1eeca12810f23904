"""``wordsight states``: which facts hold when; rules learned, read and used."""

from typing import TYPE_CHECKING

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows import states as workflows
from wordsight.workflows.states import (
    ExplainStateRequest,
    FindEventsRequest,
    InferStatesRequest,
    LearnStatesRequest,
    StateRulesRequest,
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
@command(LearnStatesRequest)
def learn(
    output: Output, request: LearnStatesRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Learn weighted rules from tracked things and labels of when facts hold."""
    request = request.model_copy(update={"library": library})
    result = workflows.learn_states(request, progress=output)

    def render(out: Output) -> None:
        rules, videos = count(len(result.model.rules_), "rule"), count(result.num_videos, "video")
        out.line(
            f"Learned {rules} from {videos}; {result.right:.0%} of their sequences come out "
            "exactly right."
        )
        out.line(f"Read them with: wordsight states rules --model {result.folder}")

    output.result(result, render)


@states.command()
@command(InferStatesRequest)
def infer(
    output: Output, request: InferStatesRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Say when each fact holds in videos."""
    request = request.model_copy(update={"library": library})
    result = workflows.infer_states(request, progress=output)

    def render(out: Output) -> None:
        rows = [
            (row.video_id, row.start, row.end, str(row.fact))
            for sequence in result.sequences
            for row in sequence.intervals()
        ]
        out.table(["video", "from s", "to s", "fact"], rows)

    output.result(result, render)
    for path in result.files:
        output.note(f"Wrote {path}")


@states.command()
@command(StateRulesRequest)
def rules(output: Output, request: StateRulesRequest) -> None:
    """Print the rules of a model, the weightiest first."""
    result = workflows.state_rules(request, progress=output)

    def render(out: Output) -> None:
        for rule in result.rules:
            out.line(str(rule))
        out.line(f"# every change of state costs {result.transition_cost:.4g}")

    output.result(result, render)


@states.command()
@command(FindEventsRequest)
def events(
    output: Output, request: FindEventsRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Say what happens in videos, to whom and when."""
    request = request.model_copy(update={"library": library})
    result = workflows.find_events(request, progress=output)

    def render(out: Output) -> None:
        rows = [(event.video_id, event.start, event.end, str(event)) for event in result.events]
        if rows:
            out.table(["video", "from s", "to s", "event"], rows)
        else:
            out.line("Nothing happens that the definitions know.")

    output.result(result, render)
    for path in result.files:
        output.note(f"Wrote {path}")


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
