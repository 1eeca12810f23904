"""Little things to show and little sounds to say."""

import numpy as np

from wordsight.attributes import Sound

COLOURS = {"red": (220, 40, 40), "blue": (40, 40, 220), "green": (40, 170, 60)}
SHAPES = ("tall", "wide", "square")
# Three steady tones per word stand for its vowels.
TONES = {
    "red": (300, 900, 2400),
    "blue": (700, 1300, 2000),
    "green": (1500, 500, 3000),
    "tall": (400, 2500, 700),
    "wide": (2000, 2200, 350),
    "square": (1000, 300, 1700),
}


def thing(colour, shape, random, side=32):
    """A coloured rectangle before a grey, noisy wall."""
    picture = np.full((side, side, 3), 90, dtype=np.uint8)
    width = {"tall": (4, 12), "wide": (12, 4), "square": (8, 8)}[shape]
    x, y = side // 2 + random.integers(-1, 2), side // 2 + random.integers(-1, 2)
    picture[y - width[1] : y + width[1], x - width[0] : x + width[0]] = COLOURS[colour]
    if shape == "tall":
        picture[:] = 90
        picture[y - 12 : y + 12, x - 4 : x + 4] = COLOURS[colour]
    if shape == "wide":
        picture[:] = 90
        picture[y - 4 : y + 4, x - 12 : x + 12] = COLOURS[colour]
    return picture + random.integers(0, 8, picture.shape, dtype=np.uint8)


def word(name, random, rate=16_000):
    """A made-up recording: three tones one after the other, never quite the same."""
    pieces = []
    for tone in TONES[name]:
        time = np.arange(int(rate * random.uniform(0.06, 0.1))) / rate
        pitch = tone * random.uniform(0.97, 1.03)
        pieces.append(0.3 * np.sin(2 * np.pi * pitch * time))
    samples = np.concatenate(pieces)
    return Sound((samples + 0.01 * random.normal(size=len(samples))).astype(np.float32), rate)


def lessons(count, random, spoken=False):
    """Pictures with one word each, for colour or for shape, nobody says which."""
    pictures, words = [], []
    for number in range(count):
        colour, shape = random.choice(list(COLOURS)), random.choice(SHAPES)
        pictures.append(thing(colour, shape, random))
        said = str(colour if number % 2 else shape)
        words.append(word(said, random) if spoken else said)
    return pictures, words
