"""How fast the lattice, the mixtures and learning are on an accelerator.

Run ``python -m benchmarks.gpu [--device cuda] [--only lattice mixtures learning] [--json]`` on a
machine with a CUDA device; numpy, scipy and torch are all it needs. ``--device torch-cpu --quick``
runs the same on the processor, to see that the numbers agree.

``lattice``: clips of 160 frames, eight detections, three participants, a verb of three states and a
preposition: 1,536 joint states; forward-backward with all expected counts:

- ``fused``: the fused kernel, tables already on the device; the bytes it must move per clip are
  counted from its reads and writes, and their rate compared with a device-to-device copy;
- ``torch_device``: the same by torch, recorded and replayed, tables already on the device;
- ``torch``: the same from clips in the processor's memory to results there;
- ``error``, ``torch_error``: the largest difference of a count from float64 on the processor.

``mixtures``: 8 components fitted to 1,320 samples of 14 dimensions by 20 EM steps, and 1,000
samples scored under documents of 8 components over a background, beside the processor.

``learning``: EM on clips of loose detections, on the device and on the processor: the largest
relative difference of the objective, the largest of any probability of any word, clips a second.
"""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.gpu_timing import seconds_of
from wordsight.inference.gpu import find_device
from wordsight.inference.gpu.device import GraphRecorder
from wordsight.inference.gpu.lattice_batch import BatchShape, pack_batch
from wordsight.inference.gpu.lattice_run import WARPS_PER_PROCESSOR, counts_fused, fused_kernel
from wordsight.inference.gpu.lattice_torch import count_batch, counts_torch
from wordsight.inference.lattice.model import Lattice, WordChain
from wordsight.inference.lattice.plan import topology_of
from wordsight.inference.lattice.reference import counts_reference

__all__ = ["main", "measure"]

FRAMES, SIDE, STATES = 160, 8, 3
NODES, PAIR, CELLS = STATES * SIDE**3, STATES * SIDE**2, SIDE**2
# Floats: nodes written and read again, tables and steps read twice, counts written once.
BYTES = 4 * FRAMES * (2 * NODES + 2 * (PAIR + 2 * CELLS) + PAIR + CELLS)
GOAL = 0.40  # of the copy bandwidth
PARTS = ("lattice", "mixtures", "learning")


def measure(
    name: str, parts: Sequence[str] = PARTS, *, quick: bool = False
) -> dict[str, float | str]:
    """Measure on one device.

    Args:
        name: Of the device: ``cuda``, ``cuda:1`` or ``torch-cpu``.
        parts: What to measure.
        quick: Whether a few clips do.
    """
    place = find_device(name)
    if place is None:
        raise SystemExit(f"there is no device {name!r} on this machine; nothing to measure.")
    report: dict[str, float | str] = {}
    if "lattice" in parts:
        if place.type == "cuda":
            report |= _fused(str(place), clips=25_344)
        report |= _torch(place, quick)
    if "mixtures" in parts:
        from benchmarks.gpu_mixtures import measure_mixtures

        report |= measure_mixtures(name, place, quick=quick)
    if "learning" in parts:
        from benchmarks.gpu_learning import measure_learning

        report |= measure_learning(name, quick=quick)
    return report


def _fused(device: str, clips: int) -> dict[str, float | str]:
    kernel = fused_kernel(device)
    if kernel is None:
        raise SystemExit("this torch cannot compile kernels at run time; 2.9 or newer can.")
    copy = _copy(device)
    random = np.random.default_rng(0)
    few = [_lattice(random, frames) for frames in (FRAMES, 33, 1, 40)]
    seconds = _fused_seconds(kernel, clips, device)
    return {
        "copy_tb_per_s": copy / 1e12,
        "megabytes_per_clip": BYTES / 1e6,
        "error": _error(counts_fused(few, kernel, device), few),
        "fused_clips_per_s": clips / seconds,
        "copy_share": clips / seconds * BYTES / copy,
        "copy_share_goal": GOAL,
    }


