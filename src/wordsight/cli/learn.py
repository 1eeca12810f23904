"""``learn``: learn what words mean."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.learn import LearnRequest, LearnResult
from wordsight.workflows.learn import learn as learn_words
from wordsight.workflows.units import count

__all__ = ["learn"]


@command(LearnRequest)
def learn(output: Output, request: LearnRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Learn what words mean from the library's videos and sentences.

    Interrupted? The same command goes on where it was.
    """
    result = learn_words(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: LearnResult) -> None:
    words = sorted(result.lexicon.words)
    clips = count(result.num_clips, "clip")
    output.line(f"Learned {count(len(words), 'word')} from {clips}: {', '.join(words)}.")
    output.line(f"Read them with: wordsight lexicon --words {result.words}")
