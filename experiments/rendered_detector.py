"""Trains the network of the detector ``rendered`` and writes it as an ONNX file.

Run with ``python -m experiments.rendered_detector OUT.onnx``. Needs the extra ``gpu`` (torch), the
package ``onnx`` and, to end within minutes, an accelerator. Frames are painted from films whose
seeds start at 20,000, far from those of any experiment, and those of the street in places that are
drawn at random, so that the network sees none of the places that experiments hold out. Recall and
precision in these places, and on further films of the other worlds, are printed as JSON.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, smooth_l1_loss

from experiments.rendered_frames import HEIGHT, WIDTH, Frames, render_frames
from experiments.rendered_network import RenderedNetwork, cells
from experiments.report import run_main, say
from wordsight.files import atomic_path
from wordsight.perception.detectors.rendered import RENDERED_THINGS
from wordsight.perception.detectors.suppression import box_iou, suppress

__all__ = ["main", "train"]

_RATE, _DECAY = 3e-3, 0.02
_LEAST_VISIBLE = 0.3  # share of a thing that must stay in the picture to be worth finding
_CONFIDENCE = 0.3


def train(
    frames: Frames, steps: int, device: str, *, batch: int = 128, seed: int = 0
) -> RenderedNetwork:
    """Train the network.

    Args:
        frames: Painted frames with their boxes.
        steps: Batches to learn from; the step size falls to nothing over them.
        device: Where to compute, such as ``cuda``.
        batch: Frames to learn from at once.
        seed: Of the first weights and of what each batch holds.

    Returns:
        The network with its weights averaged over the last steps, on the processor.
    """
    torch.manual_seed(seed)
    network = RenderedNetwork(len(RENDERED_THINGS)).to(device)
    images = torch.from_numpy(frames.images).permute(0, 3, 1, 2).to(device)
    boxes, labels = torch.from_numpy(frames.boxes).to(device), torch.from_numpy(frames.labels)
    labels = labels.to(device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    mean = {name: value.detach().clone() for name, value in network.state_dict().items()}
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = _rate(step, steps)
        chosen = torch.randint(len(images), (batch,), device=device)
        loss = _loss(network, *_varied(images[chosen], boxes[chosen]), labels[chosen])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        _average(mean, network.state_dict(), keep=min(0.999, step / (step + 50)))
        if step % 500 == 0:
            say(f"step {step} of {steps}: loss {float(loss.detach()):.3f}")
    network.load_state_dict(mean)
    return network.cpu().eval()


def _rate(step: int, steps: int) -> float:
    warm = min(1.0, (step + 1) / 200)
    return _RATE * warm * (0.5 + 0.5 * math.cos(math.pi * step / steps) + 1e-3)


def _average(mean: dict[str, Tensor], now: dict[str, Tensor], keep: float) -> None:
    for name, value in now.items():
        if value.dtype.is_floating_point:
            mean[name].lerp_(value.detach(), 1 - keep)
        else:
            mean[name].copy_(value)


def _varied(images: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Flip, shift, scale, light, blur and grain a batch, and move its boxes along."""
    count, device = len(images), images.device

    def between(low: float, high: float, *shape: int) -> Tensor:
        return torch.empty(count, *shape, device=device).uniform_(low, high)

    scale_y = between(-0.22, 0.22).exp()
    scale_x = torch.where(between(0, 1) < 0.5, -scale_y, scale_y)
    shift_x, shift_y = between(-0.15, 0.15), between(-0.12, 0.12)
    turn = torch.zeros(count, 2, 3, device=device)
    turn[:, 0, 0], turn[:, 0, 2] = 1 / scale_x, -shift_x / scale_x
    turn[:, 1, 1], turn[:, 1, 2] = 1 / scale_y, -shift_y / scale_y
    grid = affine_grid(turn, [count, 3, HEIGHT, WIDTH], align_corners=False)
    moved = grid_sample(images / 255, grid, padding_mode="reflection", align_corners=False)
    light = between(-0.12, 0.12, 3, 1, 1).exp() * between(-0.35, 0.35, 1, 1, 1).exp()
    moved = moved * light + between(-0.08, 0.08, 1, 1, 1)
    soft = between(0, 1) < 0.25
    small = torch.nn.functional.avg_pool2d(moved[soft], 2)
    moved[soft] = torch.nn.functional.interpolate(small, size=(HEIGHT, WIDTH), mode="bilinear")
    moved = moved + torch.randn_like(moved) * between(0, 0.04, 1, 1, 1)
    across = (boxes[..., 0::2] * 2 / WIDTH - 1) * scale_x[:, None, None] + shift_x[:, None, None]
    down = (boxes[..., 1::2] * 2 / HEIGHT - 1) * scale_y[:, None, None] + shift_y[:, None, None]
    return moved.clamp(0, 1), _cut((across + 1) * WIDTH / 2, (down + 1) * HEIGHT / 2)


def _cut(across: Tensor, down: Tensor) -> Tensor:
    """Cut boxes at the edges of the picture; NaN where too little of one is left."""
    low = torch.stack([across.amin(-1), down.amin(-1)], -1)
    high = torch.stack([across.amax(-1), down.amax(-1)], -1)
    edge = torch.tensor([WIDTH, HEIGHT], device=across.device)
    inner_low, inner_high = low.clamp(min=0).minimum(edge), high.clamp(min=0).minimum(edge)
    left = (inner_high - inner_low).prod(-1) < _LEAST_VISIBLE * (high - low).prod(-1)
    boxes = torch.cat([inner_low, inner_high], -1)
    boxes[left] = float("nan")
    return boxes


