"""``wordsight states``: who holds what, what rests on what, when; rules learned, read and used."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.engines import EngineOption, engine_of
from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.units import count
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.states import StateModel, StateObservations, StateSequence
    from wordsight.states.events.find import StateEvent
    from wordsight.states.explanations import RuleUse, StateExplanation

__all__ = ["states"]

states = typer.Typer(
    help="Learn and infer states over time: what holds what, what rests on what, events.",
    no_args_is_help=True,
)

InputsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Boxes with identities (.csv .txt .json .xml), clips (.npz), videos of a library.",
    ),
]
ModelOption = Annotated[
    Path, typer.Option("--model", "-m", metavar="FOLDER", help="The learned model.")
]
RulesOption = Annotated[
    Path | None, typer.Option("--rules", metavar="FILE", help="Rules of your own, as text.")
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Declares predicates and features; see the guide."),
]
CostOption = Annotated[
    float, typer.Option("--transition-cost", min=0.0, help="With --rules: what a change costs.")
]
KindOption = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="LABEL=KIND", help="The kind of a label: red,green=block."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to .json, .csv or .eaf."),
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="PNG", help="Draw a timeline; of one input only.")
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", show_default=False)
]
SteadyFlag = Annotated[
    bool,
    typer.Option(
        "--steady",
        help="Take the shake of the camera out of the boxes; a learned model remembers it.",
        show_default=False,
    ),
]
DEFAULT_MODEL = Path("states-model")
DEFAULT_COST = 10.0


@states.command()
@speaking
def learn(
    output: Output,
    inputs: InputsArgument,
    labels: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="When facts hold: .csv with video,start,end,fact, or .json."
        ),
    ],
    model: ModelOption = DEFAULT_MODEL,
    rules: RulesOption = None,
    vocabulary: VocabularyOption = None,
    kind: KindOption = None,
    steady: SteadyFlag = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed learns the same rules.")] = 0,
    engine: EngineOption = None,
    force: ForceFlag = False,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Learn weighted rules from tracked things and labels of when facts hold."""
    from wordsight.cli.state_inputs import (
        labels_of,
        parse_kinds,
        read_observations,
        read_rules,
        read_vocabulary,
    )
    from wordsight.states import StateModel
    from wordsight.states.formats import read_intervals, sequence_from_intervals
    from wordsight.workflows.state_annotator import StateAnnotator

    refuse_existing(model, force=force)
    kinds, words = parse_kinds(kind), read_vocabulary(vocabulary)
    told = read_intervals(labels)
    seen = read_observations(output, inputs, library, kinds, words, steady=steady)
    truth = [
        sequence_from_intervals(one.video_id, one.times, noted)
        for one, noted in zip(seen, labels_of(seen, told, labels, library), strict=True)
    ]
    given = None if rules is None else read_rules(rules)
    learner = StateModel(given, vocabulary=words, random_state=seed)
    with engine_of(output, engine) as who, output.progress("Learning") as progress:
        learner.fit(seen, truth, progress=progress, engine=who)
    right = learner.score(seen, truth)
    if steady:
        learner.notes_["steady"] = True
    StateAnnotator(learner, kinds).save(model, overwrite=force)
    report = {
        "model": model,
        "videos": len(seen),
        "rules": len(learner.rules_),
        "transition_cost": learner.transition_cost_,
        "training_sequences_right": right,
    }

    def render(out: Output) -> None:
        out.line(
            f"Learned {count(len(learner.rules_), 'rule')} from {count(len(seen), 'video')}; "
            f"{right:.0%} of their sequences come out exactly right."
        )
        out.line(f"Read them with: wordsight states rules --model {model}")

    output.result(report, render)


