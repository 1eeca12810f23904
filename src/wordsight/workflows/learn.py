"""``learn``: from a library's videos and sentences to words with meanings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.compute import (
    device_setting,
    engine_setting,
    prune_setting,
    pruning,
    report_lost,
    usable_device,
    using_engine,
)
from wordsight.workflows.lexicon import (
    LEARNED_FROM,
    lexicon_folder,
    lexicon_setting,
    load_grammar,
)
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, setting
from wordsight.workflows.word_quality import DescribedClips, candidates_setting, read_described
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.language import Lexicon
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, TrainingSettings, WordLearner
    from wordsight.meaning.model.quality import Quality
    from wordsight.progress import Progress
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["LearnRequest", "LearnResult", "LearnSettings", "learn", "training_settings"]


class LearnSettings(Request):
    """How words are learned, wherever they are kept."""

    method: Literal["discriminative", "ml", "growth", "published"] = setting(
        "discriminative",
        "How words are trained: against false sentences by gradient (discriminative) or by growth "
        "transformations (growth), by maximum likelihood alone (ml), or as Yu & Siskind published "
        "it in 2013 (published).",
        label="Method",
        titles={
            "discriminative": "Against false sentences, by gradient",
            "growth": "Against false sentences, by growth transformations",
            "ml": "Maximum likelihood",
            "published": "As published in 2013",
        },
    )
    features: Literal["recommended", "accelerating", "paper", "plain"] | None = setting(
        None,
        "What words look at: what works on real boxes (recommended), the same with acceleration "
        "(accelerating), Table 2 of the paper (paper), or few features with named bins (plain).",
        label="Features",
        default_text="as suits the method",
    )
    noise: float | None = setting(
        None,
        "Share of sentences that have nothing to do with their clip.",
        label="Share of wrong sentences",
        default_text="0.02; as published 0",
        ge=0.0,
        le=0.9,
    )
    phases: int | None = setting(
        None,
        "States of a verb, including before and after the event; 5 suit clips that are cut to "
        "their events, 4 whole videos.",
        "--states-per-word",
        "--phases",
        label="States per word",
        default_text="5 where most sentences have times, else 4",
        ge=2,
        le=8,
    )
    check: Literal["quick", "full", "none"] = setting(
        "quick",
        "Measure how good the words are on videos not learned from: by learning again without "
        "each third of them, with shorter training (quick), or each fifth with the same (full).",
        label="Measure how good the words are",
        titles={"quick": "Quickly", "full": "Fully", "none": "No"},
    )
    participants: Literal["tracks", "tracklets", "boxes"] | None = setting(
        None,
        "What words may refer to: whole tracks, chains of tracklets that the words help to join, "
        "or single boxes.",
        label="What words may refer to",
        titles={"tracks": "Tracks", "tracklets": "Chains of tracklets", "boxes": "Boxes"},
        default_text="tracks, or boxes where a detector knows no classes",
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
    senses: bool = setting(
        False,
        "Give a verb two senses where these explain clips that were left out better.",
        label="Verbs may have two senses",
    )
    restarts: int = setting(2, "Number of random starts; the best is kept.", ge=1, le=1000)
    quick: bool = setting(
        False,
        "The same as --method ml: minutes less, a little worse.",
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
        "Words of `wordsight teach` become adjectives, and help the nouns among them: both look "
        "at what things are called.",
        metavar="FOLDER",
    )
    states: Path | None = setting(
        None,
        "Rules of `wordsight states learn`: verbs, adjectives and prepositions look at the facts "
        "they infer.",
        metavar="FOLDER",
    )
    candidates: Path | None = candidates_setting()
    from_alignment: tuple[Path, ...] = setting(
        (),
        "An alignment of a video of the library, written by `wordsight align --output FILE.json`: "
        "the lines found in it are sentences to learn from.",
        metavar="FILE",
    )
    force: bool = setting(False, "Replace a lexicon that exists.")
    save: bool = setting(True, "Whether the words are written to a folder.", hidden=True)
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
        quality: How good the words are.
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
    quality: "Quality"

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
            "quality": self.quality.to_json(),
        }
        more = {"facts": self.facts, "named": self.named}
        return as_json(values | {name: one for name, one in more.items() if one is not None})


@workflow(LearnRequest)
def learn(library: "Library", request: LearnRequest, *, reporter: RecordingReporter) -> LearnResult:
    """Learn what words mean from a library's videos and sentences.

    An interrupted training run resumes when it is called again.
    """
    from wordsight.meaning import WordLearner
    from wordsight.workflows.annotator import ClipAnnotator, save_lexicon
    from wordsight.workflows.word_quality import learning_quality

    folder = lexicon_folder(library, request.words) if request.save else None
    refuse_existing(folder, force=request.force)
    if folder is not None and request.words is None:
        library.check_writable()  # before the work, not after it
    annotator = ClipAnnotator.of(request.attributes, request.states)
    said = read_described(
        library,
        load_grammar(request.grammar),
        annotator,
        request.candidates,
        reporter,
        aligned=request.from_alignment,
        random_state=request.seed,
    )
    settings = training_settings(request, annotator, cut=said.cut, lexicon=said.lexicon)
    checkpoint = request.checkpoint
    if checkpoint is None and folder is not None:
        checkpoint = folder.with_name(f"{folder.name}.learning.npz")
    with using_engine(request.engine, reporter) as engine:
        compute: dict[str, Any] = {
            "threads": request.threads,
            "engine": engine,
            "device": usable_device(request.device, reporter),
        }
        with pruning(request.prune) as losses, reporter.progress("Learning") as progress:
            learner = WordLearner(settings, **compute)
            _fit(learner, said, checkpoint, progress, reporter)
        with pruning(request.prune), reporter.progress("Checking") as progress:
            quality = learning_quality(
                said,
                settings,
                request.check,
                learned=learner.lexicon_,
                progress=progress,
                **compute,
            )
    learned = learner.lexicon_ if annotator is None else annotator.completed(learner.lexicon_)
    learned = _noted(learned, quality, said)
    for advice in quality.advice:
        reporter.warn(advice)
    if folder is not None:
        save_lexicon(learned, folder, annotator, overwrite=request.force)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    most, usual = max(losses, default=0.0), median(losses or [0.0])
    report_lost(reporter, most, request.prune, usual=usual)
    _report_looks(learned, reporter)
    if request.senses:
        _report_senses(learned, reporter)
    facts = None if request.states is None else _facts_used(learned, reporter)
    named = None
    if annotator is not None and request.attributes is not None:
        named = _words_used(learned, annotator, reporter)
    return LearnResult(
        learned,
        folder,
        int(str(learned.notes["clips"])),  # without those in which nothing was seen
        said.num_sentences,
        most,
        usual,
        facts,
        named,
        learner.histories_,
        learner.discriminative_history_,
        annotator,
        quality,
    )


def _fit(
    learner: "WordLearner",
    said: DescribedClips,
    checkpoint: Path | None,
    progress: "Progress",
    reporter: Reporter,
) -> None:
    """Learn; what a learning of other clips or settings left is of no use and is discarded."""
    from wordsight.errors import FormatError
    from wordsight.meaning.training.checkpoint import OtherTrainingError

    options: dict[str, Any] = {
        "lexicon": said.lexicon,
        "candidates": said.rivals if said.given else None,
        "progress": progress,
        "checkpoint": checkpoint,
        "keep_checkpoint": True,
    }
    left = checkpoint is not None and checkpoint.exists()
    try:
        learner.fit(said.clips, said.sentences, **options)
    except (OtherTrainingError, FormatError):
        if not left or checkpoint is None:
            raise
        reporter.note(
            "An unfinished training run with other clips or settings was found: starting over."
        )
        checkpoint.unlink(missing_ok=True)
        learner.fit(said.clips, said.sentences, **options)


def training_settings(
    request: LearnSettings,
    annotator: "ClipAnnotator | None",
    *,
    cut: bool,
    lexicon: "Lexicon | None" = None,
) -> "TrainingSettings":
    """Return the settings of training that a request asks for.

    Args:
        request: What was asked for.
        annotator: What names things or supplies facts, if anything does.
        cut: Whether clips are cut to their events.
        lexicon: How words combine; nouns of it that were taught look at what things are called.

    Raises:
        WordsightError: If settings contradict each other.
    """
    from wordsight.meaning import FAITHFUL, ON_CUT_CLIPS, ON_FILM

    if request.quick and request.method not in ("discriminative", "ml"):
        raise WordsightError("give --quick or --method, not both: --quick is --method ml.")
    on_film = ON_CUT_CLIPS if cut else ON_FILM
    base = FAITHFUL if request.method == "published" else on_film
    features: Any = request.features or base.features
    against: dict[str, Any] = {"discriminative": "gradient", "growth": "growth"}
    return replace(
        base,
        features=features if annotator is None else annotator.features(features, lexicon),
        view_settings=replace(
            base.view_settings,
            participants=request.participants or base.view_settings.participants,
        ),
        phases=request.phases or base.phases or 3,
        left_to_right=not request.any_order,
        two_phase=request.two_phase,
        senses=request.senses,
        restarts=request.restarts,
        noise=base.noise if request.noise is None else request.noise,
        discriminative=None if request.quick else against.get(request.method),
        random_state=request.seed,
    )


def _noted(learned: "LearnedLexicon", quality: "Quality", said: DescribedClips) -> "LearnedLexicon":
    """Return the words with what is known of them, and from which videos they were learned."""
    from wordsight.meaning.model.quality import NOTE

    videos = sorted({clip.video_id for clip in said.clips})
    return replace(learned, notes={**learned.notes, LEARNED_FROM: videos, NOTE: quality.to_json()})


_FEW_CLIPS = 40  # below this, which noun has which look is mostly a guess


def _report_looks(learned: "LearnedLexicon", reporter: Reporter) -> None:
    """Say if nouns learned what they look like, and warn if there were few clips for that."""
    if learned.noun_looks is None:
        return
    clips = int(str(learned.notes["clips"]))
    nouns = ", ".join(learned.noun_looks.nouns)
    if clips < _FEW_CLIPS:
        reporter.warn(
            f"the detector gives no classes, and {clips} clips are few to learn what {nouns} look "
            "like; add more clips, or detect with classes: `wordsight detectors get objects`."
        )
    else:
        reporter.note(f"The detector gives no classes, so these nouns learned looks: {nouns}.")


def _report_senses(learned: "LearnedLexicon", reporter: Reporter) -> None:
    """Say which verbs have two senses."""
    verbs = sorted(entry for entry, word in learned.words.items() if word.senses > 1)
    reporter.note(
        f"Verbs with two senses: {', '.join(verbs)}."
        if verbs
        else "No verb has two senses: none that is said of ten clips or more is better with them."
    )


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
            f"no two things of these videos differ in {', '.join(lost)}, so no word looks at "
            "them; teach with pictures of things as they look in the videos (see what "
            "`wordsight name VIDEO --boxes FILE` calls them)."
        )
    return used
