"""The inputs of golden tests: films, pictures, boxes, captions, all small."""

import json
from pathlib import Path

import av
import cv2
import numpy as np

from tests.golden.harness import wordsight

FILMS = {
    "street": ("--clips", "6", "--frame-rate", "10"),
    "tabletop": ("--films", "1", "--event", "pick-up", "--event", "stack", "--frame-rate", "10"),
    "workbench": (
        *("--films", "1", "--steps", "2", "--videos-per-protocol", "1"),
        *("--frame-rate", "5", "--seed", "1"),
    ),
}
WORKBENCH_TEXT = "workbench/workbench-000-a.txt"
OWN_WORDS = "predicate moves(thing)\nfeature rise(thing) = change of elevation over 0.2 s\n"
OWN_RULES = (
    "2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\nhard: moves(X), moves(Y) -> false\n"
)
OWN_EVENTS = "START(x) = [not moves(x)] ; [moves(x)]\n"


def render_films(folder: Path) -> None:
    """Render the films of the three worlds, and keep what the commands answered."""
    answers = {}
    for name, how in FILMS.items():
        answer = wordsight(folder, "world", name, "-o", name, "--noise", "0", *how, "--json")
        assert answer.code == 0, answer.err
        answers[name] = answer.json
    (folder / "world.json").write_text(json.dumps(answers), encoding="utf-8")


def ids_of(folder: Path, library: str) -> dict[str, str]:
    """Return what masks the ids of a library's videos, which depend on their bytes."""
    videos = wordsight(folder, "list", "-L", library, "--json").json
    return {video["id"]: Path(video["name"]).stem for video in videos}


def truth_of(folder: Path, world: str) -> dict[str, dict]:
    """Return what is true of the films of a world, by their names."""
    rows = (folder / world / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["name"]: row for row in map(json.loads, rows)}


def write_tabletop(folder: Path, films: Path) -> list[str]:
    """Write the true boxes of the tabletop's films, and labels of when facts hold.

    Returns:
        The names of the films.
    """
    labels = ["video,start,end,fact"]
    for name, film in truth_of(films, "tabletop").items():
        rows = ["frame,time,id,label,score,x1,y1,x2,y2"]
        for frame in range(film["num_frames"]):
            for number, (label, boxes) in enumerate(film["boxes"].items()):
                if boxes[frame] is not None:
                    corners = ",".join(map(str, boxes[frame]))
                    time = frame / film["frame_rate"]
                    rows.append(f"{frame},{time},{number},{label},1.0,{corners}")
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        for fact, spans in _spans(film["states"]).items():
            labels += [f'{name},{start},{end},"{fact}"' for start, end in spans]
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    return list(truth_of(films, "tabletop"))


def _spans(states: list[dict]) -> dict[str, list[tuple[float, float]]]:
    """Join stretches in which a fact holds on."""
    found: dict[str, list[tuple[float, float]]] = {}
    for state in states:
        for fact in state["facts"]:
            spans = found.setdefault(fact, [])
            if spans and spans[-1][1] == state["start"]:
                spans[-1] = (spans[-1][0], state["end"])
            else:
                spans.append((state["start"], state["end"]))
    return found


TEA = """1. Fill the kettle with water.
2. Take a bag out of the box.
3. Pour the kettle into the cup.
4. Stir the cup with the spoon.
"""
_TOUCHED = (["kettle", "water"], ["bag", "box"], ["kettle", "cup"], ["spoon", "cup"])


def write_tea(folder: Path) -> None:
    """Write instructions, and two files that say what is touched; in one a step is left out."""
    (folder / "tea.md").write_text(TEA, encoding="utf-8")
    for name, skipped in (("one", ()), ("two", (1,))):
        rows, clock = ["ID start end token"], 0.0
        for step, things in enumerate(_TOUCHED):
            if step in skipped:
                continue
            for part in range(5):
                here = things[part % 2 : part % 2 + 1] if part % 2 else things
                rows.append(f"e{len(rows)} {clock} {clock + 2} {','.join(here)},{step + 1}")
                clock += 2.0
            clock += 1.0
        (folder / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")


COLOURS = {"red": (200, 30, 30), "blue": (40, 60, 210), "green": (40, 160, 60)}
SHAPES = ("round", "square")


def figure(colour: str, shape: str, size: int, at: tuple[int, int] = (24, 24)) -> np.ndarray:
    """Draw a thing of a colour and a shape before a plain background."""
    image = np.full((48, 48, 3), 235, np.uint8)
    rows, columns = np.mgrid[:48, :48]
    x, y = columns - at[0], rows - at[1]
    inside = x**2 + y**2 <= size**2 if shape == "round" else np.maximum(abs(x), abs(y)) <= size
    image[inside] = COLOURS[colour]
    return image


def write_pictures(folder: Path) -> None:
    """Write pictures with one word each, which names the colour or the shape, in two lots."""
    for lot, sizes in (("lessons", (8, 11, 14)), ("more", (9, 12))):
        (folder / lot).mkdir()
        for size in sizes:
            for colour in COLOURS:
                for shape in SHAPES:
                    image = figure(colour, shape, size, (20 + size // 2, 26))
                    for word in (colour, shape):
                        path = folder / lot / f"{colour}-{shape}-{size}-{word}.png"
                        write_png(path, image)
                        path.with_suffix(".txt").write_text(f"{word}\n", encoding="utf-8")


def write_png(path: Path, image: np.ndarray) -> None:
    """Write a picture."""
    cv2.imwrite(str(path), image[..., ::-1])


def write_footage(path: Path) -> None:
    """Write two seconds of film: a red square crosses a grey place, then a cut to a dark one."""
    rng = np.random.default_rng(0)
    bright = rng.integers(150, 170, (120, 160, 3), dtype=np.uint8)
    dark = rng.integers(20, 40, (120, 160, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        stream.options = {"crf": "12"}
        stream.thread_count = 1
        for i in range(40):
            image = (bright if i < 24 else dark).copy()
            image[40:80, 10 + 3 * i : 40 + 3 * i] = (210, 30, 30)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, "rgb24")))
        container.mux(stream.encode())


SUBTITLES = """1
00:00:00,200 --> 00:00:00,900
The red square comes in.

2
00:00:01,300 --> 00:00:01,900
It crosses a <i>dark</i> place.
"""
