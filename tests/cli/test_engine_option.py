"""One option for all commands whose work can be shared out, and files kept elsewhere."""

import uuid

import pytest


def answers(run, footage, engine, library):
    """Add, index and search with an engine; what each of them said."""
    how = ("--engine", engine, "-L", library)
    added = run("add", footage, "-s", "a red square moves", *how, "--json")
    indexed = run("index", *how, "--json")
    by_words = run("search", "red square", *how, "--json")
    by_picture = run("search", "--like", f"{added.json['added'][0]}@0.5", *how, "--json")
    assert {added.code, indexed.code, by_words.code, by_picture.code} == {0}
    assert by_words.json and by_picture.json
    return added.json, indexed.json["added"], by_words.json, by_picture.json


@pytest.mark.slow
def test_engines_change_no_result(run, footage, tmp_path):
    expected = answers(run, footage, "serial", tmp_path / "one")
    assert answers(run, footage, "processes:2", tmp_path / "two") == expected


@pytest.mark.slow
def test_a_cluster_of_an_address_changes_no_result(run, footage, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    from wordsight.engine.cluster import Cluster

    expected = answers(run, footage, "serial", tmp_path / "one")
    with Cluster(workers=2) as cluster:
        address = cluster._client.scheduler_info()["address"]
        assert address.startswith("tcp://")
        assert answers(run, footage, address, tmp_path / "two") == expected


@pytest.mark.slow
def test_a_cluster_says_where_it_can_be_watched(run, footage, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    answer = run("add", footage, "--engine", "dask:1", "-L", tmp_path / "lib")
    assert answer.code == 0 and "The cluster can be watched at http" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["add", "film.mp4"],
        ["index"],
        ["search", "words"],
        ["learn"],
        ["states", "learn", "film.json", "--labels", "labels.csv"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_speaks_of_engines_alike(run, command):
    shown = run(*command, "--help").out
    assert "--engine" in shown and "serial|processes|dask|tcp" in shown


@pytest.mark.slow
def test_an_engine_nobody_knows_is_refused(run, footage, tmp_path):
    answer = run("add", footage, "--engine", "horses", "-L", tmp_path / "lib")
    assert answer.code == 1 and "there is no engine 'horses'" in answer.err
    answer = run("add", footage, "--engine", "serial", "-j", "2", "-L", tmp_path / "lib")
    assert answer.code == 1 and "not both" in answer.err


def test_files_can_be_kept_in_a_bucket(run, footage, tmp_path):
    url = f"memory://cli-{uuid.uuid4().hex}"
    made = run("init", tmp_path / "lib", "--artefacts", url, "--json")
    assert made.json["artefacts"] == url
    assert run("add", footage, "--engine", "serial", "-L", tmp_path / "lib").code == 0
    assert run("verify", "-L", tmp_path / "lib").code == 0
    assert not (tmp_path / "lib" / "videos").exists()


def test_files_can_be_kept_in_a_shared_folder(run, footage, tmp_path):
    where = ("--artefacts", tmp_path / "shared", "-L", tmp_path / "lib")
    assert run("add", footage, "-j", "1", *where).code == 0  # made on the way
    assert (tmp_path / "shared" / "videos").exists()
    assert run("verify", "-L", tmp_path / "lib").code == 0


def test_a_bucket_nobody_can_reach_is_told(run, tmp_path):
    answer = run("init", tmp_path / "lib", "--artefacts", "nosuch://place")
    assert answer.code == 1 and "no place for files" in answer.err
    assert "Traceback" not in answer.err
