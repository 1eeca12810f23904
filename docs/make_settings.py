"""Write docs/settings.md: the settings of every verb, from their declarations."""

from pathlib import Path

import wordsight
from wordsight.workflows.settings import SettingInfo, settings_of

PAGE = Path(__file__).with_name("settings.md")

_HEAD = """# Settings

Every verb has the same settings in Python (`wordsight.learn(library, restarts=3)`), on the command
line (`wordsight learn --restarts 3`) and, where its pages offer them, in the studio. This page is
made from their declarations by `python docs/make_settings.py`. In Python, settings marked *by
position* come in this order after the library; a setting without an option is only in Python.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [_HEAD]
    for name in wordsight.__all__:
        request = getattr(getattr(wordsight, name), "request", None)
        if request is None:
            continue
        first = (getattr(wordsight, name).__doc__ or "").strip().split("\n")[0]
        rows = [_row(one) for one in settings_of(request).values()]
        table = ["| setting | option | default | what it does |", "|---|---|---|---|", *rows]
        parts.append(f"## {name}\n\n{first}\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def _row(one: SettingInfo) -> str:
    option = "" if one.setting.hidden else " ".join(f"`{flag}`" for flag in one.flags)
    if one.setting.positional:
        option = "*by position*"
    limits = []
    if one.choices:
        limits.append("one of " + ", ".join(f"`{choice}`" for choice in one.choices))
    if one.least is not None and one.most is not None:
        limits.append(f"{one.least:g} to {one.most:g}")
    elif one.least is not None:
        limits.append(f"at least {one.least:g}")
    told = one.help + (f" ({'; '.join(limits)})" if limits else "")
    cells = (f"`{one.name}`", option, _default(one), told)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(one: SettingInfo) -> str:
    if one.required:
        return "must be given"
    if one.setting.default_text:
        return one.setting.default_text
    if one.default in (None, (), False):
        return "off" if one.default is False else "none"
    return f"`{one.default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
