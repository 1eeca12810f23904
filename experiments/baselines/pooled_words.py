"""Pooling of verbs with nouns: one vocabulary of words, one of observations.

Models of the literature know nouns and things only. With pooling every model learns that "pour"
goes with a sinking thing as it learns that "milk" goes with a carton.
"""

from dataclasses import replace

from wordsight.alignment.records import Instructions, Observed

__all__ = ["pool_observed", "pool_words"]


def pool_words(instructions: Instructions) -> Instructions:
    """Return the text with its verbs among the nouns, written ``to pour``.

    Examples:
        >>> from wordsight.alignment.text import instructions_from_text
        >>> pool_words(instructions_from_text("Pour the milk.")).lines[0].nouns
        ('milk', 'to pour')
    """
    lines = []
    for line in instructions.lines:
        # A line without a noun has its verbs in their place.
        nouns = tuple(noun for noun in line.nouns if noun not in line.verbs)
        verbs = tuple(f"to {verb}" for verb in line.verbs)
        lines.append(replace(line, nouns=nouns + verbs, verbs=()))
    return replace(instructions, lines=tuple(lines))


def pool_observed(observed: Observed) -> Observed:
    """Return the observations with ways of moving among the things, written ``~rising``."""
    chunks = [
        replace(
            chunk,
            things=chunk.things | {f"~{manner}" for manner in chunk.verbs},
            verbs=frozenset(),
        )
        for chunk in observed.chunks
    ]
    return replace(observed, chunks=tuple(chunks))
