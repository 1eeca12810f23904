"""Names of classes from all the places they are kept in."""

import json

import pytest

from wordsight.errors import FormatError
from wordsight.perception.detectors.onnx import parse_names, read_labels


@pytest.mark.parametrize(
    "name, content, expected",
    [
        ("a.txt", "person\ncup\n", ("person", "cup")),
        (
            "a.names",
            "person\r\n  cup  \r\n\r\n",
            ("person", "cup"),
        ),  # other suffix, blanks at the end
        ("a.txt", "\ufeffperson\n\ncup", ("person", "class-1", "cup")),  # a gap keeps its number
        ("a.json", '["person", "cup"]', ("person", "cup")),
        ("a.json", '{"1": "cup", "0": "person"}', ("person", "cup")),
        ("a.JSON", '{"id2label": {"0": "person", "2": "cup"}}', ("person", "class-1", "cup")),
        ("a.json", '{"names": ["person"], "nc": 1}', ("person",)),
    ],
)
def test_files(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert read_labels(path) == expected


def test_names_themselves():
    assert read_labels(["person", "cup"]) == ("person", "cup")


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.txt", b"", "has no labels"),
        ("a.txt", b"\n\n", "has no labels"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"3", "has no labels"),
        ("a.json", b'{"person": "cup"}', "has no labels"),
        ("a.json", b'{"-1": "cup"}', "has no labels"),
        ("a.json", b'{"99999999999": "cup"}', "has no labels"),
        ("a.txt", b"\xff\xfe\x00\x01", "is not text"),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_labels(path)


def test_missing_and_huge_files(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_labels(tmp_path / "none.txt")
    large = tmp_path / "model.txt"
    with large.open("wb") as file:
        file.truncate(11_000_000)
    with pytest.raises(FormatError, match="too large"):
        read_labels(large)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("{0: 'person', 1: \"cup's\"}", ("person", "cup's")),  # as Python writes it
        (json.dumps(["a", "b"]), ("a", "b")),
        ("['a', 'b']", ("a", "b")),
    ],
)
def test_metadata(text, expected):
    assert parse_names(text) == expected


@pytest.mark.parametrize("text", ["", "person", "__import__('os')", "{0: open('x')}", "{", "7"])
def test_metadata_is_read_and_never_run(text):
    with pytest.raises(FormatError):
        parse_names(text)
