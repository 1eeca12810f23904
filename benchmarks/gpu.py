"""How fast the lattice is on an accelerator, beside the memory's copy bandwidth.

Run ``python -m benchmarks.gpu [--device cuda] [--json]`` on a machine with a CUDA device and torch;
nothing else is needed. Clips have 160 frames, eight detections, three participants, a verb of three
states and a preposition: 1,536 joint states. Measured is forward-backward with all expected counts:

- ``fused``: the fused kernel, tables already on the device; the bytes it must move per clip are
  counted from its reads and writes, and their rate compared with a device-to-device copy.
- ``torch``: the same by plain torch operations.
- ``error``: the largest difference of a count from float64 on the processor.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wordsight.inference.gpu.lattice_fused import WARPS_PER_PROCESSOR, counts_fused, fused_kernel
from wordsight.inference.gpu.lattice_torch import counts_torch
from wordsight.inference.lattice import Lattice, WordChain
from wordsight.inference.lattice_reference import counts_reference

__all__ = ["main", "measure"]

FRAMES, SIDE, STATES = 160, 8, 3
NODES, PAIR, CELLS = STATES * SIDE**3, STATES * SIDE**2, SIDE**2
# Floats: nodes written and read again, tables and steps read twice, counts written once.
BYTES = 4 * FRAMES * (2 * NODES + 2 * (PAIR + 2 * CELLS) + PAIR + CELLS)
GOAL = 0.40  # of the copy bandwidth


def measure(device: str, clips: int = 25_344) -> dict[str, float]:
    """Measure everything on one device."""
    import torch

    kernel = fused_kernel(device)
    if kernel is None:
        raise SystemExit("this torch cannot compile kernels at run time; 2.9 or newer can.")
    report = {"copy_tb_per_s": _copy(device) / 1e12, "megabytes_per_clip": BYTES / 1e6}
    random = np.random.default_rng(0)
    few = [_lattice(random, frames) for frames in (FRAMES, 33, 1, 40)]
    report["error"] = _error(few, kernel, device)
    seconds = _fused_seconds(kernel, clips, device)
    report["fused_clips_per_s"] = clips / seconds
    report["copy_share"] = clips / seconds * BYTES / (report["copy_tb_per_s"] * 1e12)
    report["copy_share_goal"] = GOAL
    many = [_lattice(random, FRAMES)] * 256
    place = torch.device(device)
    report["torch_clips_per_s"] = len(many) / _seconds(
        lambda: counts_torch(many, place, torch.float32), turns=3
    )
    return report


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


def _error(lattices: Sequence[Lattice], kernel: Any, device: str) -> float:
    found = counts_fused(lattices, kernel, device)
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
    return _seconds(lambda: kernel((grid, 1, 1), (32, 1, 1), (*given, clips, FRAMES, 1)), turns=10)


def _copy(device: str) -> float:
    """Return the bytes read and written a second by a large copy."""
    import torch

    source = torch.rand(1 << 29, device=device)
    target = torch.empty_like(source)
    return 2 * 4 * source.numel() / _seconds(lambda: target.copy_(source), turns=10)


def _seconds(work: Callable[[], Any], turns: int) -> float:
    """Return the median seconds of several turns after a first one that does not count."""
    import torch

    work()
    found = []
    for _ in range(turns):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) / 1e3)
    return float(np.median(found))


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        import torch
    except ImportError:
        raise SystemExit("torch is not installed: pip install 'wordsight[gpu]'.") from None
    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device on this machine; nothing to measure.")
    report = measure(options.device)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, value in report.items():
        print(f"{name:22} {value:,.4g}")


if __name__ == "__main__":
    main()
