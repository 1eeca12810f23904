"""The fused kernel: three participants, up to eight detections, one word of up to three states.

Most sentences of three participants have this shape: nouns and prepositions have one state, which
folds into tables of weights, and one verb has up to three. What the kernel counts for the folded
tables is read apart again for every word.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wordsight.inference.lattice.model import Lattice, WordChain
from wordsight.inference.lattice.plan import Topology, topology_of

__all__ = [
    "WARPS_PER_PROCESSOR",
    "Fold",
    "FusedCounts",
    "counts_fused",
    "fold_for",
    "fused_kernel",
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
