"""Steps too short to be true: a model that goes through a text in order gives each step some time.

A step that was left out gets a moment all the same, wherever something faintly fits. What lasts far
shorter than its share of the text lets expect is taken back.
"""

from dataclasses import replace

import numpy as np

from wordsight.alignment.records import NO_LINE, Alignment, Instructions, Span

__all__ = ["doubt_short_steps"]


def doubt_short_steps(
    alignment: Alignment, instructions: Instructions, least: float = 0.2
) -> Alignment:
    """Say that steps did not happen which are much shorter than their share of the text.

    Args:
        alignment: What a model found.
        instructions: The text it was made with.
        least: Share of the time expected, by number of lines, that a step must last.

    Returns:
        The alignment with the spans of such steps replaced, and their chunks given to no line.
    """
    _, places = np.unique(instructions.steps, return_inverse=True)
    lasted = np.zeros(int(places[-1]) + 1)
    for span in alignment.spans:
        if span.happened:
            lasted[places[span.line]] += span.end - span.start
    expected = np.bincount(places) / len(places) * lasted.sum()
    short = (lasted > 0) & (lasted < least * expected)
    if not short.any():
        return alignment
    doubted = short[places]
    best = alignment.best.copy()
    best[(best != NO_LINE) & doubted[np.maximum(best, 0)]] = NO_LINE
    spans: list[Span] = []
    for span in alignment.spans:
        if not doubted[span.line]:
            spans.append(span)
        elif not spans or spans[-1].line != span.line:
            step = places[span.line]
            # As sure as the step falls short of what it should last.
            sure = float(np.clip(1.0 - lasted[step] / max(expected[step], 1e-9), 0.0, 1.0))
            spans.append(Span(span.line, span.start, span.start, sure, happened=False))
    boundaries = tuple(
        edge
        for edge in alignment.boundaries
        if not any(line >= 0 and doubted[line] for line in (edge.before, edge.after))
    )
    return replace(alignment, best=best, spans=tuple(spans), boundaries=boundaries)
