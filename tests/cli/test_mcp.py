"""The library for assistants, asked by the protocol's own client over standard input."""

import asyncio
import json
import os
import sys

import pytest

from wordsight.library import Library
from wordsight.meaning import hand_lexicon
from wordsight.perception.detectors.rendered import RENDERED_THINGS
from wordsight.worlds import street, write_world

pytest.importorskip("mcp", reason="the extra mcp is not installed")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A library of two films, and words written by hand."""
    folder = tmp_path_factory.mktemp("assistants")
    write_world(street(2, 1, noise=0.0, frame_rate=10.0), folder / "films")
    with Library.open(folder / "library", create=True) as library:
        library.add(folder / "films", workers=1, detector="rendered")
    hand_lexicon(RENDERED_THINGS).save(folder / "words")
    return folder


def ask(place, *calls, options=()):
    """Start the server, list its tools and call some; return both."""
    from mcp import Client, StdioServerParameters

    command = ["-m", "wordsight", "mcp", "-L", "library", "-w", "words", *options]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=str(place), env=dict(os.environ)
    )

    async def talk():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(asyncio.wait_for(talk(), 240))


@pytest.mark.slow
def test_an_assistant_searches_describes_tracks_and_sees(place):
    with Library.open(place / "library") as library:
        videos = [video.id for video in library.videos()]
    before = sorted(path for path in (place / "library").rglob("*") if path.is_file())
    sentence = "The person approached the backpack."
    tools, answers = ask(
        place,
        ("list_videos", {}),
        ("search", {"text": sentence, "top": 3}),
        ("describe", {"video": videos[0], "top": 2}),
        ("track", {"video": videos[0], "sentence": sentence}),
        ("show_moment", {"video": videos[0], "start": 0.0, "end": 2.0, "pictures": 3}),
        ("states", {"video": videos[0]}),
        ("describe", {"video": "no-such-video"}),
        ("search", {"text": "The unicorn sang to the"}),
    )
    names = {tool.name for tool in tools}
    assert names == {
        "list_videos", "search", "describe", "track", "align", "states", "show_moment",
    }  # fmt: skip
    assert all(tool.annotations.read_only_hint for tool in tools)
    listed, found, told, tracked, shown, stated, missing, unread = answers
    assert {one["id"] for one in json.loads(listed.content[0].text)["videos"]} == set(videos)
    assert isinstance(json.loads(found.content[0].text), list | dict)
    assert isinstance(json.loads(told.content[0].text), list)
    assert "tracks" in json.loads(tracked.content[0].text)
    assert shown.content[0].type == "image" and shown.content[0].mime_type == "image/jpeg"
    assert stated.is_error and "no learned model" in stated.content[0].text
    assert missing.is_error and "no-such-video" in missing.content[0].text
    assert not unread.is_error
    after = sorted(path for path in (place / "library").rglob("*") if path.is_file())
    assert after == before  # the server only read


@pytest.mark.slow
def test_a_library_is_changed_only_by_a_server_that_may(place, tmp_path):
    film = next((place / "films").glob("*.mp4"))
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(film.read_bytes() + b"\0")  # another content, so another video
    tools, (added,) = ask(
        place, ("add_video", {"path": str(copy), "sentence": "A person."}), options=("--write",)
    )
    assert "add_video" in {tool.name for tool in tools}
    assert len(json.loads(added.content[0].text)["added"]) == 1