def _torch(place: Any, quick: bool) -> dict[str, float | str]:
    import torch

    random = np.random.default_rng(1)
    few = [_lattice(random, frames) for frames in (FRAMES, 33, 1, 40)]
    report: dict[str, float | str] = {
        "torch_error": _error(counts_torch(few, place, torch.float32), few)
    }
    one = _lattice(random, FRAMES)
    sizes = (4, 8) if quick else (256, 2048)
    for clips in sizes:
        report[f"torch_device_clips_per_s_{clips}"] = _recorded_rate(one, clips, place)
    many = [one] * sizes[0]
    report["torch_clips_per_s"] = len(many) / seconds_of(
        lambda: counts_torch(many, place, torch.float32), place, 3
    )
    return report


def _recorded_rate(lattice: Lattice, clips: int, place: Any) -> float:
    """Return the clips a second of recorded work whose tables lie on the device."""
    import torch

    shape = BatchShape(topology_of(lattice), FRAMES, clips)
    arrays = pack_batch([lattice] * clips, shape, np.float32)
    inputs = [torch.from_numpy(array).to(place) for array in arrays]
    recorder = GraphRecorder(place)
    work = partial(count_batch, shape)
    return clips / seconds_of(lambda: recorder.run("counts", work, inputs), place, 5)


def _lattice(random: np.random.Generator, frames: int) -> Lattice:
    words = []
    for participants, states in (((0, 1), STATES), ((0, 2), 1), ((0,), 1), ((1,), 1), ((2,), 1)):
        transition = np.triu(random.random((states, states)) + 0.1)
        words.append(
            WordChain(
                participants,
                random.dirichlet(np.ones(states)),
                transition / transition.sum(axis=1, keepdims=True),
                random.random((frames, states) + (SIDE,) * len(participants)),
            )
        )
    steps = random.random((frames - 1, SIDE, SIDE))
    return Lattice(3, random.random((frames, SIDE)), steps, tuple(words))


def _error(found: Sequence[Any], lattices: Sequence[Lattice]) -> float:
    """Return the largest difference of a count from float64."""
    sure = [counts_reference(lattice) for lattice in lattices]
    return max(
        float(np.abs(one - other).max())
        for result, wanted in zip(found, sure, strict=True)
        for one, other in zip(result.tables, wanted.tables, strict=True)
    )


def _fused_seconds(kernel: Any, clips: int, device: str) -> float:
    """Time the kernel alone on random tables that lie on the device."""
    import torch

    def draw(*shape: int) -> Any:
        return torch.rand(*shape, device=device)

    processors = torch.cuda.get_device_properties(device).multi_processor_count
    grid = min(clips, WARPS_PER_PROCESSOR * processors)
    transition = torch.triu(draw(clips, STATES, STATES) + 0.1)
    given = (
        draw(clips, FRAMES, PAIR),
        draw(clips, FRAMES, CELLS),
        draw(clips, FRAMES - 1, CELLS),
        draw(clips, STATES),
        transition / transition.sum(dim=-1, keepdim=True),
        torch.ones(clips, STATES, device=device),
        torch.full((clips,), FRAMES, dtype=torch.int32, device=device),
        torch.empty(grid * FRAMES * NODES, device=device),
        torch.empty(grid * FRAMES, device=device),
        torch.empty(clips, FRAMES, PAIR, device=device),
        torch.empty(clips, FRAMES, CELLS, device=device),
        torch.empty(clips, 9, device=device),
        torch.empty(clips, device=device),
    )
    return seconds_of(
        lambda: kernel((grid, 1, 1), (32, 1, 1), (*given, clips, FRAMES, 1)),
        torch.device(device),
        turns=10,
    )


def _copy(device: str) -> float:
    """Return the bytes read and written a second by a large copy."""
    import torch

    source = torch.rand(1 << 29, device=device)
    target = torch.empty_like(source)
    seconds = seconds_of(lambda: target.copy_(source), source.device, turns=10)
    return 2 * 4 * source.numel() / seconds


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1 or torch-cpu")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--quick", action="store_true", help="a few clips and mixtures")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    report = measure(options.device, options.only, quick=options.quick)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, value in report.items():
        shown = value if isinstance(value, str) else f"{value:,.4g}"
        print(f"{name:30} {shown}")


if __name__ == "__main__":
    main()
