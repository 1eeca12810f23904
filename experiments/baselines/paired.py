r"""`PairedModels`: pictures from words and words from pictures, through pairs seen together.

Every training pair is a document that can bring forth both a picture (a bag of visual words) and a
text (a bag of terms or a mix of topics). A picture and a text fit when the same pairs are likely to
have brought forth both:

$$\log\frac{p(I,T)}{p(I)\,p(T)}=\log\sum_J\frac{P(J|I)\,P(J|T)}{P(J)}$$

This is the cross-media relevance model of Jeon, Lavrenko and Manmatha (2003) as a ranking.
"""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RetrievalError

__all__ = ["PairedModels"]

Array = NDArray[np.float64]


class PairedModels:
    """Ranks texts for pictures and pictures for texts.

    Args:
        picture_mass: How many independent visual words a picture counts for. A picture's thousand
            samples are far from independent: counted as such, one pair would always take all.
        text_mass: How many independent words a text counts for.
        picture_share: Share of a pair's own counts, the rest is the collection's.
        text_share: The same for texts.

    Attributes:
        num_pairs_: How many pairs were seen.

    Examples:
        >>> model = PairedModels().fit([[1, 0], [0, 1]], [[1, 0, 0], [0, 0, 1]])
        >>> model.scores([[1, 0]], [[1, 0, 0], [0, 0, 1]]).argmax()
        np.int64(0)
    """

    def __init__(
        self,
        picture_mass: float = 10.0,
        text_mass: float = 5.0,
        picture_share: float = 0.7,
        text_share: float = 0.7,
    ) -> None:
        if min(picture_mass, text_mass) <= 0 or not all(
            0 < share < 1 for share in (picture_share, text_share)
        ):
            raise RetrievalError(
                "masses must be above 0 and shares between 0 and 1, got "
                f"{picture_mass}, {text_mass}, {picture_share} and {text_share}."
            )
        self.masses = (picture_mass, text_mass)
        self.shares = (picture_share, text_share)

    def fit(self, pictures: ArrayLike, texts: ArrayLike) -> Self:
        """Learn from pairs.

        Args:
            pictures: ``(N, V)`` counts or shares of visual words, 0 or more.
            texts: ``(N, W)`` counts or shares of terms or topics of the same pairs.
        """
        sides = (_shares(pictures), _shares(texts))
        if len(sides[0]) != len(sides[1]) or not len(sides[0]):
            raise RetrievalError(
                f"each picture needs its text, got {len(sides[0])} and {len(sides[1])}."
            )
        self._logs = tuple(
            np.log(share * side + (1 - share) * (side.mean(axis=0) + 1e-9))
            for side, share in zip(sides, self.shares, strict=True)
        )
        self.num_pairs_ = len(sides[0])
        return self

    def scores(self, pictures: ArrayLike, texts: ArrayLike) -> Array:
        """Return ``(P, Q)`` how much likelier each picture and text are together than apart.

        Args:
            pictures: ``(P, V)``.
            texts: ``(Q, W)``.
        """
        from_pictures = self._posterior(0, pictures)
        from_texts = self._posterior(1, texts)
        together = from_pictures @ from_texts.T * self.num_pairs_
        scores: Array = np.log(np.maximum(together, 1e-300))
        return scores

    def _posterior(self, side: int, given: ArrayLike) -> Array:
        """Return ``(n, N)`` how likely each pair is to have brought forth each of those given."""
        logs = self.masses[side] * (_shares(given) @ self._logs[side].T)
        logs -= logs.max(axis=1, keepdims=True)
        chances: Array = np.exp(logs)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances


def _shares(counts: ArrayLike) -> Array:
    values = np.asarray(counts, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all() or (values < 0).any():
        raise RetrievalError(
            f"expected a table of counts of 0 or more, got shape {values.shape} with "
            f"{'negative or ' if (values < 0).any() else ''}unusable values."
        )
    shares: Array = values / np.maximum(values.sum(axis=1, keepdims=True), 1e-12)
    return shares
