"""Attributes: lessons of pictures and words, learning from them, and naming what is seen."""

import json
import secrets
import tempfile
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wordsight.attributes import AttributeLearner, Naming, Sound, write_sound
from wordsight.attributes.recall.videos import crop_box
from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.studio.api.fields import Here, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.attributes import BEGUN, LESSONS, TAUGHT
from wordsight.studio.studio import Studio
from wordsight.studio.uploads import keep_picture, read_upload
from wordsight.video import VideoReader, read_image
from wordsight.workflows.search_query import parse_region
from wordsight.workflows.teach import TeachSettings

__all__ = [
    "Lesson",
    "PictureNames",
    "begun_elsewhere",
    "lessons_of",
    "router",
    "taught",
    "taught_folder",
]

router = APIRouter(tags=["attributes"])

Box = Annotated[str, Form(max_length=100, description="x,y,width,height of a part, pixels")]

LessonFile = Annotated[str, InPath(pattern="^[0-9a-f]{16}[.](png|jpg)$")]

_LIST = "pairs.jsonl"
_MOST_ASKED = 500  # pictures to choose a question among
_listing = Lock()  # a change reads the list before it is written


class Lesson(BaseModel):
    """A picture and what was said of it."""

    image: str
    word: str | None = None
    sound: str | None = None
    like: str | None = None


class RenameBody(BaseModel):
    """A word that was only heard, and how it is written."""

    word: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=100)


class AttributeAnswer(BaseModel):
    """What one attribute of a picture is called."""

    attribute: int
    word: str
    confidence: float
    known: bool


class PictureNames(BaseModel):
    """All words for a picture."""

    text: str
    attributes: list[AttributeAnswer]

    @classmethod
    def of(cls, found: Naming) -> "PictureNames":
        """Tell what was found."""
        names = AttributeAnswer.model_fields
        answers = [
            AttributeAnswer(**{name: getattr(one, name) for name in names})
            for one in found.attributes
        ]
        return cls(text=found.text, attributes=answers)


@router.get("/attributes/lessons")
def list_lessons(studio: Here) -> list[Lesson]:
    """List the lessons."""
    return lessons_of(studio)


@router.post("/attributes/lessons", status_code=201)
def add_lesson(
    studio: Here,
    image: Annotated[UploadFile, File()],
    word: Annotated[str, Form(max_length=100)] = "",
    sound: Annotated[UploadFile | None, File()] = None,
    like: Annotated[str, Form(max_length=100)] = "",
) -> Lesson:
    """Add a picture with a word, written or spoken (WAV), perhaps like one of its attribute."""
    if not word.strip() and sound is None:
        raise WordsightError("say or write a word for the picture.")
    folder = studio.folder / LESSONS
    folder.mkdir(parents=True, exist_ok=True)
    name = secrets.token_hex(8)
    lesson = Lesson(image=keep_picture(image, folder / name).name)
    lesson.word, lesson.like = word.strip() or None, like.strip() or None
    if sound is not None:
        from wordsight.attributes import read_sound

        path = folder / f"{name}.wav"
        path.write_bytes(read_upload(sound))
        try:
            read_sound(path)
        except WordsightError:
            path.unlink()
            (folder / lesson.image).unlink()
            raise
        lesson.sound = path.name
    with _listing, (folder / _LIST).open("a", encoding="utf-8") as file:
        file.write(json.dumps(lesson.model_dump(exclude_none=True)) + "\n")
    return lesson


class WordBody(BaseModel):
    """The word of a lesson."""

    word: str = Field(min_length=1, max_length=100, pattern=r"\S")


@router.put("/attributes/lessons/{image}")
def correct_lesson(studio: Here, image: LessonFile, wanted: WordBody) -> Lesson:
    """Write another word to the picture of a lesson."""
    word = wanted.word.strip()
    return _rewrite_lessons(studio, image, word).model_copy(update={"word": word})


