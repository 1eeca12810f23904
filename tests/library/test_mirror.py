"""A folder shared through a bucket: files before the heads that name them, each change once."""

import uuid

import pytest

from wordsight.library.files.bucket import Bucket, ChangedMeanwhileError, Mirror

HEADS = ("head.json",)


@pytest.fixture
def bucket():
    return Bucket(f"memory://mirror-{uuid.uuid4().hex}")


@pytest.fixture
def ends(bucket, tmp_path):
    """The same folder on two machines."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return [Mirror(bucket, "index", tmp_path / name, HEADS, ("lock",)) for name in ("one", "two")]


def write(mirror, **files):
    for name, text in files.items():
        path = mirror._folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def content(mirror):
    files = (p for p in mirror._folder.rglob("*") if p.is_file() and p.name != "mirrored.txt")
    return {p.relative_to(mirror._folder).as_posix(): p.read_text() for p in files}


def test_what_one_sends_the_other_gets(ends):
    one, two = ends
    assert not two.pull()  # nothing there yet
    write(one, head_json="1", segment__a="data", lock="mine")
    one.push()
    assert two.pull()
    assert content(two) == {"head.json": "1", "segment/a": "data"}
    assert not two.pull() and not one.pull()  # each change once


def test_changes_go_back_and_what_no_longer_counts_goes(ends, bucket):
    one, two = ends
    write(one, head_json="1", segment__a="data")
    one.push()
    two.pull()
    (two._folder / "segment" / "a").unlink()
    write(two, head_json="2", segment__b="more")
    two.push()
    assert bucket.names() == ["index/head.json", "index/segment/b"]
    assert one.pull()
    assert content(one)["head.json"] == "2" and content(one)["segment/b"] == "more"


def test_files_go_before_the_heads_that_name_them(ends, bucket, monkeypatch):
    one, two = ends
    write(one, head_json="1", segment__a="data")
    sent, send = [], Bucket.send

    def failing(self, local, name):
        sent.append(name)
        if name.endswith("head.json"):
            raise OSError("the line is cut")
        send(self, local, name)

    monkeypatch.setattr(Bucket, "send", failing)
    with pytest.raises(OSError, match="line is cut"):
        one.push()
    assert sent == ["index/segment/a", "index/head.json"]
    assert not two.pull() and content(two) == {}
    monkeypatch.undo()
    one.push()
    assert two.pull() and content(two) == content(one)


def test_who_comes_second_is_told_and_goes_on_from_the_first(ends, bucket):
    one, two = ends
    write(one, head_json="1", segment__a="data")
    one.push()
    two.pull()
    one.pull()
    write(one, head_json="2", segment__b="more")
    write(two, head_json="3", segment__c="else")
    one.push()
    with pytest.raises(ChangedMeanwhileError, match="run the same command again"):
        two.push()
    assert bucket.read("index/head.json") == b"2"  # theirs is as they left it
    assert two.pull()
    assert content(two)["head.json"] == "2" and content(two)["segment/b"] == "more"
    write(two, head_json="4")
    two.push()
    assert one.pull() and content(one) == content(two)


def test_who_is_overwritten_while_sending_is_told(ends, bucket, monkeypatch):
    one, two = ends
    write(one, head_json="1", segment__a="data")
    write(two, head_json="2", segment__b="more")
    send = Bucket.send

    def other_first(self, local, name):
        send(self, local, name)
        if name == "index/head.json" and local.parent == one._folder:
            send(self, two._folder / "head.json", name)  # the other's arrives right after ours

    monkeypatch.setattr(Bucket, "send", other_first)
    with pytest.raises(ChangedMeanwhileError):
        one.push()
    assert bucket.read("index/head.json") == b"2"


def test_what_people_chose_here_stays_and_the_rest_is_theirs(bucket, tmp_path):
    heads = ("head.json", "words.json")
    one, two = (
        Mirror(bucket, "index", tmp_path / name, heads, chosen=("words.json",))
        for name in ("one", "two")
    )
    for mirror in (one, two):
        mirror._folder.mkdir()
    write(one, head_json="1", words_json="theirs")
    one.push()
    write(two, words_json="ours")  # before it ever looked
    assert two.pull() and content(two) == {"head.json": "1", "words.json": "ours"}
    two.push()
    assert one.pull() and content(one)["words.json"] == "ours"  # not changed there since
    (one._folder / "words.json").unlink()
    one.push()
    assert bucket.names() == ["index/head.json"]


def test_files_that_are_replaced_while_they_are_fetched_are_fetched_anew(ends, bucket, monkeypatch):
    one, two = ends
    write(one, head_json="1", segment__a="data")
    one.push()
    fetch = Bucket.fetch

    def too_late(self, name, local):
        monkeypatch.undo()
        one.pull()
        (one._folder / "segment" / "a").unlink()
        write(one, head_json="2", segment__b="more")
        one.push()
        fetch(self, name, local)

    monkeypatch.setattr(Bucket, "fetch", too_late)
    assert two.pull()
    assert content(two) == {"head.json": "2", "segment/b": "more"}


def test_an_emptied_bucket_is_filled_again(ends, bucket):
    one, _ = ends
    write(one, head_json="1", segment__a="data")
    one.push()
    bucket.remove("index")
    assert not one.pull()
    one.push()
    assert bucket.names() == ["index/head.json", "index/segment/a"]
