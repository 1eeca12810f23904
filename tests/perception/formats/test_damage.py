"""However a file is damaged, it is read or refused with our own error, never with another."""

import contextlib
import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.perception.formats.test_coco import PLAIN
from tests.perception.formats.test_cvat import box, document
from wordsight.errors import FormatError
from wordsight.perception.formats import read_boxes

pytestmark = pytest.mark.slow

patient = settings(
    max_examples=250,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
FULL = {**PLAIN, "videos": [{"id": 1, "name": "a"}]}
FULL["images"] = [{**image, "video_id": 1, "time": n} for n, image in enumerate(FULL["images"])]

TEXTS = {
    "det.txt": "1,-1,5,5,10,20,0.5,-1,-1,-1\n2,7,5.5,5,10,20,1,-1,-1,-1\n",
    "gt.txt": "1,1,5,5,10,20,1,3,0.5\n2,1,5,5,10,20,1,3,0.5\n",
    "boxes.csv": "frame,time,id,label,score,x1,y1,x2,y2\n0,0.5,3,cup,0.9,1,2,3,4\n1,1,,,,,,,\n",
    "boxes.xml": document(box(1), box(5, 40), box(7, 60, outside=1)),
    "boxes.json": json.dumps(PLAIN),
}


def try_to_read(path):
    with contextlib.suppress(FormatError):
        read_boxes(path, frame_rate=10)


@pytest.mark.parametrize("name", TEXTS)
@given(st.data())
@patient
def test_characters_changed_anywhere(name, tmp_path, data):
    text = TEXTS[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 4))
        put = data.draw(st.text("0123456789-+.eEnaif,;<>&\"'{}[]\n\t \x00\ud7ff", max_size=3))
        text = text[:at] + put + text[at + cut :]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    try_to_read(path)


@given(st.data())
@patient
def test_any_value_anywhere_in_coco(tmp_path, data):
    content = copy.deepcopy(FULL)
    here = content
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = data.draw(st.sampled_from(keys))
        deeper = isinstance(here[key], dict | list) and len(here[key]) > 0
        if not deeper or data.draw(st.booleans()):
            here[key] = data.draw(anything)
            break
        here = here[key]
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps(content))
    try_to_read(path)


@given(st.binary(max_size=300))
@patient
def test_any_bytes(tmp_path, content):
    for name in TEXTS:
        (tmp_path / name).write_bytes(content)
        try_to_read(tmp_path / name)
