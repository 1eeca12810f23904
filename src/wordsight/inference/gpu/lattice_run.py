"""Many lattices on a device: grouped by shape, by the fused kernel where it fits, else by torch.

The fused kernel takes three participants, up to eight detections and one word of up to three
states. Most sentences of three participants have this shape: nouns and prepositions have one state,
which folds into tables of weights, and one verb has up to three. What the kernel counts for the
folded tables is read apart again for every word.

Devices compute in float32. Every batch is checked: its first clip is done again on the processor in
float64, and a batch that fails is done there whole. So is every clip that float32 could not hold:
its score is not finite, or its posteriors do not sum to 1 in some frame.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import permutations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_torch import (
    batch_bytes,
    counts_torch,
    partitions_torch,
    scores_torch,
)
from wordsight.inference.lattice.limits import (
    counts_within_limits,
    current_limits,
    scores_within_limits,
)
from wordsight.inference.lattice.model import Lattice, LatticeCounts, LatticeScore, WordChain
from wordsight.inference.lattice.plan import Topology, topology_of

__all__ = [
    "WARPS_PER_PROCESSOR",
    "Fold",
    "FusedCounts",
    "counts_fused",
    "expected_counts_on",
    "fold_for",
    "fused_kernel",
    "log_scores_on",
]


Array = NDArray[np.float64]

_SIDE, _STATES = 8, 3

WARPS_PER_PROCESSOR = 8
"""Clips a multiprocessor works on at once: two for each of its four schedulers is fastest."""


class Fold(NamedTuple):
    """Which participant takes which place in the kernel, and which word has the states.

    Attributes:
        places: The participants at places 0, 1 and 2; tables join places 0 and 1, and 0 and 2.
        word: The word with several states, or ``None``.
    """

    places: tuple[int, int, int]
    word: int | None


class FusedCounts(NamedTuple):
    """What the kernel gives for one clip.

    Attributes:
        log_joint: Logarithm of the sum, scales left out.
        transitions: Per word ``(I, I)``.
        tables: Per word ``(T, I, J, ..., J)``.
    """

    log_joint: float
    transitions: tuple[Array, ...]
    tables: tuple[Array, ...]


@lru_cache(maxsize=256)
def fold_for(shape: Topology) -> Fold | None:
    """Return how lattices of a shape fit the kernel, or ``None`` if they do not."""
    if shape.num_participants != 3 or shape.num_detections > _SIDE or not shape.shared_coherence:
        return None
    many = [number for number, (_, states) in enumerate(shape.words) if states > 1]
    if len(many) > 1 or any(states > _STATES for _, states in shape.words):
        return None
    for places in permutations(range(3)):
        pair, side = {places[0], places[1]}, {places[0], places[2]}
        fits = (
            set(axes) <= pair or (states == 1 and set(axes) <= side) for axes, states in shape.words
        )
        if all(fits):
            return Fold((places[0], places[1], places[2]), many[0] if many else None)
    return None


@lru_cache(maxsize=8)
def fused_kernel(device: str) -> Any | None:
    """Compile the kernel for a device, or return ``None`` where torch cannot."""
    import torch

    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None:
        return None
    source = files("wordsight.inference.gpu").joinpath("lattice.cu").read_text(encoding="utf-8")
    try:
        with torch.cuda.device(device):
            return compile_kernel(source, "lattice_counts")
    except Exception:  # a torch without the run-time compiler, or a card too old for the kernel
        return None


def counts_fused(lattices: Sequence[Lattice], kernel: Any, device: Any) -> list[FusedCounts]:
    """Compute expected counts of lattices of one shape that fits.

    Args:
        lattices: The clips; their shape must have a :func:`fold_for`.
        kernel: The compiled kernel.
        device: The torch device it was compiled for.
    """
    fold = fold_for(topology_of(lattices[0]))
    assert fold is not None  # what the caller has asked for
    inputs = _inputs(lattices, fold)
    pair, side, steps, logs = run_kernel(kernel, inputs, device)
    return [
        _split(lattice, fold, (pair[n], side[n], steps[n], float(logs[n])))
        for n, lattice in enumerate(lattices)
    ]


def run_kernel(kernel: Any, inputs: dict[str, Any], device: Any) -> tuple[Any, ...]:
    """Run the kernel on folded clips and return its counts as arrays."""
    import torch

    given = {name: torch.as_tensor(value, device=device) for name, value in inputs.items()}
    clips, frames = given["pair"].shape[:2]
    grid = min(
        clips,
        WARPS_PER_PROCESSOR * torch.cuda.get_device_properties(device).multi_processor_count,
    )
    work = torch.empty(grid * frames * _STATES * _SIDE**3, device=device)
    scales = torch.empty(grid * frames, device=device)
    out = [torch.zeros_like(given["pair"]), torch.zeros_like(given["side"])]
    out += [torch.zeros(clips, 9, device=device), torch.zeros(clips, device=device)]
    arguments = (*given.values(), work, scales, *out, clips, frames, 1)
    with torch.cuda.device(device):
        kernel((grid, 1, 1), (32, 1, 1), arguments)
    return tuple(values.double().cpu().numpy() for values in out)


def _inputs(lattices: Sequence[Lattice], fold: Fold) -> dict[str, Any]:
    """Fold clips into the kernel's tables, in the order of its arguments."""
    frames = max(lattice.num_frames for lattice in lattices)
    count = len(lattices)
    pair = np.zeros((count, frames, _STATES, _SIDE, _SIDE), np.float32)
    side = np.zeros((count, frames, _SIDE, _SIDE), np.float32)
    step = np.zeros((count, max(frames - 1, 1), _SIDE, _SIDE), np.float32)
    initial, final = np.zeros((count, _STATES), np.float32), np.zeros((count, _STATES), np.float32)
    transition = np.zeros((count, _STATES, _STATES), np.float32)
    for n, lattice in enumerate(lattices):
        length, seen = lattice.num_frames, lattice.num_detections
        first, second = _folded(lattice, fold)
        states = first.shape[1]
        pair[n, :length, :states, :seen, :seen] = first
        side[n, :length, :seen, :seen] = second
        step[n, : length - 1, :seen, :seen] = lattice.coherence_of(0)
        begin, matrix, end = _chain(lattice)
        initial[n, :states], final[n, :states] = begin, end
        transition[n, :states, :states] = matrix
    lengths = np.array([lattice.num_frames for lattice in lattices], np.int32)
    return {
        "pair": pair,
        "side": side,
        "step": step,
        "initial": initial,
        "transition": transition,
        "final": final,
        "lengths": lengths,
    }