@router.delete("/attributes/lessons/{image}")
def remove_lesson(studio: Here, image: LessonFile) -> dict[str, str]:
    """Remove a lesson with its picture and recording."""
    removed = _rewrite_lessons(studio, image, None)
    for name in filter(None, (removed.image, removed.sound)):
        (studio.folder / LESSONS / Path(name).name).unlink(missing_ok=True)
    return {"removed": image}


def _rewrite_lessons(studio: Studio, image: str, word: str | None) -> Lesson:
    """Write another word to the lesson of a picture, or remove it; return what was there."""
    with _listing:
        kept = list(reversed(lessons_of(studio)))
        place = next((n for n, one in enumerate(kept) if one.image == image), None)
        if place is None:
            raise HTTPException(404)
        before = kept[place]
        kept[place : place + 1] = [before.model_copy(update={"word": word})] if word else []
        lines = [json.dumps(one.model_dump(exclude_none=True)) + "\n" for one in kept]
        write_text(studio.folder / LESSONS / _LIST, "".join(lines))
    return before


class PictureQuestion(BaseModel):
    """Which of several pictures to teach next, and what to ask about it."""

    picture: int
    words: list[str]
    like: str | None
    text: str


@router.post("/attributes/ask")
@aside
def ask_for_lesson(
    studio: Here, images: Annotated[list[UploadFile], File(max_length=_MOST_ASKED)]
) -> PictureQuestion:
    """Choose the picture whose word would teach most, and what to ask about it."""
    learner = taught(studio)
    with tempfile.TemporaryDirectory() as folder:
        pictures = [
            read_image(keep_picture(image, Path(folder) / str(number)))
            for number, image in enumerate(images)
        ]
    question = learner.ask(pictures)
    words = list(question.words)
    if question.attribute is None:
        text, like = f"It was called {words[0]}. What else is it?", None
    else:
        text, like = f"Which is it: {', '.join(words)}, or another such word?", words[0]
    return PictureQuestion(picture=question.picture, words=words, like=like, text=text)


@router.post("/attributes/learn", status_code=202)
def learn(studio: Here, asked: TeachSettings) -> JobInfo:
    """Learn from all lessons, in a job."""
    if begun_elsewhere(studio) and asked != TeachSettings():
        raise WordsightError(
            "new lessons are added to the words of `wordsight teach` as those were begun: leave "
            "the number of attributes, the method, the pictures and the seed as they are."
        )
    return JobInfo.of(studio.begin("teach", **asked.model_dump()))


@router.post("/attributes/rename")
def rename_word(studio: Here, wanted: RenameBody) -> list[list[str]]:
    """Spell a word that was only heard; answers with the words of every attribute."""
    learner = AttributeLearner.load(taught_folder(studio))
    learner.rename(wanted.word, wanted.name.strip())
    return _kept(studio, learner)


class MergeBody(BaseModel):
    """A word whose recordings are those of another."""

    word: str = Field(min_length=1, max_length=100)
    into: str = Field(min_length=1, max_length=100)


class SplitBody(BaseModel):
    """A word whose recordings are of two words."""

    word: str = Field(min_length=1, max_length=100)


@router.post("/attributes/merge")
def merge_words(studio: Here, wanted: MergeBody) -> list[list[str]]:
    """Make a word's lessons those of another; answers with the words of every attribute."""
    learner = AttributeLearner.load(taught_folder(studio))
    return _kept(studio, learner.merge(wanted.word, wanted.into))


@router.post("/attributes/split")
def split_word(studio: Here, wanted: SplitBody) -> list[list[str]]:
    """Split a word's recordings into two words; answers with the words of every attribute."""
    learner = AttributeLearner.load(taught_folder(studio))
    return _kept(studio, learner.split(wanted.word))


@router.get("/attributes/words/{word}/sound", response_class=Response)
def play_word(studio: Here, word: str) -> Response:
    """Send the typical recording of a word, as a WAV file."""
    learner = taught(studio)
    found = [one for one in learner.words_ if one.name == word]
    sound = learner.sounds_[found[0].example] if found else None
    if sound is None:
        raise HTTPException(404)
    return _wav(sound)


