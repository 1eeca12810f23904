"""Text in the encodings people's files are in."""

import warnings

import pytest

from wordsight.errors import FormatError
from wordsight.language.captions import CaptionWarning, read_captions
from wordsight.language.captions.decoding import MAX_TEXT_BYTES

TEXT = "Die Tür – schließen 日本"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_recognised_without_a_warning(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_captions(path)[0].text == TEXT


def test_big_endian_with_its_mark(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xfe\xff" + TEXT.encode("utf-16-be"))
    assert read_captions(path)[0].text == TEXT


def test_windows_text_is_read_with_one_warning(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("Tür – “zu”\nöffnen\n".encode("cp1252") + b"\x81\n")
    with pytest.warns(CaptionWarning, match=r"a\.txt is not UTF-8 \(byte 1\)") as caught:
        captions = read_captions(path)
    assert len(caught) == 1
    assert [c.text for c in captions] == ["Tür – “zu”", "öffnen", "\N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02 binary",  # valid UTF-8, but no text
        b"\x89PNG\r\n\x1a\n\x00\x00",  # a picture
        b"\xff\xfea",  # UTF-16 cut in the middle of a letter
        TEXT.encode("utf-16-le"),  # UTF-16 without its mark
    ],
)
def test_what_is_not_text_is_refused(tmp_path, data):
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="UTF-8 text"):
        read_captions(path)


def test_files_out_of_reach_and_too_large(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_captions(tmp_path / "none.srt")
    (tmp_path / "folder.srt").mkdir()
    with pytest.raises(FormatError, match="cannot be read"):
        read_captions(tmp_path / "folder.srt")
    large = tmp_path / "large.srt"
    with large.open("wb") as file:
        file.truncate(MAX_TEXT_BYTES + 1)
    with pytest.raises(FormatError, match="more than"):
        read_captions(large)
