"""What the plays of :mod:`benchmarks.stage` are made of: sceneries, looks, paths and the plays."""

import cv2
import numpy as np

from benchmarks.stage import SIZE, Brush, Colour, Image, Look, Path2D, Play, Thing

__all__ = ["PLAYS"]

_WIDE = SIZE[0] * 2  # room for the camera to pan
_SKIN: Colour = (205, 150, 120)


def room() -> Image:
    """Paint a wall and a floor, each shaded."""
    picture = np.empty((SIZE[1], _WIDE, 3), float)
    shade = np.linspace(0.9, 1.05, SIZE[1])[:, None, None]
    picture[:] = np.array([196, 190, 175]) * shade
    picture[300:] = np.array([140, 115, 90]) * shade[300:]
    picture *= np.linspace(0.95, 1.05, _WIDE)[None, :, None]
    return np.clip(picture, 0, 255).astype(np.uint8)


def street() -> Image:
    """Paint grass, a paved path and a brick wall with windows, all with texture."""
    rng = np.random.default_rng(1)
    coarse = cv2.resize(rng.normal(0, 1, (48, _WIDE // 10)), (_WIDE, SIZE[1]))
    fine = cv2.GaussianBlur(rng.normal(0, 1, (SIZE[1], _WIDE)), (0, 0), 1.2) * 2.5
    picture = np.empty((SIZE[1], _WIDE, 3), float)
    picture[:] = np.array([150, 148, 142])
    picture[360:] = np.array([88, 112, 58])
    picture[:170] = np.array([150, 96, 80])
    picture[:170:14] *= 0.85
    for x in range(60, _WIDE, 180):
        picture[50:130, x : x + 90] = (60, 66, 80)
    texture = 9 * coarse + 6 * fine
    return np.asarray(np.clip(picture + texture[..., None], 0, 255), np.uint8)


def table_top() -> Image:
    """Paint a wooden table seen from above."""
    rng = np.random.default_rng(2)
    grain = cv2.resize(rng.normal(0, 1, (SIZE[1] // 3, 12)), (_WIDE, SIZE[1]))
    picture = np.array([176, 140, 100]) + 8 * grain[..., None]
    return np.clip(picture, 0, 255).astype(np.uint8)


def person(shirt: Colour, trousers: Colour) -> Look:
    """A person seen from the side, with a walking gait."""

    def look(brush: Brush, x: float, y: float, size: float, time: float) -> None:
        swing = 0.12 * size * np.sin(2 * np.pi * 1.6 * time)
        hip, neck = y - 0.48 * size, y - 0.82 * size
        for sign in (-1, 1):
            knee = (x + sign * swing * 0.6, y - 0.24 * size)
            brush.stroke(
                (x, hip), knee, (x + sign * swing, y - 0.03 * size),
                width=0.09 * size, colour=trousers,
            )  # fmt: skip
        brush.stroke((x, neck + 0.08 * size), (x, hip), width=0.2 * size, colour=shirt)
        for sign in (-1, 1):
            hand = (x - sign * swing * 0.9, hip + 0.02 * size)
            brush.stroke((x, neck + 0.06 * size), hand, width=0.06 * size, colour=shirt)
            brush.disc(*hand, (0.035 * size, 0.035 * size), _SKIN)
        brush.disc(x, y - 0.91 * size, (0.075 * size, 0.09 * size), _SKIN)
        brush.disc(x, y - 0.95 * size, (0.075 * size, 0.05 * size), (50, 35, 25))

    return look


def backpack(brush: Brush, x: float, y: float, size: float, time: float) -> None:
    """A blue bag with a darker pocket and a strap."""
    half = 0.38 * size
    brush.stroke((x - half / 2, y - size), (x, y - 1.1 * size), (x + half / 2, y - size),
                 width=0.06 * size, colour=(20, 30, 70))  # fmt: skip
    brush.shape([(x - half, y), (x - half, y - 0.8 * size), (x - 0.6 * half, y - size),
                 (x + 0.6 * half, y - size), (x + half, y - 0.8 * size), (x + half, y)],
                (40, 70, 150))  # fmt: skip
    brush.shape([(x - 0.7 * half, y - 0.1 * size), (x - 0.7 * half, y - 0.5 * size),
                 (x + 0.7 * half, y - 0.5 * size), (x + 0.7 * half, y - 0.1 * size)],
                (28, 48, 110))  # fmt: skip


def chair(brush: Brush, x: float, y: float, size: float, time: float) -> None:
    """A wooden chair from the side: thin legs, a seat and a back."""
    wood, half = (110, 60, 30), 0.28 * size
    for side in (-1, 1):
        brush.stroke((x + side * half, y), (x + side * half, y - 0.5 * size),
                     width=0.07 * size, colour=wood)  # fmt: skip
    brush.stroke((x - half, y - 0.5 * size), (x + half, y - 0.5 * size),
                 width=0.1 * size, colour=wood)  # fmt: skip
    brush.stroke((x + half, y - 0.5 * size), (x + half, y - size), width=0.09 * size, colour=wood)


def trash_can(brush: Brush, x: float, y: float, size: float, time: float) -> None:
    """A grey can, wider at the top, with a rim."""
    brush.shape([(x - 0.25 * size, y), (x - 0.36 * size, y - size), (x + 0.36 * size, y - size),
                 (x + 0.25 * size, y)], (84, 88, 92))  # fmt: skip
    brush.stroke((x - 0.36 * size, y - size), (x + 0.36 * size, y - size),
                 width=0.08 * size, colour=(40, 44, 48))  # fmt: skip


def disc(colour: Colour) -> Look:
    """A ball, or a cup seen from above."""
    red, green, blue = (round(part * 0.75) for part in colour)

    def look(brush: Brush, x: float, y: float, size: float, time: float) -> None:
        brush.disc(x, y - size / 2, (size / 2, size / 2), colour)
        brush.disc(x, y - size / 2, (size / 3.2, size / 3.2), (red, green, blue))

    return look


def hand(brush: Brush, x: float, y: float, size: float, time: float) -> None:
    """A hand with fingers that reaches in from the lower edge."""
    brush.stroke((x + 0.1 * size, SIZE[1] + 20), (x, y), width=0.3 * size, colour=(70, 100, 140))
    brush.disc(x, y - 0.25 * size, (0.26 * size, 0.3 * size), _SKIN)
    for finger in (-0.2, -0.07, 0.06, 0.18):
        root = (x + finger * size, y - 0.3 * size)
        tip = (x + 1.4 * finger * size, y - 0.72 * size)
        brush.stroke(root, tip, width=0.1 * size, colour=_SKIN)


def tool(brush: Brush, x: float, y: float, size: float, time: float) -> None:
    """A screwdriver with a red handle."""
    brush.stroke((x, y), (x, y - 0.5 * size), width=0.07 * size, colour=(150, 155, 160))
    brush.stroke((x, y - 0.55 * size), (x, y - size), width=0.2 * size, colour=(190, 40, 40))


def stays(x: float, y: float) -> Path2D:
    """Never move."""
    return lambda time: (x, y)


def follows(*stops: tuple[float, float, float]) -> Path2D:
    """Pass through (time, x, y) in straight lines; away before the first and after the last."""
    times, xs, ys = (np.array(part) for part in zip(*stops, strict=True))

    def path(time: float) -> tuple[float, float] | None:
        if not times[0] <= time <= times[-1]:
            return None
        return float(np.interp(time, times, xs)), float(np.interp(time, times, ys))

    return path


_RED_BLACK = person((170, 40, 45), (35, 35, 45))
_GREEN_BLUE = person((50, 120, 70), (50, 60, 110))
_GREY_BEIGE = person((110, 112, 116), (160, 140, 110))
_END = 99.0

_CARRIER = follows((0.0, -40, 430), (2.0, 330, 430), (2.6, 330, 430), (4.6, 560, 430),
                   (5.0, 560, 430), (6.6, 700, 430))  # fmt: skip
_CARRIED = follows((0, 360, 425), (2.3, 360, 425), (2.6, 355, 355), (4.6, 585, 355),
                   (4.9, 590, 425), (_END, 590, 425))  # fmt: skip

PLAYS: tuple[Play, ...] = (
    Play(
        "walk", room, (
            Thing("chair", chair, 120, stays(470, 400), False),
            Thing("trash-can", trash_can, 90, stays(150, 390), False),
            Thing("person", _RED_BLACK, 210, follows((0.0, -60, 450), (7.0, 700, 450))),
        ),
    ),
    Play(
        "carry", room, (
            Thing("trash-can", trash_can, 80, stays(120, 380), False),
            Thing("person", _GREEN_BLUE, 220, _CARRIER),
            Thing("backpack", backpack, 75, _CARRIED),
        ), seconds=12.0, shadows=True,
    ),
    Play(
        "table", table_top, (
            Thing("cup", disc((220, 225, 230)), 80, stays(480, 170), False),
            Thing("bowl", disc((60, 110, 160)), 130, stays(200, 200), False),
            Thing("tool", tool, 110, follows((0, 330, 330), (1.5, 330, 330), (3.5, 520, 340),
                                             (_END, 520, 340))),
            Thing("hand", hand, 150, follows((0.3, 330, 640), (1.2, 330, 400), (1.5, 330, 400),
                                             (3.5, 520, 410), (3.9, 520, 410), (4.8, 560, 640))),
        ), seconds=8.0, shadows=True,
    ),
    Play(
        "street", street, (
            Thing("person", _GREY_BEIGE, 130, follows((0.0, 660, 330), (7.5, 20, 350))),
            Thing("person", _RED_BLACK, 150, follows((1.0, -30, 420), (7.8, 660, 350))),
            Thing("ball", disc((230, 200, 40)), 34, follows((2.0, 330, 420), (3.0, 330, 420),
                                                            (4.2, 520, 440), (_END, 520, 440))),
        ), noise=4.0,
    ),
    Play(
        "waiting", street, (
            Thing("person", _RED_BLACK, 170, follows((0.0, 220, 400), (3.0, 220, 400),
                                                     (7.0, 690, 400))),
            Thing("trash-can", trash_can, 80, stays(450, 350), False),
        ), shadows=True,
    ),
    Play(
        "resting", room, (
            Thing("person", _GREEN_BLUE, 200, follows((0.5, 700, 440), (3.0, 380, 440),
                                                      (_END, 380, 440))),
            Thing("chair", chair, 120, stays(140, 400), False),
        ), seconds=20.0, flicker=0.06,
    ),
    Play(
        "panning", street, (
            Thing("person", _RED_BLACK, 160, follows((0.0, 100, 400), (8.0, 620, 390))),
            Thing("trash-can", trash_can, 80, stays(420, 350), False),
        ), pan=30.0,
    ),
)  # fmt: skip
