"""``lexicon``: what learned words look for."""

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.workflows.lexicon import LexiconRequest
from wordsight.workflows.lexicon import lexicon as show_words

__all__ = ["lexicon"]


@command(LexiconRequest)
def lexicon(output: Output, request: LexiconRequest) -> None:
    """Open the dictionary: what a learned word looks for, state by state."""
    result = show_words(request, progress=output)
    output.result(result, lambda out: out.line("\n\n".join(result.pages)))