def _kept(studio: Studio, learner: AttributeLearner) -> list[list[str]]:
    learner.save(taught_folder(studio), overwrite=True)
    return [[word.name for word in group] for group in learner.attributes()]


def _wav(sound: Sound) -> Response:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        write_sound(path, sound)
        return Response(path.read_bytes(), media_type="audio/wav")


@router.post("/attributes/name")
@aside
def name_picture(studio: Here, image: Annotated[UploadFile, File()], box: Box = "") -> PictureNames:
    """Say all words for a picture, or for a part of it."""
    return PictureNames.of(_named(studio, image, box))


@router.post("/attributes/say", response_class=Response)
@aside
def say_picture(studio: Here, image: Annotated[UploadFile, File()], box: Box = "") -> Response:
    """Say all words for a picture in the teacher's own voice, as a WAV file."""
    return _wav(taught(studio).say(_named(studio, image, box)))


@router.get("/attributes/figure", response_class=FileResponse)
def show_figure(studio: Here) -> FileResponse:
    """Send the figure of which words fell into which attribute."""
    path = studio.folder / "attributes.png"
    if not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, headers={"Cache-Control": "no-store"})


@router.get("/attributes/lessons/{file}", response_class=FileResponse)
def show_lesson_file(studio: Here, file: str) -> FileResponse:
    """Send the picture or the recording of a lesson."""
    known = {name for one in lessons_of(studio) for name in (one.image, one.sound) if name}
    if file not in known:
        raise HTTPException(404)
    return FileResponse(studio.folder / LESSONS / file)


def lessons_of(studio: Studio) -> list[Lesson]:
    """Return the lessons, the newest first."""
    path = studio.folder / LESSONS / _LIST
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Lesson(**json.loads(line)) for line in reversed(lines) if line.strip()]


def taught(studio: Studio) -> AttributeLearner:
    """Return what was learned.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    folder = taught_folder(studio)
    return _loaded(folder, (folder / "model.json").stat().st_mtime_ns)


def taught_folder(studio: Studio) -> Path:
    """Return where what was learned is kept.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    if not (studio.folder / TAUGHT / "model.json").is_file():
        raise WordsightError("nothing was learned yet; add lessons and learn first.")
    return studio.folder / TAUGHT


@lru_cache(maxsize=1)
def _loaded(folder: Path, _stamp: int) -> AttributeLearner:
    return AttributeLearner.load(folder)


def _named(studio: Studio, image: UploadFile, box: str) -> Naming:
    learner = taught(studio)
    with tempfile.TemporaryDirectory() as folder:
        picture = read_image(keep_picture(image, Path(folder) / "picture"))
    region = parse_region(box or None)
    if region is not None:
        x, y, width, height = region
        picture = crop_box(picture, (x, y, x + width, y + height))
    return learner.name(picture)


def begun_elsewhere(studio: Studio) -> bool:
    """Tell whether the studio began with words of `wordsight teach`."""
    return (studio.folder / BEGUN).exists()


Corner = Annotated[float, Field(ge=-1e5, le=1e5)]


class FrameRegion(BaseModel):
    """A moment of a video, and a part of its picture: corners x1, y1, x2, y2 in pixels."""

    time: float = Field(ge=0, le=1e7)
    box: tuple[Corner, Corner, Corner, Corner] | None = None


@router.post("/videos/{video_id}/names", status_code=202)
def name_things(studio: Here, video_id: str) -> JobInfo:
    """Name all things that were seen in a video, in a job."""
    video = studio.library.resolve(video_id)
    stamp = (taught_folder(studio) / "model.json").stat().st_mtime_ns
    return JobInfo.of(studio.begin_once("name", video=video, stamp=stamp))


@router.post("/videos/{video_id}/name")
@aside
def name_part(studio: Here, video_id: str, part: FrameRegion) -> PictureNames:
    """Say all words for the picture at a moment, or for a part of it."""
    learner = taught(studio)
    with VideoReader(studio.library.video(video_id).path) as reader:
        image = reader.frame_at(part.time).image
    return PictureNames.of(learner.name(image if part.box is None else crop_box(image, part.box)))
