"""Does a picture find the film it was taken from? Frames, cut-outs of things, regions of frames.

Run with ``python -m experiments.cutouts [--json] [--films N] [--draws N] [--seed N] [--world W]``.
Films of a world are rendered, added and indexed; then pictures are drawn from random films at
random moments, written as files and searched for, as users do:

- ``frame``: a whole frame (``wordsight search --image frame.png --rank video``),
- ``cut_out``: the box of one thing as a picture of its own,
- ``region``: the same box as a part of the frame (``--region x,y,w,h``).

``first`` is how often the film itself is ranked first, ``mean_rank`` its mean rank. Seeds below 100
were looked at in development.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import wordsight
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight import worlds
from wordsight.retrieval import read_run
from wordsight.video import VideoReader
from wordsight.video.images import write_image

__all__ = ["main", "measure"]

KINDS = ("frame", "cut_out", "region")
_LEAST = 12.0  # pixels of a side of a thing


def measure(world: str, films: int, draws: int, seed: int) -> dict[str, Any]:
    """Render films, index them, and look for pictures drawn from them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = {
            "street": lambda: worlds.street(films, seed),
            "tabletop": lambda: worlds.tabletop(-(-films // 7), seed),
        }[world]()
        worlds.write_world(made, folder / "films")
        truth = [json.loads(line) for line in (folder / "films" / "truth.jsonl").open()]
        say(f"indexing {len(truth)} films ...")
        library = folder / "library"
        wordsight.add(library, sources=str(folder / "films"), detector="rendered", rate=1.0)
        wordsight.index(library)
        topics = _draw_topics(folder, truth, draws, np.random.default_rng([seed, 1]))
        say(f"searching for {len(topics)} pictures ...")
        run = folder / "found.trec"
        wordsight.search(
            library, topics=folder / "topics.jsonl", run=run, rank="video", top=len(truth)
        )
        answers = read_run(run)
    results: dict[str, Any] = {"world": world, "films": len(truth), "seed": seed}
    for kind in KINDS:
        ranks = []
        for name, film in topics.items():
            if name.startswith(kind):
                order = sorted(answers[name].items(), key=lambda item: -item[1])
                own = [video.startswith(film) for video, _ in order]  # ids end in a hash
                ranks.append(1 + own.index(True))
        results[kind] = {
            "first": round(float(np.mean(np.array(ranks) == 1)), 4),
            "mean_rank": round(float(np.mean(ranks)), 3),
            "draws": len(ranks),
        }
    return results


def _draw_topics(
    folder: Path, truth: list[dict[str, Any]], draws: int, random: np.random.Generator
) -> dict[str, str]:
    """Write pictures and topics; return the film that each topic was taken from."""
    topics, films = [], {}
    number = 0
    while number < draws:
        film = truth[int(random.integers(len(truth)))]
        at = int(random.integers(film["num_frames"]))
        name = str(random.choice(sorted(film["boxes"])))
        box = film["boxes"][name][at]
        if box is None or min(box[2] - box[0], box[3] - box[1]) < _LEAST:
            continue
        with VideoReader(folder / "films" / film["file_name"]) as reader:
            image = reader.frame_at((at + 0.5) / film["frame_rate"]).image
        left, top, right, bottom = (round(value) for value in box)
        write_image(folder / f"{number}.png", image)
        write_image(folder / f"{number}-cut.png", image[top:bottom, left:right])
        frame = {"image": f"{number}.png"}
        region = [left, top, right - left, bottom - top]
        asked = (frame, {"image": f"{number}-cut.png"}, frame | {"region": region})
        for kind, topic in zip(KINDS, asked, strict=True):
            topics.append({"id": f"{kind}-{number}", **topic})
            films[f"{kind}-{number}"] = film["name"]
        number += 1
    lines = "".join(json.dumps(topic) + "\n" for topic in topics)
    (folder / "topics.jsonl").write_text(lines, encoding="utf-8")
    return films


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.cutouts", __doc__ or "")
    parser.add_argument("--films", type=int, default=31, metavar="N")
    parser.add_argument("--draws", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=100, metavar="N")
    parser.add_argument("--world", choices=("street", "tabletop"), default="street")
    options = parser.parse_args(arguments)
    results = measure(options.world, options.films, options.draws, options.seed)
    print_report(
        results,
        as_json=options.json,
        title=f"Own film first among {results['films']} of the {options.world}",
        columns=[
            Column("kind", "", justify="left"),
            Column("first", "own film first", ".3f"),
            Column("mean_rank", "mean rank", ".2f"),
            Column("draws", "draws", ".0f"),
        ],
        rows=[{"kind": kind.replace("_", "-")} | results[kind] for kind in KINDS],
    )


if __name__ == "__main__":
    run_main(main)
