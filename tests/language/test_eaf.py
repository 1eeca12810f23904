"""ELAN documents: tiers, time slots and what XML cannot hold."""

import xml.etree.ElementTree as ElementTree

from wordsight.language.eaf import eaf_document


def test_annotations_have_a_length_and_time_slots_of_their_own():
    tiers = {"E(a)": [(1000, 1000, "E(a)")], "E(b)": [(1000, 2000, "x"), (2000, 3000, "y")]}
    root = ElementTree.fromstring(eaf_document(tiers, properties={"video": "v"}))
    slots = {s.get("TIME_SLOT_ID"): int(s.get("TIME_VALUE")) for s in root.iter("TIME_SLOT")}
    used = [a.get(f"TIME_SLOT_REF{k}") for a in root.iter("ALIGNABLE_ANNOTATION") for k in (1, 2)]
    assert len(set(used)) == len(used) == len(slots)
    assert [slots[name] for name in used] == [1000, 1001, 1000, 2000, 2000, 3000]
    assert list(slots.values()) == sorted(slots.values())
    assert [(tier.get("TIER_ID"), len(tier)) for tier in root.iter("TIER")] == [
        ("E(a)", 1),
        ("E(b)", 2),
    ]
    assert root.find("HEADER/PROPERTY").text == "v"


def test_control_characters_are_dropped():
    root = ElementTree.fromstring(eaf_document({"tier": [(0, 1, "a\x00b\x1bc & <d>")]}))
    assert root.find(".//ANNOTATION_VALUE").text == "abc & <d>"


def test_equal_content_gives_equal_bytes():
    assert eaf_document({"tier": []}) == eaf_document({"tier": []})