def _folded(lattice: Lattice, fold: Fold) -> tuple[Array, Array]:
    """Return ``(T, I, J, J)`` weights of places 0 and 1, and ``(T, J, J)`` of places 0 and 2."""
    one, two, three = fold.places
    pair = (lattice.unary_of(one)[:, :, None] * lattice.unary_of(two)[:, None, :])[:, None]
    side = np.repeat(lattice.unary_of(three)[:, None, :], lattice.num_detections, axis=1)
    for word in lattice.words:
        if set(word.participants) <= {one, two}:
            pair = pair * _table(word, (one, two))
        else:
            side = side * _table(word, (one, three))[:, 0]
    return pair, side


def _table(word: WordChain, places: tuple[int, int]) -> Array:
    """Return a word's emission as ``(T, I, J or 1, J or 1)`` over two places."""
    if len(word.participants) == 1:
        axis = 3 if word.participants[0] == places[0] else 2
        return np.expand_dims(word.emission, axis)
    return word.emission if word.participants == places else word.emission.swapaxes(2, 3)


def _chain(lattice: Lattice) -> tuple[Array, Array, Array]:
    """Return initial, transition and final weights of all words together."""
    begin, matrix, end = np.ones(1), np.ones((1, 1)), np.ones(1)
    for word in lattice.words:
        begin = begin * word.initial
        matrix = matrix * word.transition
        end = end * (1.0 if word.final is None else word.final)
    return begin, matrix, end


