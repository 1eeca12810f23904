"""``track``: who is who in a video, given a sentence."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.track import TrackRequest, TrackResult
from wordsight.workflows.track import track as track_sentence
from wordsight.workflows.units import clock

__all__ = ["track"]


@command(TrackRequest)
def track(output: Output, request: TrackRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Find who is who in a video, given a sentence, and the states of words over time.

    Of a long video, where the sentence fits best.
    """
    result = track_sentence(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: TrackResult) -> None:
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
