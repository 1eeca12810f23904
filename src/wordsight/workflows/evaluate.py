"""``evaluate``: how good a ranking is by judgements, and how good words are on held-out videos."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.compute import pruning, usable_device, using_engine
from wordsight.workflows.learn import LearnSettings, training_settings
from wordsight.workflows.lexicon import (
    LEARNED_FROM,
    lexicon_setting,
    load_grammar,
    load_lexicon,
)
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, changed, setting
from wordsight.workflows.units import count
from wordsight.workflows.word_quality import candidates_setting, read_described
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.evaluation import Estimate, RankingScores
    from wordsight.evaluation.ranking import Qrels, Run
    from wordsight.library import Library
    from wordsight.meaning.model.quality import Quality
    from wordsight.workflows.word_quality import DescribedClips

__all__ = [
    "DEFAULT_MEASURES",
    "EvaluateRequest",
    "EvaluateResult",
    "EvaluateWordsRequest",
    "EvaluateWordsResult",
    "evaluate",
    "evaluate_words",
]


class EvaluateWordsRequest(LearnSettings):
    """Which words are judged; without a lexicon, those that `learn` would learn."""

    words: Path | None = lexicon_setting("learned without a part of the videos")
    candidates: Path | None = candidates_setting()
    grammar: str | None = setting(
        None,
        "How words combine: a lexicon file, or `street`; as `learn` has it.",
        metavar="FILE|street",
    )
    check: Literal["quick", "full"] = changed(LearnSettings, "check", default="quick")


@dataclass(frozen=True)
class EvaluateWordsResult(Result):
    """How good words are.

    Attributes:
        words: The folder of the words judged; None if words were learned without some videos.
        quality: How good they are.
    """

    words: Path | None
    quality: "Quality"

    def to_json(self) -> Any:
        """Return what ``wordsight evaluate words --json`` prints."""
        return as_json({"lexicon": self.words} | self.quality.to_json())


@workflow(EvaluateWordsRequest)
def evaluate_words(
    library: "Library", request: EvaluateWordsRequest, *, reporter: RecordingReporter
) -> EvaluateWordsResult:
    """Measure how good words are on a library's described videos.

    Given words are judged on the videos they were not learned from. Without any, words are learned
    without a part of the videos and judged on it, part by part, as `learn` does.
    """
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.word_quality import given_words_quality, learning_quality

    _refuse_learning_settings(request)
    learned = None if request.words is None else load_lexicon(request.words)
    annotator = None if request.words is None else load_annotator(request.words)
    known = load_grammar(request.grammar) if learned is None else learned.lexicon
    said = read_described(
        library,
        known,
        annotator,
        request.candidates,
        reporter,
        random_state=request.seed,
        synonyms=learned is not None,
    )
    if learned is not None:
        said = _without(said, learned.notes.get(LEARNED_FROM), request, reporter)
        with pruning(request.prune), reporter.progress("Judging") as progress:
            quality = given_words_quality(said, learned, progress=progress)
    else:
        settings = training_settings(request, None, cut=said.cut)
        with (
            using_engine(request.engine, reporter) as engine,
            pruning(request.prune),
            reporter.progress("Judging") as progress,
        ):
            quality = learning_quality(
                said,
                settings,
                request.check,
                progress=progress,
                threads=request.threads,
                engine=engine,
                device=usable_device(request.device, reporter),
            )
    for advice in quality.advice:
        reporter.warn(advice)
    return EvaluateWordsResult(request.words, quality)


_OF_LEARNING = (
    *("grammar", "method", "features", "noise", "phases", "participants", "any_order"),
    *("two_phase", "senses", "restarts", "quick", "check"),
)


def _refuse_learning_settings(request: EvaluateWordsRequest) -> None:
    """Refuse settings of learning where words are given, which are not learned again."""
    fields = EvaluateWordsRequest.model_fields
    asked = [n for n in _OF_LEARNING if getattr(request, n) != fields[n].default]
    if request.words is not None and asked:
        options = ["states-per-word" if name == "phases" else name for name in asked]
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise WordsightError(
            f"the words of {request.words} are learned already, so {names} would change nothing. "
            "Leave it out, or leave --words out to learn without some videos and judge on these."
        )


def _without(
    said: "DescribedClips",
    videos: object,
    request: EvaluateWordsRequest,
    reporter: RecordingReporter,
) -> "DescribedClips":
    """Leave out the clips of videos that words were learned from."""
    if not isinstance(videos, list):
        reporter.note(
            "These words do not say which videos they were learned from; if some are in this "
            "library, the figures are too good."
        )
    known = set(videos) if isinstance(videos, list) else set()
    kept = [n for n, clip in enumerate(said.clips) if clip.video_id not in known]
    if not kept:
        raise WordsightError(
            f"the words of {request.words} were learned from all videos of this library, which "
            "says nothing of others. Leave --words out to learn without some videos and judge on "
            "these, or name a library with other videos."
        )
    if len(kept) < len(said.clips):
        left = count(len(said.clips) - len(kept), "clip")
        reporter.note(f"{left} left out: the words were learned from their videos.")
    return said.part(kept)


DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "R@100", "RR")
"""What a ranking is measured by unless measures are named."""


class EvaluateRequest(Request):
    """Which ranking to measure, against what, and by which measures."""

    run: Path = argument("A ranking, as a TREC run file.", metavar="RUN")
    qrels: Path = argument("Judgements, as TREC qrels.", metavar="QRELS")
    measures: tuple[str, ...] = argument(
        "As ir-measures names them: AP, nDCG@10, P(rel=2)@5, RR, R@100, …",
        metavar="MEASURE...",
        default=(),
        default_text=" ".join(DEFAULT_MEASURES),
    )
    per_query: bool = setting(False, "Show every query.")


@dataclass(frozen=True)
class EvaluateResult(Result):
    """How good a ranking is.

    Attributes:
        scores: Means, and the scores of each query.
        num_queries: Queries with judgements.
        intervals: Each mean with its 95 % interval over queries; without those that are sums.
        missing: Queries with judgements that are not in the run; they count as 0.
        unjudged: Queries of the run without judgements; they are left out.
        per_query: Whether the scores of each query are a part of the JSON.
    """

    scores: "RankingScores"
    num_queries: int
    intervals: "dict[str, Estimate]"
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    per_query: bool

    def to_json(self) -> Any:
        """Return what ``wordsight evaluate --json`` prints."""
        value = {
            "queries": self.num_queries,
            "means": self.scores.means,
            "intervals": {name: [e.low, e.high] for name, e in self.intervals.items()},
        }
        return as_json(value | ({"per_query": self.scores.queries} if self.per_query else {}))


@workflow(EvaluateRequest)
def evaluate(request: EvaluateRequest, *, reporter: RecordingReporter) -> EvaluateResult:
    """Measure a ranking against judgements."""
    from wordsight.evaluation import estimate_mean, evaluate_run, parse_measure
    from wordsight.retrieval.trec import read_qrels, read_run

    measures = [parse_measure(name) for name in request.measures or DEFAULT_MEASURES]
    run, judged = read_run(request.run), read_qrels(request.qrels)
    if not judged:
        raise WordsightError(f"{request.qrels} holds no judgements.")
    missing, unjudged = sorted(set(judged) - set(run)), sorted(set(run) - set(judged))
    if missing:
        queries = count(len(missing), "judged query")
        reporter.note(f"{queries} not in the run count as 0.")
    if unjudged:
        queries = count(len(unjudged), "query")
        reporter.note(f"{queries} of the run without judgements left out.")
    _note_lost(run, judged, reporter)
    scores = evaluate_run(run, judged, measures)
    means = [str(measure) for measure in measures if not measure.is_sum]
    intervals = {
        name: estimate_mean([each[name] for each in scores.queries.values()], list(scores.queries))
        for name in means
    }
    return EvaluateResult(
        scores,
        len(judged),
        intervals,
        tuple(missing),
        tuple(unjudged),
        request.per_query,
    )


def _note_lost(run: "Run", judged: "Qrels", reporter: RecordingReporter) -> None:
    """Note relevant documents that no ranking of the run holds, which is what wrong names do."""
    known = {name for found in run.values() for name in found}
    relevant = {name for grades in judged.values() for name, grade in grades.items() if grade > 0}
    lost = sorted(relevant - known)
    if not lost:
        return
    note = f"{len(lost)} of {count(len(relevant), 'relevant document')} are nowhere in the run"
    if len(lost) < len(relevant) or not known:
        reporter.note(f"{note}, such as {lost[0]}; they count as not found.")
    else:
        reporter.note(
            f"{note}: the judgements name them like {lost[0]}, the run like {min(known)}; compare "
            "the names in both files."
        )