def _split(lattice: Lattice, fold: Fold, found: tuple[Array, Array, Array, float]) -> FusedCounts:
    """Read the counts of every word out of those of the folded tables."""
    pair, side, steps, log_joint = found
    length, seen = lattice.num_frames, lattice.num_detections
    possible = log_joint > -np.inf
    pair = pair.reshape(-1, _STATES, _SIDE, _SIDE)[:length, :, :seen, :seen]
    side = side.reshape(-1, 1, _SIDE, _SIDE)[:length, :, :seen, :seen]
    one, two, three = fold.places
    tables, transitions = [], []
    for number, word in enumerate(lattice.words):
        states = word.num_states
        if set(word.participants) <= {one, two}:
            table = pair[:, :states] if number == fold.word else pair.sum(axis=1, keepdims=True)
            tables.append(_read_apart(table, word, (one, two)))
        else:
            tables.append(_read_apart(side, word, (one, three)))
        if number == fold.word:
            transitions.append(steps.reshape(_STATES, _STATES)[:states, :states].copy())
        else:
            transitions.append(np.full((1, 1), float(length - 1) if possible else 0.0))
    return FusedCounts(log_joint, tuple(transitions), tuple(tables))


def _read_apart(table: Array, word: WordChain, places: tuple[int, int]) -> Array:
    if len(word.participants) == 1:
        return np.asarray(table.sum(axis=3 if word.participants[0] == places[0] else 2))
    ordered = table if word.participants == places else table.swapaxes(2, 3)
    return np.ascontiguousarray(ordered)


Result = TypeVar("Result", LatticeScore, LatticeCounts)

_TOLERANCE = 2e-3
"""Largest difference of a log score or a count that float32 may make, beside float64."""


def log_scores_on(
    lattices: Sequence[Lattice], device: str, *, double: bool = False
) -> list[LatticeScore]:
    """Score lattices on a device.

    Args:
        lattices: What to score.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        double: Whether to compute in float64.

    Returns:
        One score per lattice, in order. Where the device is not there, the processor's kernel
        does the work after a :class:`DeviceWarning`.
    """
    place = find_device(device)
    if place is None:
        return scores_within_limits(lattices)

    def work(batch: Sequence[Lattice]) -> list[LatticeScore]:
        return scores_torch(batch, place, _dtype(double))

    return _in_batches(lattices, work, scores_within_limits, batch_bytes(place))


def expected_counts_on(
    lattices: Sequence[Lattice], device: str, *, double: bool = False, fused: bool = True
) -> list[LatticeCounts]:
    """Compute scores and expected counts on a device.

    Args:
        lattices: The clips and sentences.
        device: ``cuda``, ``cuda:1`` or ``torch-cpu``; see :func:`find_device`.
        double: Whether to compute in float64; the fused kernel is float32 and then left out.
        fused: Whether the fused kernel may be used.

    Returns:
        One result per lattice, in order, as :func:`wordsight.inference.expected_counts` gives it.
    """
    place = find_device(device)
    if place is None:
        return counts_within_limits(lattices)
    use_fused = fused and not double and place.type == "cuda"

    def work(batch: Sequence[Lattice]) -> list[LatticeCounts]:
        kernel = fused_kernel(str(place)) if use_fused and fold_for(topology_of(batch[0])) else None
        if kernel is None:
            return counts_torch(batch, place, _dtype(double))
        partitions = partitions_torch(batch, place, _dtype(double))
        return [
            LatticeCounts(
                found.log_joint + lattice.total_log_scale,
                partition + lattice.log_scale,
                found.transitions,
                found.tables,
            )
            for lattice, found, partition in zip(
                batch, counts_fused(batch, kernel, place), partitions, strict=True
            )
        ]

    return _in_batches(lattices, work, counts_within_limits, batch_bytes(place))


