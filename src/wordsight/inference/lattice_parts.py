"""The two ways to work on parts of a lattice: the compiled kernel, and plain logarithms."""

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import lattice_reference as plain
from wordsight.inference.gpu.lattice_batch import log_constant
from wordsight.inference.lattice import Lattice
from wordsight.inference.lattice_packing import Pack, pack
from wordsight.inference.lattice_results import LatticeCounts, LatticePath
from wordsight.inference.lattice_streaming import Part, slice_lattice

__all__ = ["CompiledParts", "PlainParts", "best_of_parts"]

Array = NDArray[np.float64]


class CompiledParts:
    """Parts of a lattice by the compiled kernel; nodes are scaled weights.

    Args:
        lattice: The whole lattice.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self._constant = log_constant(lattice)
        self._final: Array = np.ones(1)
        for word in lattice.words:
            if word.num_states > 1:
                final = np.ones(word.num_states) if word.final is None else word.final
                self._final = np.asarray(np.kron(self._final, final))

    def forward(self, part: Part, nodes: Array | None) -> tuple[Array, float]:
        """Return the nodes of a part's last frame, and the log of what was divided out."""
        packed = _packed(self.lattice, part)
        found, masses = self._walk(packed, nodes, kept=1)
        log = float(np.log(masses[:-1]).sum()) if found is not None else -np.inf
        return (np.zeros(0) if found is None else found), log

    def ended(self, nodes: Array) -> float:
        """Return the log of the last nodes' sum under the final weights."""
        mass = float((nodes.reshape(len(self._final), -1).sum(axis=1) * self._final).sum())
        return float(np.log(mass)) + self._constant if mass > 0 else -np.inf

    def future(self, nodes: Array, log_total: float) -> Array:
        """Return the future of the last frame."""
        share = self._final / np.exp(log_total - self._constant)
        return np.repeat(share, len(nodes) // len(share))

    def backward(
        self, part: Part, nodes: Array | None, future: Array, counts: LatticeCounts
    ) -> Array:
        """Count what is expected in a part; return the future of its first frame."""
        from wordsight.inference.lattice_segments import count_back

        packed = _packed(self.lattice, part)
        arrivals = np.empty((packed.longest, packed.num_nodes))
        _, masses = self._walk(packed, nodes, arrivals=arrivals)
        tables = np.empty((packed.num_rows, packed.num_entries))
        steps = np.zeros(packed.num_step_entries)
        count_back(*packed.arrays, arrivals, masses, future, tables, steps)
        frames = slice(part[0], part[1] + 1)
        for whole, table in zip(counts.tables, packed.split_tables(0, tables), strict=True):
            whole[frames] = table
        found = packed.split_steps(0, steps, possible=True)
        for total, some in zip(counts.transitions, found, strict=True):
            total += some
        return future

    def _walk(
        self, packed: Pack, nodes: Array | None, *, kept: int = 1, arrivals: Array | None = None
    ) -> tuple[Array | None, Array]:
        from wordsight.inference.lattice_segments import move_on

        areas = np.empty((kept, packed.num_nodes)) if arrivals is None else arrivals
        masses = np.empty(packed.longest)
        here = np.empty(packed.num_nodes) if nodes is None else nodes.copy()
        mass = move_on(*packed.arrays, areas, masses, here, nodes is None)
        return (None if mass < 0 else here), masses


class PlainParts:
    """Parts of a lattice by plain numpy; nodes are logarithms with one axis per participant.

    Args:
        lattice: The whole lattice.
    """

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    def forward(self, part: Part, nodes: Array | None) -> tuple[Array, float]:
        """Return the nodes of a part's last frame; nothing is divided out of logarithms."""
        return self._walk(part, nodes)[-1], 0.0

    def ended(self, nodes: Array) -> float:
        """Return the log of the last nodes' sum under the final weights."""
        return plain._log_sum(nodes + plain._final(self.lattice))

    def future(self, nodes: Array, log_total: float) -> Array:
        """Return the future of the last frame."""
        return plain._final(self.lattice) - log_total + np.zeros_like(nodes)

    def backward(
        self, part: Part, nodes: Array | None, future: Array, counts: LatticeCounts
    ) -> Array:
        """Count what is expected in a part; return the future of its first frame."""
        here, forward = slice_lattice(self.lattice, *part), self._walk(part, nodes, kept=True)
        tables = [table[part[0] : part[1] + 1] for table in counts.tables]
        tracks = np.zeros((here.num_participants, here.num_frames, here.num_detections))
        for frame in range(here.num_frames - 1, -1, -1):
            posterior = np.exp(forward[frame] + future)
            plain._add_tables(here, posterior, frame, tables, tracks)
            if frame:
                ahead = future + plain._frame_weights(here, frame)
                plain._add_steps(here, forward[frame - 1], ahead, frame, list(counts.transitions))
                future = plain._retreat(here, ahead, frame)
        return future

    def _walk(self, part: Part, nodes: Array | None, *, kept: bool = False) -> list[Array]:
        here = slice_lattice(self.lattice, *part)
        walked = [plain._initial(here) if nodes is None else nodes]
        for frame in range(1, here.num_frames):
            walked.append(plain._advance(here, walked[-1], frame))
            if not kept:
                del walked[0]
        return walked


def best_of_parts(lattice: Lattice, parts: list[Part]) -> LatticePath | None:
    """Find the heaviest choice by the compiled kernel; ``None`` if it is too light for it."""
    from wordsight.inference.lattice_segments import move_on_best, trace

    starts: list[Array] = []
    packed = _packed(lattice, parts[0])
    best = np.empty((1, packed.num_nodes))
    score = 0.0
    for number, part in enumerate(parts):
        starts.append(best[-1].copy())
        packed = _packed(lattice, part)
        score += move_on_best(*packed.arrays, best, number == 0, number == len(parts) - 1)
        if score == -np.inf:
            return None
    nodes = np.empty(lattice.num_frames, dtype=np.int64)
    nodes[-1] = int(best[-1].argmax())
    for number in range(len(parts) - 1, -1, -1):
        part = parts[number]
        packed = _packed(lattice, part)
        best = np.empty((packed.longest, packed.num_nodes))
        best[0] = starts[number]
        move_on_best(*packed.arrays, best, number == 0, number == len(parts) - 1)
        trace(*packed.arrays, best, nodes[part[0] : part[1] + 1])
    shape = [word.num_states for word in lattice.words]
    shape += [lattice.num_detections] * lattice.num_participants
    digits = np.stack(np.unravel_index(nodes, shape), axis=1).astype(np.int64)
    own, whole = len(lattice.words), score + log_constant(lattice) + lattice.total_log_scale
    return LatticePath(float(whole), digits[:, own:], digits[:, :own])


def _packed(lattice: Lattice, part: Part) -> Pack:
    return pack([slice_lattice(lattice, *part)])
