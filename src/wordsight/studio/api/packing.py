"""Folders of models, packed so that they can be taken away."""

import io
import zipfile
from pathlib import Path

from fastapi.responses import Response
from starlette.exceptions import HTTPException

__all__ = ["zipped"]


def zipped(folder: Path) -> Response:
    """Return the files of a folder as a ZIP that unpacks to a folder of the same name."""
    if not folder.is_dir():
        raise HTTPException(404)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{folder.name}/{path.relative_to(folder)}")
    headers = {"Content-Disposition": f'attachment; filename="{folder.name}.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)