def _dtype(double: bool) -> Any:
    import torch

    return torch.float64 if double else torch.float32


def _in_batches(
    lattices: Sequence[Lattice],
    work: Callable[[Sequence[Lattice]], list[Result]],
    on_processor: Callable[[Sequence[Lattice]], list[Result]],
    most_bytes: int,
) -> list[Result]:
    results: dict[int, Result] = {}
    # What would not fit the device at all is left to the processor, which prunes if it must; so is
    # what is to be pruned in any case.
    limits = current_limits()
    large = [
        n for n, each in enumerate(lattices) if _bytes_of(each) > most_bytes or limits.prunes(each)
    ]
    results.update(zip(large, on_processor([lattices[n] for n in large]), strict=True))
    for numbers in _batches(lattices, set(large), most_bytes):
        batch = [lattices[number] for number in numbers]
        results.update(zip(numbers, _checked(batch, work(batch), on_processor), strict=True))
    return [results[number] for number in range(len(lattices))]


def _batches(lattices: Sequence[Lattice], without: set[int], most_bytes: int) -> list[list[int]]:
    """Group other lattices by shape, short beside short, into batches that fit the memory."""
    by_shape: dict[Topology, list[int]] = {}
    for number, lattice in enumerate(lattices):
        if number not in without:
            by_shape.setdefault(topology_of(lattice), []).append(number)
    batches = []
    for numbers in by_shape.values():
        numbers.sort(key=lambda number: lattices[number].num_frames)
        per_clip = _bytes_of(lattices[numbers[-1]])
        size = 1 << max(0, (most_bytes // per_clip).bit_length() - 1)
        batches += [numbers[first : first + size] for first in range(0, len(numbers), size)]
    return batches


def _bytes_of(lattice: Lattice) -> int:
    return 16 * lattice.num_frames * lattice.num_nodes


def _checked(
    batch: Sequence[Lattice],
    results: list[Result],
    on_processor: Callable[[Sequence[Lattice]], list[Result]],
) -> list[Result]:
    """Compare the first clip with float64 and do again what float32 could not hold."""
    (sure,) = on_processor(batch[:1])
    if not _alike(results[0], sure):
        warnings.warn(
            f"float32 on the device gives a log score of {results[0].log_joint} where float64 "
            f"gives {sure.log_joint}; the processor does this batch instead.",
            DeviceWarning,
            stacklevel=4,
        )
        return on_processor(batch)
    weak = [n for n, result in enumerate(results) if not _held(result)]
    for number, again in zip(weak, on_processor([batch[n] for n in weak]), strict=True):
        results[number] = again
    return results


def _held(found: LatticeScore | LatticeCounts) -> bool:
    """Tell whether float32 could hold the numbers of a clip.

    A future that weighs far more than the past foresaw overflows, though the score does not.
    """
    if not np.isfinite(found.log_joint):
        return False
    if not isinstance(found, LatticeCounts) or not found.tables:
        return True
    smallest = min(found.tables, key=lambda table: table.size)
    sums = smallest.reshape(len(smallest), -1).sum(axis=1)
    return bool((np.abs(sums - 1.0) <= _TOLERANCE).all())  # false where something is not a number


def _alike(found: Result, sure: Result) -> bool:
    if not np.isfinite(sure.log_joint) or not np.isfinite(found.log_joint):
        return True  # nothing to compare; what is not finite is done again anyway
    far = abs(found.log_joint - sure.log_joint) / max(1.0, abs(sure.log_joint))
    if isinstance(found, LatticeCounts) and isinstance(sure, LatticeCounts):
        gaps = [
            float(np.abs(one - other).max(initial=0.0))
            for one, other in zip(found.tables, sure.tables, strict=True)
        ]
        far = max(far, *gaps) if gaps else far
    return far <= _TOLERANCE
