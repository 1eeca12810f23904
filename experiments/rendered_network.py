"""The network of the detector ``rendered``: where the centres of things are, and their boxes.

A small convolutional network with one map of centres per class at a quarter of the picture's size,
and four distances from each cell to the sides of its thing. Its output has the layout of YOLO v8,
so that any program that reads such networks can run it.
"""

import json
import os
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, relu

from experiments.rendered_frames import HEIGHT, WIDTH

__all__ = ["RenderedNetwork", "cells"]

_WIDTHS = (16, 24, 48, 80)  # channels at a half, a quarter, an eighth and a sixteenth of the size
_STRIDE = 4


def cells(device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Return the x and the y, each ``(rows, columns)``, of the middle of every cell in pixels."""
    rows = (torch.arange(HEIGHT // _STRIDE, device=device) + 0.5) * _STRIDE
    columns = (torch.arange(WIDTH // _STRIDE, device=device) + 0.5) * _STRIDE
    y, x = torch.meshgrid(rows, columns, indexing="ij")
    return x, y


class RenderedNetwork(nn.Module):
    """Centres and boxes of things; takes ``(B, 3, 240, 320)`` from 0 to 1.

    Args:
        classes: How many kinds of things to tell apart.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        half, quarter, eighth, sixteenth = _WIDTHS
        self.first = _layer(3, half, stride=2)
        self.quarter = nn.Sequential(_layer(half, quarter, stride=2), _Residual(quarter))
        self.eighth = _stage(quarter, eighth)
        self.sixteenth = _stage(eighth, sixteenth)
        self.to_eighth = _layer(sixteenth, eighth, size=1)
        self.join_eighth = _layer(eighth, eighth)
        self.to_quarter = _layer(eighth, 2 * quarter, size=1)
        self.widen_quarter = _layer(quarter, 2 * quarter, size=1)
        self.join_quarter = _layer(2 * quarter, 2 * quarter)
        self.centres = nn.Conv2d(2 * quarter, classes, 1)
        self.sides = nn.Conv2d(2 * quarter, 4, 1)
        nn.init.constant_(self.centres.bias, -4.0)  # nearly every cell is no centre
        nn.init.constant_(self.sides.bias, 2.5)
        x, y = cells()
        self.register_buffer("x", x[None, None], persistent=False)
        self.register_buffer("y", y[None, None], persistent=False)

    def maps(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of centres ``(B, C, 60, 80)`` and distances to four sides in pixels."""
        quarter = self.quarter(self.first(images - 0.5))
        eighth = self.eighth(quarter)
        deep = self.to_eighth(self.sixteenth(eighth))
        joined = self.join_eighth(eighth + interpolate(deep, scale_factor=2.0, mode="nearest"))
        deep = interpolate(self.to_quarter(joined), scale_factor=2.0, mode="nearest")
        joined = self.join_quarter(self.widen_quarter(quarter) + deep)
        return self.centres(joined), relu(self.sides(joined)) * _STRIDE

    def corners(self, sides: Tensor) -> Tensor:
        """Turn distances to the sides into corners, both ``(B, 4, 60, 80)``."""
        here = torch.cat([self.x, self.y], dim=1)
        return torch.cat([here - sides[:, :2], here + sides[:, 2:]], dim=1)

    def forward(self, images: Tensor) -> Tensor:
        """Return ``(B, 4 + C, 4800)``: middle, width and height in pixels, and class scores."""
        logits, sides = self.maps(images)
        corners = self.corners(sides)
        middle = (corners[:, :2] + corners[:, 2:]) * 0.5
        return torch.cat([middle, corners[:, 2:] - corners[:, :2], logits.sigmoid()], 1).flatten(2)

    def write(self, path: str | os.PathLike[str], names: Sequence[str]) -> None:
        """Write the network with the names of its classes as an ONNX file."""
        import onnx

        blank = torch.zeros(1, 3, HEIGHT, WIDTH)
        torch.onnx.export(
            self,
            (blank,),
            os.fspath(path),
            input_names=["images"],
            output_names=["output0"],
            opset_version=13,
            dynamo=False,
        )
        model = onnx.load(os.fspath(path))
        entry = model.metadata_props.add()
        entry.key = "names"
        entry.value = json.dumps({str(index): name for index, name in enumerate(names)})
        onnx.save(model, os.fspath(path))


def _layer(before: int, after: int, *, size: int = 3, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(before, after, size, stride, size // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after), nn.ReLU())


def _stage(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(_layer(before, after, stride=2), _Residual(after), _Residual(after))


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        second = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.change = nn.Sequential(_layer(channels, channels), second, nn.BatchNorm2d(channels))

    def forward(self, values: Tensor) -> Tensor:
        """Return what came, changed a little."""
        return relu(values + self.change(values))
