"""Recordings of every kind, good and bad, and what is made of them."""

import wave

import numpy as np
import pytest
from scipy.io import wavfile

from tests.attributes.toys import word
from wordsight.attributes import (
    Sound,
    SoundError,
    SoundWarning,
    SpeechFeatures,
    TeachingError,
    join_sounds,
    read_sound,
    write_sound,
)
from wordsight.attributes.features.sounds import resample
from wordsight.attributes.features.speech import (
    fixed_frames,
    mel_cepstrum,
    mel_filters,
    speech_features,
    split_words,
    trim_silence,
)

RANDOM = np.random.default_rng(0)
TONE = 0.4 * np.sin(2 * np.pi * 440 * np.arange(8000) / 16_000)


@pytest.mark.parametrize(
    ("kind", "rate", "channels"),
    [
        (np.uint8, 16_000, 1),  # 8 bits
        (np.int16, 48_000, 2),  # a camera's stereo
        (np.int32, 44_100, 1),
        (np.float32, 8_000, 1),  # a telephone
    ],
)
def test_wav_files_of_all_kinds_hold_the_same_tone(tmp_path, kind, rate, channels):
    time = np.arange(rate // 2) / rate
    tone = 0.4 * np.sin(2 * np.pi * 440 * time)
    stored = {
        np.uint8: lambda t: (t * 127 + 128).round(),
        np.int16: lambda t: (t * 32767).round(),
        np.int32: lambda t: (t * (2**31 - 1)).round(),
        np.float32: lambda t: t,
    }[kind](tone).astype(kind)
    path = tmp_path / "tone.wav"
    wavfile.write(path, rate, stored if channels == 1 else np.stack([stored] * 2, axis=1))
    sound = read_sound(path)
    assert sound.rate == rate and sound.duration == pytest.approx(0.5)
    np.testing.assert_allclose(sound.samples, tone, atol=0.01)
    # All look alike to the learner, whatever they were recorded with.
    reference = mel_cepstrum(Sound(TONE, 16_000))
    heard = mel_cepstrum(sound)
    if kind is not np.uint8 and rate >= 16_000:
        assert np.abs(heard[5:30, :4] - reference[5:30, :4]).mean() < 4


def test_a_recording_without_a_rate_is_refused(tmp_path):
    path = tmp_path / "still.wav"
    wavfile.write(path, 16_000, (TONE * 32767).astype(np.int16))
    content = bytearray(path.read_bytes())
    content[24:32] = bytes(8)  # samples and bytes a second
    path.write_bytes(content)
    with pytest.raises(SoundError, match="0 samples per second"):
        read_sound(path)


def test_24_bits_are_read(tmp_path):
    path = tmp_path / "deep.wav"
    values = (TONE * (2**23 - 1)).astype(np.int32)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(3)
        file.setframerate(16_000)
        file.writeframes(b"".join(int(v).to_bytes(3, "little", signed=True) for v in values))
    np.testing.assert_allclose(read_sound(path).samples, TONE, atol=1e-4)


def test_clipping_is_told_and_silence_refused(tmp_path):
    path = tmp_path / "loud.wav"
    write_sound(path, Sound(np.clip(TONE * 5, -1, 1), 16_000))
    with pytest.warns(SoundWarning, match="clipped"):
        assert read_sound(path).clipped
    silence = Sound(np.zeros(8000), 16_000)
    assert silence.silent
    with pytest.raises(TeachingError, match="recording 1 is silent"):
        SpeechFeatures().describe([Sound(TONE, 16_000), silence])


def test_flac_needs_soundfile(tmp_path, monkeypatch):
    soundfile = pytest.importorskip("soundfile")
    path = tmp_path / "tone.flac"
    soundfile.write(path, TONE, 16_000)
    np.testing.assert_allclose(read_sound(path).samples, TONE, atol=1e-3)
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(SoundError, match=r"wordsight\[speech\]"):
        read_sound(path)


def test_damaged_and_missing_files_are_named(tmp_path):
    path = tmp_path / "broken.wav"
    path.write_bytes(b"RIFF\x10\x00\x00\x00WAVEfmt ")
    with pytest.raises(SoundError, match=r"broken\.wav"):
        read_sound(path)
    with pytest.raises(SoundError, match="does not exist"):
        read_sound(tmp_path / "none.wav")
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    with pytest.raises(SoundError):
        read_sound(other)


def test_writing_never_replaces_silently(tmp_path):
    path = tmp_path / "out.wav"
    write_sound(path, Sound(TONE, 16_000))
    with pytest.raises(SoundError, match="exists"):
        write_sound(path, Sound(TONE, 16_000))
    with pytest.raises(SoundError, match=r"\.wav"):
        write_sound(tmp_path / "out.mp3", Sound(TONE, 16_000))


def test_joining_brings_rates_together():
    joined = join_sounds([Sound(TONE, 16_000), Sound(TONE[:800], 8_000)], pause=0.1)
    assert joined.rate == 16_000
    assert joined.duration == pytest.approx(0.5 + 0.1 + 0.1)
    with pytest.raises(SoundError, match="text"):
        join_sounds([])


def test_sounds_that_are_none():
    for samples in (np.zeros(0), np.zeros((2, 2)), [np.nan]):
        with pytest.raises(SoundError):
            Sound(np.array(samples), 16_000)
    with pytest.raises(SoundError, match="1000"):
        Sound(TONE, 10)


def test_filters_cover_speech_evenly():
    filters = mel_filters()
    assert filters.shape == (26, 257)
    assert filters.min() == 0 and (filters.max(axis=1) > 0.4).all()
    assert (np.diff(filters.argmax(axis=1)) > 0).all()


def test_thinning_takes_the_frames_the_paper_names():
    frames = np.arange(1, 31)[:, None].astype(float)
    taken = fixed_frames(frames, 10, "thinned")[:, 0]
    assert taken.tolist() == [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]


@pytest.mark.parametrize("timing", ["averaged", "by-change"])
def test_averages_keep_the_mean_and_work_for_any_length(timing):
    for length in (1, 3, 10, 57):
        frames = RANDOM.normal(size=(length, 4))
        fixed = fixed_frames(frames, 10, timing)
        assert fixed.shape == (10, 4) and np.isfinite(fixed).all()
        if timing == "averaged":
            np.testing.assert_allclose(fixed.mean(axis=0), frames.mean(axis=0))


def test_a_drawn_out_vowel_takes_no_more_room_by_change():
    steps = np.array([[0.0], [10.0]])
    short = np.repeat(steps, [10, 10], axis=0)
    drawn = np.repeat(steps, [10, 40], axis=0)
    changes = [
        np.abs(fixed_frames(short, 10, timing) - fixed_frames(drawn, 10, timing)).mean()
        for timing in ("averaged", "by-change")
    ]
    assert changes[1] < changes[0]


def test_sizes_of_features():
    sound = word("red", RANDOM)
    assert speech_features("paper").describe([sound]).shape == (1, 120)
    assert SpeechFeatures(deltas=True, num_frames=5).describe([sound]).shape == (1, 120)
    assert SpeechFeatures().describe([Sound(TONE[:100], 16_000)]).shape == (1, 120)
    with pytest.raises(TeachingError, match="timing"):
        SpeechFeatures(timing="slow")
    with pytest.raises(TeachingError, match="recommended"):
        speech_features("best")


def test_quiet_ends_are_cut_off_and_utterances_split():
    quiet = np.zeros(4000)
    padded = Sound(np.concatenate([quiet, TONE, quiet]), 16_000)
    assert trim_silence(padded).duration == pytest.approx(0.5, abs=0.03)
    two = Sound(np.concatenate([TONE, quiet, TONE[:4000]]), 16_000)
    assert [one.duration for one in split_words(two)] == pytest.approx([0.5, 0.25], abs=0.02)
    assert len(split_words(Sound(TONE, 16_000))) == 1
    assert resample(Sound(TONE, 16_000), 8_000).duration == pytest.approx(0.5)


@pytest.mark.slow
def test_two_known_words_in_one_breath_are_split_and_unknown_words_are_not():
    pytest.importorskip("espeakng_loader", reason="the extra `voices` is not installed")
    from experiments.voices import Speaker
    from wordsight.attributes import AttributeLearner
    from wordsight.attributes.grouping.words import split_phrases

    speaker, random = Speaker(), np.random.default_rng(0)
    voices = ("en+m1", "en+m3")
    colours = {"red": (220, 30, 30), "green": (30, 200, 60), "blue": (30, 60, 220)}
    shapes = ("cup", "ball", "plate")
    pictures, words = [], []
    for colour, value in colours.items():
        for shape in shapes:
            for text in (colour, shape):
                for sound in speaker.recordings(text, voices, 3, random):
                    pictures.append(figure(value, shape, random))
                    words.append(sound)
    learner = AttributeLearner(num_words=6, num_attributes=2, random_state=0).fit(pictures, words)
    phrases = [
        sound
        for colour in colours
        for shape in shapes
        for sound in speaker.recordings(f"{colour} {shape}", voices, 1, random)
    ]
    split = [len(one) for one in split_phrases(learner, phrases)]
    # As files of lessons are read: beside a text, or alone in a list.
    listed = split_phrases(learner, [["red", one] for one in phrases])
    assert [len(one) - 1 for one in listed] == split and listed[0][0] == "red"
    assert np.mean(np.array(split) == 2) >= 0.8 and max(split) == 2
    others = [
        s for w in ("orange", "table", "window") for s in speaker.recordings(w, voices, 2, random)
    ]
    assert [len(one) for one in split_phrases(learner, others)] == [1] * len(others)
    assert split_phrases(learner, ["red cup"]) == ["red cup"]  # texts are split at spaces
    before = len(learner.texts_)
    said = phrases[int(np.argmax(split))]
    learner.teach_one(figure(colours["red"], "cup", random), said)
    assert len(learner.settle().texts_) == before + 2


def figure(colour, shape, random):
    """Draw a thing of a colour, round, square or wide, before a plain background."""
    image = np.full((48, 48, 3), 235, np.uint8)
    rows, columns = np.mgrid[:48, :48] - 24 + random.integers(-3, 4, (2, 1, 1))
    inside = {
        "ball": rows**2 + columns**2 <= 196,
        "cup": np.maximum(abs(rows), abs(columns)) <= 12,
        "plate": (abs(rows) <= 5) & (abs(columns) <= 18),
    }[shape]
    image[inside] = colour
    return image