def _loss(network: RenderedNetwork, images: Tensor, boxes: Tensor, labels: Tensor) -> Tensor:
    """Focal loss of where centres are, and overlap of the boxes that cells near them answer."""
    heat, sides = network.maps(images)
    bumps = _bumps(boxes)
    wanted = torch.zeros_like(heat)
    rows = labels[..., None, None].expand(-1, -1, *heat.shape[2:])
    wanted.scatter_reduce_(1, rows, bumps, "amax")
    centre = wanted >= 0.999
    sure = heat.sigmoid().clamp(1e-5, 1 - 1e-5)
    there = (1 - sure) ** 2 * sure.log()
    not_there = (1 - wanted) ** 4 * sure**2 * (1 - sure).log()
    focal = -torch.where(centre, there, not_there).sum() / centre.sum().clamp(min=1)
    height, whose = bumps.max(dim=1)
    near = height > 0.5
    meant = torch.gather(boxes.nan_to_num(), 1, whose.flatten(1)[..., None].expand(-1, -1, 4))
    return focal + 2 * _box_loss(
        network.corners(sides).permute(0, 2, 3, 1)[near],
        meant.reshape(*near.shape, 4)[near],
        height[near],
    )


def _bumps(boxes: Tensor) -> Tensor:
    """Return ``(B, M, rows, columns)`` a bump of height 1 at the centre of every box."""
    x, y = cells(boxes.device)
    real = torch.isfinite(boxes).all(-1)
    known = boxes.nan_to_num()
    middle = ((known[..., :2] + known[..., 2:]) / 8).floor()
    middle = middle.clamp(min=0).minimum(torch.tensor([WIDTH // 4 - 1, HEIGHT // 4 - 1]).to(middle))
    spread = ((known[..., 2:] - known[..., :2]) / 24).clamp(min=0.6)
    across = (x / 4 - 0.5 - middle[..., 0, None, None]) / spread[..., 0, None, None]
    down = (y / 4 - 0.5 - middle[..., 1, None, None]) / spread[..., 1, None, None]
    return torch.exp(-0.5 * (across**2 + down**2)) * real[..., None, None]


def _box_loss(found: Tensor, meant: Tensor, weight: Tensor) -> Tensor:
    inner = (found[:, 2:].minimum(meant[:, 2:]) - found[:, :2].maximum(meant[:, :2])).clamp(min=0)
    both = inner.prod(-1)
    one, other = ((box[:, 2:] - box[:, :2]).clamp(min=0).prod(-1) for box in (found, meant))
    apart = 1 - both / (one + other - both + 1e-6)
    gap = smooth_l1_loss(found, meant, reduction="none").mean(-1)
    return ((apart + 0.02 * gap) * weight).sum() / weight.sum()


def measure(network: RenderedNetwork, frames: Frames) -> dict[str, dict[str, float]]:
    """Return recall and precision, at half overlap and with the right class, by world."""
    counts: dict[str, list[int]] = {}
    with torch.no_grad():
        for image, boxes, labels, world in frames:
            picture = torch.from_numpy(image).permute(2, 0, 1)[None] / 255
            output = network(picture)[0].numpy().astype(np.float64)
            found = counts.setdefault(world, [0, 0, 0])
            real = np.isfinite(boxes).all(axis=1)
            for column, add in enumerate(_matches(output, boxes[real], labels[real])):
                found[column] += add
    return {
        world: {"recall": hits / wanted, "precision": hits / max(found, 1)}
        for world, (hits, wanted, found) in counts.items()
    }


def _matches(output: Any, boxes: Any, labels: Any) -> tuple[int, int, int]:
    scores, classes = output[4:].max(axis=0), output[4:].argmax(axis=0).astype(np.int32)
    sure = scores >= _CONFIDENCE
    middle, half = output[:2, sure].T, output[2:4, sure].T / 2
    found = np.concatenate([middle - half, middle + half], axis=1)
    kept = suppress(found, scores[sure], 0.5, labels=classes[sure])
    same = classes[sure][kept][None] == labels[:, None]
    hits = ((box_iou(boxes.astype(np.float64), found[kept]) > 0.5) & same).any(axis=1).sum()
    return int(hits), len(boxes), len(kept)


def main(arguments: list[str] | None = None) -> None:
    """Render, train, measure and write."""
    parser = argparse.ArgumentParser(prog="python -m experiments.rendered_detector")
    parser.add_argument("out", type=Path, help="the ONNX file to write")
    parser.add_argument("--films", type=int, default=600, help="films of the street to learn from")
    parser.add_argument("--steps", type=int, default=15_000)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    chosen = parser.parse_args(arguments)
    if chosen.out.exists():
        sys.exit(f"{chosen.out} is there already; remove it or choose another name.")
    learning, kept = render_frames(chosen.films)
    network = train(learning, chosen.steps, chosen.device)
    with atomic_path(chosen.out) as path:
        network.write(path, RENDERED_THINGS)
    print(json.dumps(measure(network, kept), indent=2))


if __name__ == "__main__":
    run_main(main)
