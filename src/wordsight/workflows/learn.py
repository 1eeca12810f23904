"""``learn``: from a library's videos and sentences to words with meanings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from wordsight.workflows.compute import (
    device_setting,
    engine_setting,
    prune_setting,
    pruning,
    report_lost,
    usable_device,
    using_engine,
)
from wordsight.workflows.lexicon import lexicon_setting, load_grammar, readable_grammar
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["LearnRequest", "LearnResult", "LearnSettings", "learn"]


class LearnSettings(Request):
    """How words are learned, wherever they are kept."""

    phases: int | None = setting(
        None,
        "States of an event, including before and after it; 3 suit clips that are cut to their "
        "events.",
        default_text="as suits whole videos",
        ge=3,
        le=8,
    )
    any_order: bool = setting(
        False,
        "States of words may come in any order, for what repeats itself, such as waving.",
        label="States in any order, for what repeats itself",
    )
    two_phase: bool = setting(
        False,
        "Begin with sentences of nouns and verbs only, then take all.",
        label="Begin with sentences of nouns and verbs only",
    )
    restarts: int = setting(2, "Number of random starts; the best is kept.", ge=1, le=1000)
    quick: bool = setting(
        False,
        "Leave out training against false sentences: minutes less, a little worse.",
        label="Training",
        titles={"true": "Quick", "false": "Thorough, against false sentences"},
    )
    seed: int = setting(
        0, "The same seed learns the same words.", label="Random seed", ge=0, le=2**31
    )
    threads: int = setting(
        2,
        "Clips computed at once; changes no result.",
        "--threads",
        "-j",
        label="Clips at once",
        ge=1,
        le=64,
    )
    engine: str | None = engine_setting()
    device: str | None = device_setting("lattices, in single precision,")
    prune: int | None = prune_setting()


class LearnRequest(LearnSettings):
    """What to learn words from, how, and where to keep them."""

    words: Path | None = lexicon_setting()
    grammar: str | None = setting(
        None,
        "How words combine: a lexicon file, or `street` for the one that comes with Wordsight; "
        "the rest is inferred from the sentences.",
        metavar="FILE|street",
    )
    attributes: Path | None = setting(
        None,
        "Words of `wordsight teach` become adjectives that look at what things are called.",
        metavar="FOLDER",
    )
    states: Path | None = setting(
        None,
        "Rules of `wordsight states learn`: verbs, adjectives and prepositions look at the facts "
        "they infer.",
        metavar="FOLDER",
    )
    force: bool = setting(False, "Replace a lexicon that exists.")
    checkpoint: Path | None = setting(
        None,
        "Where unfinished work is kept, to go on after an interruption; beside the lexicon if "
        "left out.",
        hidden=True,
    )


@dataclass(frozen=True)
class LearnResult(Result):
    """What was learned.

    Attributes:
        lexicon: The learned words.
        words: The folder they were written to, if any.
        num_clips: Clips that were learned from; those without detections are left out.
        num_sentences: Sentences that were learned from.
        lost_mass: Largest share of a clip's explanations that was left out.
        lost_mass_median: Median of that share over all clips.
        facts: Facts that words look at, where rules of states were given.
        named: Taught words that things are called by, where taught words were given.
        histories: Per restart the objective after every iteration.
        sharpened: The objective after every epoch of training against false sentences.
        annotator: Names things and infers facts as the words need it, if they do.
    """

    lexicon: "LearnedLexicon"
    words: Path | None
    num_clips: int
    num_sentences: int
    lost_mass: float
    lost_mass_median: float
    facts: list[str] | None
    named: list[str] | None
    histories: Sequence[Sequence[float]]
    sharpened: Sequence[float]
    annotator: "ClipAnnotator | None"

    def to_json(self) -> Any:
        """Return what ``wordsight learn --json`` prints."""
        values = {
            "lexicon": self.words,
            "clips": self.num_clips,
            "sentences": self.num_sentences,
            "words": sorted(self.lexicon.words),
            "threshold": self.lexicon.threshold,
            "lost_mass": self.lost_mass,
            "lost_mass_median": self.lost_mass_median,
        }
        more = {"facts": self.facts, "named": self.named}
        return as_json(values | {name: one for name, one in more.items() if one is not None})


@workflow(LearnRequest)
def learn(library: "Library", request: LearnRequest, *, reporter: RecordingReporter) -> LearnResult:
    """Learn what words mean from a library's videos and sentences.

    An interrupted learning goes on where it was when it is called again.
    """
    from wordsight.meaning import ON_FILM, WordLearner
    from wordsight.workflows.annotator import ClipAnnotator, save_lexicon
    from wordsight.workflows.clips import clips_with_sentences

    if request.words is not None:
        refuse_existing(request.words, force=request.force)
    annotator = ClipAnnotator.of(request.attributes, request.states)
    known = load_grammar(request.grammar)
    clips, sentences = clips_with_sentences(library)
    seen = clips if annotator is None else annotator.name_clips(library, clips, reporter)
    read = readable_grammar if annotator is None else annotator.grammar
    lexicon, sentences = read(known, sentences, reporter)
    with (
        pruning(request.prune) as losses,
        using_engine(request.engine, reporter) as engine,
        reporter.progress("Learning") as progress,
    ):
        learner = WordLearner(
            ON_FILM,
            features="recommended" if annotator is None else annotator.features(),
            phases=request.phases or ON_FILM.phases,
            left_to_right=not request.any_order,
            two_phase=request.two_phase,
            restarts=request.restarts,
            discriminative=None if request.quick else "gradient",
            random_state=request.seed,
            threads=request.threads,
            engine=engine,
            device=usable_device(request.device, reporter),
        ).fit(seen, sentences, lexicon=lexicon, progress=progress, checkpoint=_checkpoint(request))
    learned = learner.lexicon_ if annotator is None else annotator.completed(learner.lexicon_)
    if request.words is not None:
        save_lexicon(learned, request.words, annotator, overwrite=request.force)
    most, usual = max(losses, default=0.0), median(losses or [0.0])
    report_lost(reporter, most, request.prune, usual=usual)
    facts = None if request.states is None else _facts_used(learned, reporter)
    named = None
    if annotator is not None and request.attributes is not None:
        named = _words_used(learned, annotator, reporter)
    return LearnResult(
        learned,
        request.words,
        int(str(learned.notes["clips"])),  # without those in which nothing was seen
        sum(map(len, sentences)),
        most,
        usual,
        facts,
        named,
        learner.histories_,
        learner.discriminative_history_,
        annotator,
        warnings=tuple(reporter.notes),
    )


def _checkpoint(request: LearnRequest) -> Path | None:
    if request.checkpoint is not None or request.words is None:
        return request.checkpoint
    return request.words.with_name(f"{request.words.name}.learning.npz")


def _facts_used(learned: "LearnedLexicon", reporter: Reporter) -> list[str]:
    """Return the facts that words look at; warn if none of them ever differs."""
    from wordsight.meaning.features import FACT_PREFIX

    found = [
        name.removeprefix(FACT_PREFIX)
        for name in learned.vocabulary.bins
        if name.startswith(FACT_PREFIX)
    ]
    if found:
        reporter.note(f"Words look at these facts: {', '.join(found)}.")
    else:
        reporter.warn(
            "no inferred fact differs between things or moments, so no word looks at any; are the "
            "labels of things, or their --kind, those the rules were learned for?"
        )
    return found


def _words_used(
    learned: "LearnedLexicon", annotator: "ClipAnnotator", reporter: Reporter
) -> list[str]:
    """Return the taught words that things are called by; warn of attributes that never differ."""
    from wordsight.meaning.features import name_feature

    used: list[str] = []
    lost: list[str] = []
    for words in annotator.groups:
        (used if name_feature(words) in learned.vocabulary.bins else lost).extend(words)
    if lost:
        reporter.warn(
            f"no two things of these videos differ in {', '.join(lost)}, so adjectives do not look "
            "at these words; teach with pictures of things as they look in the videos (see what "
            "`wordsight name VIDEO --boxes FILE` calls them)."
        )
    return used
