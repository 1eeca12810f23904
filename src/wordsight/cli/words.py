"""``learn``, ``score``, ``track``, ``describe``, ``explain`` and ``lexicon``: learned words."""

from wordsight.cli.options import verb
from wordsight.cli.output import Output, show_quality
from wordsight.workflows.describe import DescribeResult
from wordsight.workflows.describe import describe as describe_video
from wordsight.workflows.explain import ExplainResult
from wordsight.workflows.explain import explain as explain_sentence
from wordsight.workflows.learn import LearnResult
from wordsight.workflows.learn import learn as learn_words
from wordsight.workflows.lexicon import LexiconResult
from wordsight.workflows.lexicon import lexicon as show_words
from wordsight.workflows.score import ScoreResult
from wordsight.workflows.score import score as score_sentences
from wordsight.workflows.track import TrackResult
from wordsight.workflows.track import track as track_sentence
from wordsight.workflows.units import clock, count

__all__ = ["describe", "explain", "learn", "lexicon", "score", "track"]


@verb(learn_words)
def learn(output: Output, result: LearnResult) -> None:
    """Learn what words mean from the library's videos and sentences.

    Interrupted? The same command resumes it.
    """
    words = sorted(result.lexicon.words)
    clips = count(result.num_clips, "clip")
    output.line(f"Learned {count(len(words), 'word')} from {clips}: {', '.join(words)}.")
    show_quality(output, result.quality)
    output.line(f"Read them with: wordsight lexicon --words {result.words}")


@verb(score_sentences)
def score(output: Output, result: ScoreResult) -> None:
    """Say how well sentences fit a video, and whether they are true of it.

    Of a long video, each is asked about the moment that it fits best.
    """
    timed = any(result.are_moments)
    rows = [
        (
            *((clock(one.start), clock(one.end)) if timed else ()),
            "yes" if one.holds else "no",
            one.score,
            one.text,
        )
        for one in result.scores
    ]
    output.table([*(("from", "to") if timed else ()), "true", "score", "sentence"], rows)


@verb(track_sentence)
def track(output: Output, result: TrackResult) -> None:
    """Find who is who in a video, given a sentence, and the states of words over time.

    Of a long video, where the sentence fits best.
    """
    found = result.tracked
    output.line(f"{found.sentence.text}  (score {found.score:.3f})")
    rows = [
        (f"p{p}", one.label, clock(one.start), clock(one.end), len(one))
        for p, one in enumerate(found.tracks)
    ]
    output.table(["", "who", "from", "to", "boxes"], rows)
    width = max((len(word.word) for word in found.words), default=0)
    for word in found.words:
        output.line(f"{word.word:<{width}}  {''.join(str(s + 1) for s in word.states)}")


@verb(describe_video)
def describe(output: Output, result: DescribeResult) -> None:
    """Say in sentences what happens in a video, the likeliest first.

    What the learned words hold false is left out; where only the sentence that fits best may well
    be true, it is marked "unsure". Of a long video moments are described.
    """
    if not result.descriptions:
        output.line("Nothing to say.")
        return
    timed = result.are_moments
    rows = [
        (
            *((clock(one.start), clock(one.end)) if timed else ()),
            one.probability,
            "unsure" if one.unsure else "likely",
            one.text,
        )
        for one in result.descriptions
    ]
    output.table([*(("from", "to") if timed else ()), "share", "true", "sentence"], rows)


@verb(explain_sentence)
def explain(output: Output, result: ExplainResult) -> None:
    """Say which word of a sentence fits a video when, and which one fails.

    Of a long video, where the sentence fits best.
    """
    found = result.explanation
    output.line(f"{found.text}  (score {found.score:.3f})")
    output.line(found.table())
    when = ""
    if found.weakest_span is not None:
        when = f", from {clock(found.weakest_span[0])} to {clock(found.weakest_span[1])}"
    why = f": {found.reason}" if found.reason else ""
    output.line(f"Weakest: {found.weakest}{when}{why}.")


@verb(show_words)
def lexicon(output: Output, result: LexiconResult) -> None:
    """Open the dictionary: what a learned word looks for, state by state."""
    output.line("\n\n".join(result.pages))
