"""Making a file of a video that somebody wants to take away."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext

__all__ = ["make_file"]


def make_file(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Make a file and keep it for downloading.

    Args:
        arguments: ``name`` of the folder it is kept in; ``video``; ``what``, as in
            :data:`wordsight.studio.exporters.EXPORTERS`; ``ending``; and what it takes, such as
            ``sentence``, ``start``, ``end`` or ``alignment``.
        workplace: Where to work.
    """
    from wordsight.library import Library
    from wordsight.studio.exporters import EXPORTERS
    from wordsight.studio.exports import export_path, exporting

    maker, what = EXPORTERS[arguments["what"]], arguments["what"]
    ending = arguments.get("ending") or maker.endings[0]
    if ending not in maker.endings:
        raise WordsightError(
            f"{maker.title.lower()} can be written as {', '.join(maker.endings)}, not {ending}."
        )
    with Library.open(workplace.library) as library:
        video = library.resolve(arguments["video"])
        asked = {**arguments, "video": video}
        file = f"{Path(library.video(video).name).stem}-{what}{ending}"
        title = f"{maker.title}: {asked['sentence']}" if asked.get("sentence") else maker.title
        with exporting(workplace.folder, arguments["name"], video, what, title, file) as path:
            maker.make(asked, library, workplace, path)
    size = export_path(workplace.folder, arguments["name"]).stat().st_size
    return {"made": arguments["name"], "file": file, "size": size}