@states.command()
@speaking
def infer(
    output: Output,
    inputs: InputsArgument,
    model: ModelOption = DEFAULT_MODEL,
    rules: RulesOption = None,
    vocabulary: VocabularyOption = None,
    transition_cost: CostOption = DEFAULT_COST,
    kind: KindOption = None,
    steady: SteadyFlag = False,
    output_path: OutputOption = None,
    plot: PlotOption = None,
    force: ForceFlag = False,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say when each fact holds in videos."""
    from wordsight.states.formats import write_states

    _check_targets(inputs, output_path, plot, force)
    known, seen = _prepare(
        output, inputs, library, model, rules, vocabulary, transition_cost, kind, steady
    )
    found = [known.predict(one) for one in seen]
    if output_path is not None:
        write_states(output_path, found, overwrite=force)
        output.note(f"States: {output_path}")
    _draw(output, plot, found, (), force)
    rows = [row for sequence in found for row in sequence.intervals()]
    output.result(
        [{"video": r.video_id, "start": r.start, "end": r.end, "fact": str(r.fact)} for r in rows],
        lambda out: out.table(
            ["video", "from s", "to s", "fact"],
            [(r.video_id, r.start, r.end, str(r.fact)) for r in rows],
        ),
    )


@states.command()
@speaking
def rules(
    output: Output,
    model: ModelOption = DEFAULT_MODEL,
    strongest: Annotated[
        int | None, typer.Option(min=1, help="Only so many, the weightiest.")
    ] = None,
) -> None:
    """Print the rules of a model, the weightiest first."""
    from wordsight.cli.state_inputs import read_model

    known, _ = read_model(model, None, None, DEFAULT_COST)
    chosen = sorted(known.rules_, key=lambda rule: -rule.weight)[:strongest]
    report = {
        "transition_cost": known.transition_cost_,
        "rules": [str(rule) for rule in chosen],
    }

    def render(out: Output) -> None:
        for rule in chosen:
            out.line(str(rule))
        out.line(f"# every change of state costs {known.transition_cost_:.4g}")

    output.result(report, render)


@states.command()
@speaking
def events(
    output: Output,
    inputs: InputsArgument,
    model: ModelOption = DEFAULT_MODEL,
    definitions: Annotated[
        Path | None,
        typer.Option("--events", metavar="FILE", help="Kinds of events; else seven of a hand."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also events that are part of others.", show_default=False),
    ] = False,
    rules: RulesOption = None,
    vocabulary: VocabularyOption = None,
    transition_cost: CostOption = DEFAULT_COST,
    kind: KindOption = None,
    steady: SteadyFlag = False,
    output_path: OutputOption = None,
    plot: PlotOption = None,
    force: ForceFlag = False,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say what happens in videos, to whom and when."""
    from wordsight.cli.state_inputs import read_events
    from wordsight.states.events.definitions import leonard_events
    from wordsight.states.events.find import check_predicates, find_events, outermost
    from wordsight.states.formats import write_events

    _check_targets(inputs, output_path, plot, force)
    wanted = leonard_events() if definitions is None else read_events(definitions)
    known, seen = _prepare(
        output, inputs, library, model, rules, vocabulary, transition_cost, kind, steady
    )
    check_predicates(wanted, known.vocabulary_)
    sequences = [known.predict(one) for one in seen]
    found: list[StateEvent] = []
    for sequence in sequences:
        every = find_events(sequence, wanted)
        found += every if everything else outermost(every)
    if output_path is not None:
        write_events(output_path, found, overwrite=force)
        output.note(f"Events: {output_path}")
    _draw(output, plot, sequences, tuple(found), force)
    rows = [(event.video_id, event.start, event.end, str(event)) for event in found]

    def render(out: Output) -> None:
        if rows:
            out.table(["video", "from s", "to s", "event"], rows)
        else:
            out.line("Nothing happens that the definitions know.")

    output.result(found, render)


@states.command()
@speaking
def explain(
    output: Output,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Boxes, a clip or a video.")],
    at: Annotated[float, typer.Option("--at", help="The moment, in seconds.")],
    model: ModelOption = DEFAULT_MODEL,
    rules: RulesOption = None,
    vocabulary: VocabularyOption = None,
    transition_cost: CostOption = DEFAULT_COST,
    kind: KindOption = None,
    steady: SteadyFlag = False,
    strongest: Annotated[int, typer.Option(min=1, help="So many rules for and against.")] = 10,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say which rules speak for and against the state of a moment, and what they cost."""
    from wordsight.states.explanations import explain as explanation_of

    known, seen = _prepare(
        output, [source], library, model, rules, vocabulary, transition_cost, kind, steady
    )
    found = explanation_of(known, seen[0], at)
    report = {
        "video": found.video_id,
        "time": found.time,
        "facts": [str(fact) for fact in found.facts],
        "violated": [_use(use) for use in found.violated],
        "kept": [_use(use) for use in found.kept],
        "cost": found.cost,
        "changes": found.changes,
        "transition_cost": found.transition_cost,
    }
    output.result(report, lambda out: _render_explanation(out, found, strongest))


def _prepare(
    output: Output,
    inputs: list[str],
    library: str,
    model: Path,
    rules: Path | None,
    vocabulary: Path | None,
    transition_cost: float,
    kind: list[str] | None,
    steady: bool,
) -> tuple["StateModel", list["StateObservations"]]:
    from wordsight.cli.state_inputs import parse_kinds, read_model, read_observations

    known, kinds = read_model(model, rules, vocabulary, transition_cost)
    told = kinds | parse_kinds(kind)
    still = steady or bool(known.notes_.get("steady"))
    seen = read_observations(output, inputs, library, told, known.vocabulary_, steady=still)
    return known, seen


def _check_targets(
    inputs: list[str], output_path: Path | None, plot: Path | None, force: bool
) -> None:
    refuse_existing(output_path, plot, force=force)
    if plot is not None and len(inputs) > 1:
        raise WordsightError(f"--plot draws one video, got {len(inputs)}; plot them one by one.")


def _draw(
    output: Output,
    plot: Path | None,
    sequences: list["StateSequence"],
    events: tuple["StateEvent", ...],
    force: bool,
) -> None:
    if plot is not None:
        from wordsight.states.timeline import draw_timeline

        draw_timeline(plot, sequences[0], events=events, overwrite=force)
        output.note(f"Timeline: {plot}")


def _use(use: "RuleUse") -> dict[str, object]:
    return {"rule": str(use.rule), "objects": use.objects, "text": use.text, "cost": use.cost}


def _render_explanation(output: Output, found: "StateExplanation", strongest: int) -> None:
    output.line(f"{found.video_id} at {found.time:.2f} s")
    output.line(f"Holds: {', '.join(map(str, found.facts)) or 'nothing'}.")
    if found.kept:
        rows = [_saving(use) for use in found.kept[:strongest]]
        output.table(["saves", f"kept: {count(len(found.kept), 'rule')}"], rows)
    if found.violated:
        rows = [(f"{use.cost:.2f}", use.text) for use in found.violated[:strongest]]
        broken = f"broken: {count(len(found.violated), 'rule')}, {found.cost:.3g} in all"
        output.table(["costs", broken], rows)
    else:
        output.line("No rule is broken.")
    output.line(
        f"The state changes {count(found.changes, 'time')} in this video, at "
        f"{found.transition_cost:.3g} each."
    )


def _saving(use: "RuleUse") -> tuple[str, str]:
    return ("hard" if use.rule.hard else f"{use.spared:.2f}", use.text)
