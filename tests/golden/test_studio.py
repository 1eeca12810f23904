"""The studio: every route that computes something, and every kind of job."""

import shutil
from urllib.parse import quote

import pytest

from tests.golden.sample import (
    COLOURS,
    SHAPES,
    SUBTITLES,
    TEA,
    figure,
    ids_of,
    write_footage,
    write_png,
    write_tabletop,
    write_tea,
)
from tests.golden.studio import StudioBook, StudioServer, outline

pytestmark = pytest.mark.slow

TRUE = "The person approached the backpack."
FALSE = "The person carried the chair."
PAGES = ("/", "/search", "/lexicon", "/attributes", "/align", "/states", "/tools", "/benchmarks")


@pytest.fixture
def server(own):
    root, _ = own
    shutil.copytree(root / "words", root / "library" / "lexicon")
    running = StudioServer(root, "library")
    yield running
    running.close()


def video(ids, name):
    """Return the id of a video by how its name begins."""
    return next(number for number, known in ids.items() if known.startswith(name))


def test_videos_and_sentences(golden, own, server):
    root, ids = own
    film, stack = video(ids, "street-000"), video(ids, "tabletop-stack")
    with golden("studio-words", root, ids) as book:
        studio = StudioBook(server, book)
        book.keep("pages", {path: studio.page(path) for path in PAGES})
        # Jobs of two queues run side by side.
        how = {"restarts": 1, "quick": True, "grammar": "street", "threads": 2}
        studio.begin("index", "/search/index", json={"describe": True})
        studio.ask("videos", "GET", "/videos", params={"order": "name", "limit": 3})
        studio.ask("video", "GET", f"/videos/{film}")
        studio.ask("missing", "GET", "/videos/nothing", status=404)
        studio.ask("detections", "GET", f"/videos/{film}/detections", params={"end": 1})
        studio.ask("moment", "GET", f"/videos/{film}/moment", params={"time": 1.5}, brief=True)
        studio.take("thumbnail", f"/videos/{film}/thumbnail", "thumbnail.jpg")
        studio.take("frame", f"/videos/{film}/frame", "frame.jpg", params={"time": 1})
        studio.ask("track", "POST", f"/videos/{film}/track", json={"sentence": TRUE})
        part = {"sentence": TRUE, "start": 1, "end": 3, "prune": 2}
        studio.ask("track-part", "POST", f"/videos/{film}/track", json=part)
        several = {"sentences": [TRUE, FALSE]}
        studio.ask("score", "POST", f"/videos/{film}/score", json=several)
        studio.ask("explain", "POST", f"/videos/{film}/explain", json={"sentence": FALSE})
        told = server.client.post(f"/api/v1/videos/{film}/describe", json={"top": 3}).json()
        # What is equally good may come in any order.
        told["sentences"].sort(key=lambda one: (-round(one["probability"], 6), one["text"]))
        book.keep("describe", told)
        studio.ask("words", "GET", "/lexicon")
        word = studio.ask("word", "GET", "/lexicon/words/approached")
        studio.take("figure", "/lexicon/words/approached/figure", "figure.png")
        studio.end("index")
        found = {"text": "picked up the backpack", "by": "said"}
        studio.ask("search", "GET", "/search", params=found)
        studio.ask("like", "GET", "/search", params={"like": f"{film}@1.0", "top": 4})
        picture = {"image": ("a.jpg", _frame(server, stack), "image/jpeg")}
        studio.ask("by-picture", "POST", "/search", files=picture, data={"top": "3"})
        studio.take("run", "/search/run", "found.run", params=found)
        studio.take("sheet", "/search/sheet", "found.png", params=found)
        asked = {"queries": ("q.txt", "q1 picked up backpack\nq2 stacked block\n", "text/plain")}
        studio.job("queries", "/search/queries", files=asked, data={"top": "5"})
        begun = studio.ask("sentence", "POST", "/search", data={"text": TRUE, "top": "4"})
        assert begun["job"] is None or begun["job"]["kind"] == "search"
        slot = word["features"][0]
        edit = {
            "feature": slot["feature"],
            "roles": slot["roles"],
            "state": 0,
            "shares": [1.0] + [0.5] * (len(slot["bins"]) - 1),
        }
        studio.begin("compare", "/lexicon/words/approached/compare", json={"edits": [edit]})
        studio.end("compare")
        begun = server.client.post("/api/v1/lexicon/words/approached/examples").json()
        studio.await_job("examples-job", begun["job"]["id"])
        studio.ask("examples", "GET", "/lexicon/words/approached/examples")
        # Only now: new words would make the examples old.
        studio.begin("learn", "/lexicon/learn", json=how)
        studio.end("learn")
        studio.ask("history", "GET", "/lexicon/history")
        book.folder("learned", root / "library" / "lexicon", brief=True)
        studio.ask("edit", "PUT", "/lexicon/words/approached", json={"edits": [edit]}, brief=True)
        studio.ask("versions", "GET", "/lexicon/versions")
        studio.ask("restore", "POST", "/lexicon/versions/1/restore")
        studio.ask("after", "GET", "/lexicon/words/approached", brief=True)


