"""Make the pictures of the studio's guide: ``python -m docs.make_images FOLDER [--only NAME ...]``.

A sample library is made in FOLDER, or found again there; a studio serves it, and Chromium does on
each page what the guide tells. Some minutes the first time, most of them for learning words.
"""

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np

from tests.studio.browsing import PATIENCE, installed_browser, launched, serving, until
from wordsight.cli.output import Output, Style
from wordsight.library import Library
from wordsight.studio.demo import demo_library
from wordsight.worlds import tabletop, write_world

IMAGES = Path(__file__).with_name("images")
COMPLETE = "all-pictures-taken"  # a file of the folder, once they were
WIDTH = 1200
QUALITY = 82  # of the JPEG files, out of 100
BOXES = ("frame", "time", "id", "label", "score", "x1", "y1", "x2", "y2")
LABELS = ("video", "start", "end", "fact")
KINDS = "red,green,blue,yellow,black,white,orange,purple=block"
COLOURS = {"red": (200, 30, 30), "yellow": (235, 200, 40), "blue": (40, 60, 210)}
SHAPES = {"ball": 40, "box": 4, "tent": 3}  # corners

Page = Any  # playwright's, which is no dependency of the package


def sample(folder: Path) -> Path:
    """Make the library of the pictures: the studio's own sample, and films of blocks."""
    library = demo_library(Output(Style(quiet=True)), folder)
    films = folder / "table"
    if not (films / "truth.jsonl").exists():
        world = tabletop(films_per_event=4, events=["pick-up", "put-down"], noise=0.0)
        write_world(world, films, total=8)
    told = [json.loads(line) for line in (films / "truth.jsonl").read_text().splitlines()]
    for film in told:
        _write_rows(films / f"{film['name']}.boxes.csv", BOXES, _boxes(film))
    _write_rows(folder / "labels.csv", LABELS, (row for film in told for row in _labels(film)))
    with Library.open(library) as opened:
        opened.add(films)
    return library


