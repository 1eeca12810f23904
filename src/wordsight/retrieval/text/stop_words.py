"""Words too common to tell one text from another, left out of the counts."""

from wordsight.retrieval.errors import RetrievalError

__all__ = ["STOP_WORDS", "stop_words_of"]

# Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries. Words that say
# where or how something moves (up, down, left, over) are kept: films are searched for them.
_ENGLISH = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one
who whom whose which what when where why how
and or but nor so if then than because as while although though unless until whether
of at by for with about against between into through during to from in on within without upon per
is am are was were be been being do does did doing done have has had having
can could may might must shall should will would cannot
not no there here also only very too just such both each any all some other same own more most
s t d ll m re ve don didn doesn isn wasn weren aren hasn haven hadn won wouldn couldn shouldn
it's that's there's what's who's he's she's i'm i'd i'll i've you're you'd you'll you've we're we'd
we'll we've they're they'd they'll they've isn't aren't wasn't weren't hasn't haven't hadn't doesn't
don't didn't won't wouldn't can't couldn't shouldn't let's
"""

STOP_WORDS: dict[str, frozenset[str]] = {"english": frozenset(_ENGLISH.split())}
"""The lists that come along, by language."""


def stop_words_of(choice: str | frozenset[str] | None) -> frozenset[str]:
    """Return the words a choice of stop words stands for.

    Args:
        choice: The name of a list, the words, or ``None`` for no stop words.

    Raises:
        RetrievalError: If there is no such list.
    """
    if choice is None:
        return frozenset()
    if isinstance(choice, frozenset):
        return choice
    if choice not in STOP_WORDS:
        raise RetrievalError(
            f"there is no list of stop words for {choice!r}; there are {', '.join(STOP_WORDS)}. "
            "Give your own words as a frozenset, or None."
        )
    return STOP_WORDS[choice]
