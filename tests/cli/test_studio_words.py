"""What a studio begins with: the words of its library, and words taught on the command line."""

import cv2
import numpy as np
import pytest

from tests.studio.conftest import LocalClient, finished
from wordsight.attributes import AttributeLearner
from wordsight.cli.output import Output, Style
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.studio import StudioSettings, create_app
from wordsight.studio.server import take_taught

LABELS = ("person", "chair", "backpack", "trash-can")


def test_words_that_an_earlier_studio_kept_for_itself_become_the_librarys(tmp_path):
    own = tmp_path / "library" / "studio"
    with Library.create(tmp_path / "library"):
        hand_lexicon(LABELS).save(own / "lexicon")
        (own / "lexicon-versions").mkdir()
    with LocalClient(create_app(StudioSettings(library=str(tmp_path / "library")))) as client:
        assert client.get("/api/v1/lexicon").status_code == 200
    assert (tmp_path / "library" / "lexicon" / "model.json").exists()
    assert not list(own.glob("lexicon*/"))


@pytest.fixture
def taught(tmp_path):
    """Sixteen pictures of two words, taught as `wordsight teach` does."""
    learner = AttributeLearner(num_attributes=1, pictures="figures")
    colours = {"red": (200, 30, 30), "blue": (40, 60, 210)}
    pictures, words = zip(
        *((disc(colour, size), word) for size in range(8) for word, colour in colours.items()),
        strict=True,
    )
    learner.fit(pictures, words).save(tmp_path / "taught")
    return tmp_path / "taught"


def disc(colour, size):
    picture = np.full((48, 48, 3), 235, np.uint8)
    cv2.circle(picture, (24, 24), 10 + size, colour, -1)
    return picture


@pytest.mark.slow
def test_taught_words_are_taken_over_and_added_to(tmp_path, taught, capsys):
    library = tmp_path / "library"
    take_taught(Output(Style()), str(library), taught)
    assert "begins with the taught words of" in capsys.readouterr().err
    folder = library / "studio"
    assert words_of(folder / "taught") == words_of(taught)
    assert (folder / "attributes.png").stat().st_size > 1000
    with LocalClient(create_app(StudioSettings(library=str(library)))) as client:
        page = client.get("/attributes").text
        assert "red" in page and "are here already" in page
        for size in range(6):
            image = cv2.imencode(".png", disc((30, 160, 40), size)[..., ::-1])[1].tobytes()
            files = {"image": ("a.png", image, "image/png")}
            client.post("/api/v1/attributes/lessons", files=files, data={"word": "green"})
        refused = client.post("/api/v1/attributes/learn", json={"attributes": 2})
        assert refused.status_code == 422 and "as those were begun" in refused.text
        for _ in range(2):  # learning again adds nothing twice
            done = finished(client, client.post("/api/v1/attributes/learn", json={}).json()["id"])
            assert done["state"] == "done", done
    assert words_of(folder / "taught") == {"red": 8, "blue": 8, "green": 6}
    take_taught(Output(Style()), str(library), taught)  # the studio has its own by now
    assert capsys.readouterr().err == "" and "green" in words_of(folder / "taught")


def words_of(folder):
    learner = AttributeLearner.load(folder)
    return {word.name: word.count for group in learner.attributes() for word in group}


def test_damaged_taught_words_stop_nobody(tmp_path, taught, capsys):
    (taught / "model.json").write_text("{")
    take_taught(Output(Style()), str(tmp_path / "library"), taught)
    assert "begins without taught words" in capsys.readouterr().err
    take_taught(Output(Style()), str(tmp_path / "library"), tmp_path / "nowhere")
    assert capsys.readouterr().err == ""