def _boxes(film: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the boxes of what is in a film, ten times a second."""
    every = round(film["frame_rate"] / 10)
    for number, (name, boxes) in enumerate(film["boxes"].items()):
        for frame in range(0, len(boxes), every):
            if boxes[frame] is not None:
                yield (frame, frame / film["frame_rate"], number, name, 1, *boxes[frame])


def _labels(film: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield when a hand holds something."""
    for state in film["states"]:
        for fact in state["facts"]:
            if fact.startswith("attached"):
                yield (f"{film['name']}.mp4", state["start"], state["end"], fact)


def _write_rows(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def learning(page: Page, folder: Path) -> None:
    """Words that are being learned, with a curve for each restart."""
    page.goto("/lexicon")
    live = "document.getElementById('course')?.dataset.live === 'true'"
    if not page.evaluate(live):
        page.fill("#restarts", "2")
        page.click("#learn button.main")
    until(page, f"{live} && document.querySelectorAll('#key li').length === 2")


def library(page: Page, folder: Path) -> None:
    """The cards."""
    page.goto("/")
    page.wait_for_selector(".cards .card")


def search(page: Page, folder: Path) -> None:
    """Moments of which a sentence is true."""
    page.goto("/search?text=The+person+approached+the+backpack.")
    page.wait_for_selector(".moment .lives.lit")


def player(page: Page, folder: Path) -> None:
    """A sentence, who is who, and the features at a moment of its verb."""
    page.goto("/")
    page.click("text=street-000.mp4")
    until(page, "document.getElementById('film').readyState >= 2")
    page.click("#ask summary")  # what else can be asked for
    page.click(".said-list button >> nth=0")
    page.click("button[value=track]")
    page.wait_for_selector("#answer strong")
    until(page, "!document.getElementById('timeline').hidden")
    page.evaluate("document.getElementById('film').currentTime = 2")
    until(page, "Math.abs(Number(document.getElementById('seek').value) - 2) < 0.05")
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("#timeline").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 35)  # the second word: the verb
    page.wait_for_selector("#hover dl")


def lexicon(page: Page, folder: Path) -> None:
    """A word, with a change beside what was learned."""
    page.goto("/lexicon/approached")
    page.wait_for_selector("text=Where it is least sure")  # its examples are looked for in a job
    page.click("summary:has-text('Edit') >> nth=0")
    field = page.locator("form.edit >> nth=0").locator("input").first
    field.fill("0.4")
    until(page, "document.querySelectorAll('.draft:not([hidden]) rect').length > 0")


def align(page: Page, folder: Path) -> None:
    """Instructions beside a film, with a band for each."""
    page.goto("/align")
    page.click("a[href^='/align/'] >> nth=0")
    page.wait_for_selector("#living .lives")
    until(page, "document.getElementById('film').readyState >= 2")


def rules(page: Page, folder: Path) -> None:
    """Films and labels to learn rules from, and what was learned beside the rules in use."""
    page.goto("/states")
    _fill_in(page, folder)
    with page.expect_navigation():  # the page comes again with what was learned
        page.click("#learn button.main")
    page.locator("#sets tr", has_text="Blocks").first.locator("[data-compare]").click()
    page.wait_for_selector("text=with this set")
    _fill_in(page, folder)
    page.evaluate("document.getElementById('learning').scrollIntoView()")


def _fill_in(page: Page, folder: Path) -> None:
    """Choose films and labels to learn rules from."""
    page.evaluate("document.getElementById('learning').open = true")
    choices = page.eval_on_selector_all(
        "#learn select[name=videos] option",
        "all => all.filter(one => one.textContent.includes('tabletop')).map(one => one.value)",
    )
    page.select_option("#learn select[name=videos]", choices)
    page.set_input_files("#learn input[name=labels]", folder / "labels.csv")
    page.fill("#learn textarea[name=kinds]", KINDS)
    page.fill("#learn input[name=title]", "Blocks on a table")


def states(page: Page, folder: Path) -> None:
    """Facts over time by the learned rules, and which rules spoke at a moment."""
    page.goto("/states")
    with page.expect_navigation():
        page.locator("#sets tr", has_text="Blocks").first.locator("[data-use]").click()
    chosen = page.locator("#video option", has_text="tabletop-pick-up").first
    page.goto(f"/states?video={chosen.get_attribute('value')}")
    page.click("#infer")
    page.wait_for_selector("text=Infer again")
    until(page, "!document.getElementById('facts').hidden")
    width = page.locator("#facts").bounding_box()["width"]
    page.click("#facts", position={"x": width - 60, "y": 12})  # near the end the block is held
    page.wait_for_selector("#why strong")


def attributes(page: Page, folder: Path) -> None:
    """Lessons of coloured shapes, what was learned of them, and the names of a new one."""
    cards = folder / "cards"
    cards.mkdir(exist_ok=True)
    chance = np.random.default_rng(0)
    page.goto("/attributes")
    if not page.locator(f"text={next(iter(COLOURS))}").count():
        for word in (*COLOURS, *SHAPES):
            drawn = [_card(cards / f"{word}-{n}.png", word, chance) for n in range(8)]
            with page.expect_navigation():
                page.set_input_files("#pictures", drawn)
                page.fill("#word", word)
                page.click("text=Add lesson")
        with page.expect_navigation():
            page.click("#learn")
    page.set_input_files("#new", _card(folder / "new.png", "blue", chance))
    page.click("text=Name it")
    page.wait_for_selector("#names p")
    page.evaluate("scrollTo(0, 0)")


def tools(page: Page, folder: Path) -> None:
    """Queries that were ranked, and a ranking that was measured."""
    (folder / "asked.txt").write_text("q1 person chair\nq2 backpack\nq3 quickly\n")
    page.goto("/tools")
    page.set_input_files("#queries input[name=queries]", folder / "asked.txt")
    page.click("#queries button.main")
    page.wait_for_selector("#made a:has-text('asked.run')")
    with page.expect_download() as ranking:
        page.click("#made a:has-text('asked.run') >> nth=0")
    ranking.value.save_as(folder / "asked.run")
    ranked = [line.split() for line in (folder / "asked.run").read_text().splitlines()]
    judged = [f"{query} 0 {shot} {int(rank) % 3 == 0:d}" for query, _, shot, rank, *_ in ranked]
    (folder / "asked.qrels").write_text("\n".join(judged))
    page.set_input_files("#evaluate input[name=run]", folder / "asked.run")
    page.set_input_files("#evaluate input[name=qrels]", folder / "asked.qrels")
    page.click("#evaluate button.main")
    page.wait_for_selector("#scores td")
    page.wait_for_timeout(6000)  # what is told in the corner goes by itself


def benchmarks(page: Page, folder: Path) -> None:
    """What experiments and benchmarks found when they last ran on this machine."""
    page.goto("/benchmarks")
    page.wait_for_selector("h1")


PICTURES: dict[str, tuple[Callable[[Page, Path], None], int]] = {
    # In this order: words are learned while the first is taken, and rules before they are used.
    "learning": (learning, 900),
    "library": (library, 860),
    "align": (align, 860),
    "rules": (rules, 960),
    "states": (states, 1000),
    "attributes": (attributes, 900),
    "search": (search, 860),
    "player": (player, 1420),
    "lexicon": (lexicon, 1150),
    "tools": (tools, 900),
    "benchmarks": (benchmarks, 720),
}


def make_images(folder: Path, target: Path, only: list[str]) -> None:
    """Take the pictures."""
    program = installed_browser()
    if program is None:
        raise SystemExit("There is no Chromium here; tests/install-browser.sh installs one.")
    if only and not (folder / COMPLETE).exists():
        raise SystemExit(
            f"Some pictures show what others made, and {folder} never came to the end of all of "
            "them: run it without --only first. It goes on with what is there."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with serving(sample(folder.resolve())) as address, launched(program) as browser:
        for name, (show, height) in PICTURES.items():
            if only and name not in only:
                continue
            page = browser.new_page(base_url=address, viewport={"width": WIDTH, "height": height})
            page.set_default_timeout(5 * PATIENCE)
            show(page, folder)
            page.evaluate("[...document.images].forEach(one => { one.loading = 'eager'; })")
            page.wait_for_load_state("networkidle" if name != "learning" else "load")
            path = target / f"studio-{name}.jpg"
            page.screenshot(path=path, type="jpeg", quality=QUALITY)
            print(path, flush=True)
            page.close()
            if name == "learning":
                _wait_for_jobs(address)
    if not only:
        (folder / COMPLETE).touch()


def _wait_for_jobs(address: str) -> None:
    """Wait until everything the studio began by itself is done."""
    while any(job["state"] in ("queued", "running") for job in _jobs(address)):
        time.sleep(1)


def _jobs(address: str) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = httpx.get(f"{address}/api/v1/jobs").json()
    return answer


def _card(path: Path, word: str, chance: np.random.Generator) -> Path:
    """Draw a coloured shape; whatever the word does not say is chance."""
    colour = word if word in COLOURS else chance.choice(list(COLOURS))
    corners = SHAPES[word if word in SHAPES else chance.choice(list(SHAPES))]
    size = chance.uniform(14, 20)
    turns = 2 * np.pi * (np.arange(corners) / corners + (0.125 if corners == 4 else -0.25))
    outline = 32 + size * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    image = np.full((64, 64, 3), 235, np.uint8)
    cv2.fillPoly(image, [outline.round().astype(np.int32)], COLOURS[str(colour)])
    cv2.imwrite(str(path), image[:, :, ::-1])
    return path


def main() -> None:
    """Take the pictures from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="for the sample library; kept for the next time")
    parser.add_argument(
        "--only", nargs="*", choices=PICTURES, default=[], help="some pictures, once more"
    )
    parser.add_argument("--output", type=Path, default=IMAGES, help="where pictures go")
    options = parser.parse_args()
    make_images(options.folder, options.output, options.only)


if __name__ == "__main__":
    main()
