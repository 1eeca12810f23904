"""Contrast, computed from the style sheet's own tokens as WCAG 2 defines it, light and dark."""

import re
from pathlib import Path

import pytest

import wordsight.studio

STATIC = Path(wordsight.studio.__file__).parent / "static"
CSS = (STATIC / "studio.css").read_text(encoding="utf-8")
TEXT, GRAPHIC = 4.5, 3.0  # AA for text, and for edges of controls and parts of charts


def tokens():
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.S)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    return {"light": light, "dark": light | dark}


def luminance(colour):
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_defined():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the known limit of AA


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "card", "soft"])
def test_text_stands_out(scheme, ground):
    known = tokens()[scheme]
    for ink in ("ink", "dim", "main", "good", "bad", "wait"):
        assert contrast(known[ink], known[ground]) >= TEXT, (ink, ground, scheme)
    assert contrast(known["edge"], known[ground]) >= GRAPHIC  # of fields and buttons


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_and_messages_stand_out(scheme):
    known = tokens()[scheme]
    assert contrast(known["main-ink"], known["main"]) >= TEXT
    assert contrast(known["paper"], known["ink"]) >= TEXT  # what the studio says in a corner
    assert contrast(known["main"], known["paper"]) >= GRAPHIC  # the ring around what has the focus


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_charts_stand_out(scheme):
    script = (STATIC / "studio.js").read_text(encoding="utf-8")
    colours = re.findall(r"#[0-9a-f]{6}", re.search(r"colours: \[(.*?)\]", script).group(1))
    assert len(colours) == 8
    for colour in colours:
        assert contrast(colour, tokens()[scheme]["card"]) >= GRAPHIC, colour
        # The label of a box: the script takes the dark ink where the colour is lighter than this.
        ink = "#111111" if luminance(colour) > 0.19 else "#ffffff"
        assert contrast(colour, ink) >= TEXT, colour


def test_every_colour_is_a_token():
    rules = re.sub(r":root \{.*?\}", "", CSS, flags=re.S)
    assert set(re.findall(r"#[0-9a-fA-F]{3,8}\b", rules)) <= {"#000"}  # behind a film


def test_nothing_moves_where_people_asked_for_rest():
    rest = re.search(r"prefers-reduced-motion: reduce\) \{(.*?)\}\s*\}", CSS, re.S).group(1)
    assert "transition: none" in rest and "animation: none" in rest


@pytest.mark.parametrize(
    "path", sorted(STATIC.with_name("templates").rglob("*.html")), ids=lambda path: path.name
)
def test_no_field_hides_what_scripts_ask_a_form_for(path):
    # A field of that id or name takes the place of the form's own property of the same name.
    named = set(re.findall(r'(?:id|name)="([\w-]+)"', path.read_text(encoding="utf-8")))
    assert not named & {"attributes", "parentNode", "children", "tagName", "getAttribute", "id"}


def test_placeholders_and_edges_of_drop_zones_are_of_colours_that_stand_out():
    assert "::placeholder { color: var(--dim); opacity: 1; }" in CSS  # at least 4.5 to 1, see above
    assert re.search(r"\.drop \{[^}]*border-color: var\(--edge\)", CSS)  # at least 3 to 1
