"""Following less of a clip, so that a sentence fits into memory; what that loses is told."""

from collections.abc import Iterator
from contextlib import contextmanager

from wordsight.errors import WordsightError

__all__ = ["pruning"]


@contextmanager
def pruning(most: int | None, loss: float | None = None) -> Iterator[list[float]]:
    """Keep at most so many detections, or lose at most a share, for the time of a block.

    Args:
        most: Detections per participant and frame; all that fit if ``None``.
        loss: Share of all explanations that a beam may lose; no beam if ``None``.

    Yields:
        The shares lost at most, of what is computed in the block and not told of by its results.

    Raises:
        WordsightError: If both are given, or the share is none.
    """
    if most is not None and loss is not None:
        raise WordsightError(
            "so many boxes (--prune) and a share that may be lost (--beam) are two ways to keep "
            "less; choose one of them."
        )
    if loss is not None and not 0 < loss < 1:
        raise WordsightError(f"--beam takes a share above 0 and under 1, such as 1e-6, got {loss}.")
    from wordsight.inference import Limits, collect_losses, using_limits

    with using_limits(Limits(most_detections=most, beam_loss=loss)), collect_losses() as losses:
        yield losses