def test_tools_and_files(golden, own, server):
    root, ids = own
    film, stack = video(ids, "street-000"), video(ids, "tabletop-stack")
    bench = video(ids, "workbench")
    write_tea(root)
    write_footage(root / "new film.mp4")
    names = write_tabletop(root, root)
    with golden("studio-tools", root, ids) as book:
        studio = StudioBook(server, book)
        studio.begin("verify", "/jobs/verify")
        text = (root / "workbench" / "workbench-000-a.txt").read_text()
        name = {"name": "0123456789ab"}
        studio.begin("align", "/alignments", json={"video": bench, "text": text, **name})
        sent = (root / "new film.mp4").read_bytes()
        query = "name=new%20film.mp4&sentence=" + quote("A red square moves.")
        studio.begin("add", f"/uploads?{query}", content=sent)
        kinds = "red,green,blue,black,white,purple,yellow,orange=block"
        boxes = [("boxes", (f"{one}.csv", (root / f"{one}.csv").read_bytes())) for one in names]
        labels = [("labels", ("labels.csv", (root / "labels.csv").read_bytes()))]
        studio.begin(
            "learn-rules",
            "/states/learn",
            files=boxes + labels,
            data={"kinds": kinds, "title": "Blocks"},
        )
        studio.ask("rules", "GET", "/states/rules")
        studio.ask("things", "GET", f"/states/videos/{stack}/things")
        studio.ask("why", "GET", f"/states/videos/{stack}/why", params={"at": 3})
        captions = {"source": ("a.srt", SUBTITLES)}
        studio.take("convert", "/convert", "a.vtt", "POST", files=captions, data={"to": "vtt"})
        csv = {"source": ("a.csv", (root / f"{names[0]}.csv").read_bytes())}
        studio.take("mot", "/convert", "a.txt", "POST", files=csv, data={"to": "mot"})
        run = "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n"
        judged = {"run": ("a.run", run), "qrels": ("a.qrels", "q1 0 b 1\nq2 0 a 1\n")}
        studio.ask("evaluate", "POST", "/search/evaluate", files=judged)
        studio.end("align")
        studio.ask("alignment", "GET", "/alignments/0123456789ab")
        file = "workbench-000-a.srt"
        studio.take("lines", f"/alignments/0123456789ab/files/{file}", file)
        studio.take("aligner", "/alignments/0123456789ab/aligner", "aligner.zip")
        seen = {"video": bench, "text": TEA, "seen": (root / "one.txt").read_text()}
        pins = {"pins": ["2=0:13"], "mistakes": True, "name": "0123456789ac"}
        studio.begin("align-seen", "/alignments", json=seen | pins)
        studio.begin("states", f"/states/videos/{stack}")
        for what, ending in (("boxes", ".csv"), ("tracks", ".xml"), ("sheet", ".png")):
            wanted = {"video": film, "what": what, "ending": ending}
            studio.begin(what, "/made", json=wanted)
        for one in ("align-seen", "states", "boxes", "tracks", "sheet"):
            studio.end(one)
        studio.ask("found-states", "GET", f"/states/videos/{stack}")
        for one in studio.ask("made", "GET", "/made", params={"video": film}):
            studio.take(f"made {one['what']}", f"/made/{one['name']}", one["file"])
        for one in ("verify", "add", "learn-rules"):
            studio.end(one)
        (rules,) = studio.ask("sets", "GET", "/states/sets")
        rule_set = f"/states/sets/{rules['name']}"
        studio.begin("look", f"/videos/{film}/look", data={"detector": "rendered", "rate": "5"})
        studio.begin("compare-rules", f"{rule_set}/compare")
        studio.take("model", f"{rule_set}/model", "model.zip")
        for what, ending in (("facts", ".eaf"), ("events", ".json")):
            studio.begin(what, "/made", json={"video": stack, "what": what, "ending": ending})
        for one in ("look", "compare-rules", "facts", "events"):
            studio.end(one)
        for one in server.client.get("/api/v1/made", params={"video": stack}).json():
            studio.take(f"made {one['what']}", f"/made/{one['name']}", one["file"])
        studio.ask("seen-again", "GET", f"/videos/{film}/detections", params={"end": 1})
        studio.ask("use", "POST", f"{rule_set}/use")
        book.ids |= ids_of(root, "library")
        studio.ask("added", "GET", "/videos", params={"text": "new film"})


def test_lessons(golden, own, server):
    root, ids = own
    film = video(ids, "street-000")
    with golden("studio-lessons", root, ids) as book:
        studio = StudioBook(server, book)
        schema = server.client.get("/openapi.json").json()
        book.found["routes"] = outline(schema)
        for size in (8, 11, 14):
            for colour in COLOURS:
                for shape in SHAPES:
                    write_png(root / "a.png", figure(colour, shape, size, (20 + size // 2, 26)))
                    for word in (colour, shape):
                        picture = {"image": ("a.png", (root / "a.png").read_bytes(), "image/png")}
                        sent = {"files": picture, "data": {"word": word}}
                        answer = server.client.post("/api/v1/attributes/lessons", **sent)
                        assert answer.status_code == 201
        wanted = {"attributes": 2, "pictures": "figures"}
        studio.job("teach", "/attributes/learn", json=wanted)
        book.folder("taught", root / "library" / "studio" / "taught")
        write_png(root / "a.png", figure("blue", "square", 10, (25, 22)))
        picture = {"image": ("a.png", (root / "a.png").read_bytes(), "image/png")}
        studio.ask("name", "POST", "/attributes/name", files=picture)
        studio.begin("names", f"/videos/{film}/names")
        box = {"time": 1.0, "box": [100, 100, 300, 300]}
        studio.ask("name-part", "POST", f"/videos/{film}/name", json=box)
        studio.end("names")
        renamed = {"word": "round", "name": "circular"}
        studio.ask("rename", "POST", "/attributes/rename", json=renamed)


def _frame(server, number):
    answer = server.client.get(f"/api/v1/videos/{number}/frame", params={"time": 3.0})
    return answer.content
