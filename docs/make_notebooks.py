"""Run the notebooks in docs/notebooks anew: ``python -m docs.make_notebooks [NAME ...]``.

Each runs in an empty folder with a kernel of its own, offline; its outputs are kept in the
notebook, so that those who only look see them, too. MkDocs makes pages of them by this file.
"""

import argparse
import asyncio
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("notebooks")
_SECONDS = 300


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="some of them, without .ipynb")
    options = parser.parse_args()
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not options.names or path.stem in options.names:
            notebook = nbformat.read(path, as_version=4)
            run(notebook)
            nbformat.write(notebook, path)


def on_files(files: Files, config: object) -> Files:
    """Give the site a page of each notebook, as it ran last; called by MkDocs."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        content = page(nbformat.read(path, as_version=4), path.name)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=content))
    return files


def run(notebook: nbformat.NotebookNode) -> None:
    """Execute all cells in place; an error of a cell is an error here."""
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=_SECONDS, kernel_name="python3", resources=where).execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.get("metadata", {}).pop("execution", None)  # when it ran


def page(notebook: nbformat.NotebookNode, name: str) -> str:
    """Return a notebook as Markdown with its outputs."""
    parts = [f"*[{name}]({name}), as it ran.*"]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [shown for output in cell.outputs if (shown := _shown(output))]
    # The first heading stays first, since it is the title of the page.
    parts.sort(key=lambda part: not part.startswith("# "))
    return "\n\n".join(parts) + "\n"


def _shown(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```" if output.name == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        return re.sub(r"\n\s*\n", "\n", data["text/html"])  # a blank line would end the block
    if "image/png" in data:
        return f"![output](data:image/png;base64,{data['image/png'].strip()})"
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""


if __name__ == "__main__":
    main()
