"""Measure the house: how large it is, how it hangs together, how far it is from its goals.

``python tools/house.py`` prints a table of what ``src/wordsight`` measures beside the goals;
``--json`` prints the numbers for machines, ``--list NAME`` the places behind one row, ``--trace``
also runs add → learn → search on a tiny library and counts the files a reader passes. The exit
status is 1 if modules import each other in a circle, and with ``--strict`` also if two modules have
a public class of the same name; no other number fails.

How things are counted:

- *files*, *lines*: Python files, and all their lines.
- *function lines*: from ``def`` to the end of the body, without the docstring.
- *docstrings*: of functions and methods whose name, and whose class's name, has no leading ``_``.
- *one importer*: modules that exactly one other module of the package imports, anywhere in it, also
  for types only. ``__init__`` and ``__main__`` neither count nor import: they only hand on.
- *class names twice*: public top-level classes whose name another module uses for one of its own.
- *duplicate pairs*: pairs of files (or two places of one) that share a run of six or more lines of
  the same shape: alike but for names, strings and numbers. Blank lines, comments, docstrings,
  imports and lone brackets are passed over; so are runs of short lines (six with less than thirty
  tokens), and a run that stands in more than eight places: that is a form, not a copy. Lines that
  only declare (fields of a class, parameters, constants) are alike if they also declare the same
  names: two records of four arrays each are no copies of each other. The row *by shape alone*
  counts without this.
- *cycles*: modules that import each other in a circle when they are loaded (imports inside
  functions or for types only do not count).
- *files run*: modules with a function that runs during add → learn → search on a tiny library.
- *files passed*: those of them of which three or more functions run, so that a reader stops there.
- *turns back*: pairs of modules of two rooms (packages below ``wordsight``), where one calls the
  other against the direction of imports: through a callback, a subclass or a registry. Generators
  do not count: they are read where they are made, not where the next item is taken.
"""

import argparse
import ast
import inspect
import io
import json
import keyword
import runpy
import statistics
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "wordsight"
SHARED_LINES = 6  # lines that make a copy
STOPS = 3  # functions of a file that make a reader stop there
FEWEST_TOKENS = 30  # of six lines together
MOST_PLACES = 8  # places a run may stand in
_HANDING_ON = ("__init__", "__main__")


@dataclass(frozen=True)
class Module:
    """A module of the package.

    Attributes:
        name: Dotted, packages with their own name.
        path: The file.
        text: Its source.
        tree: Its syntax tree.
    """

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def hands_on(self) -> bool:
        """Whether it is an ``__init__`` or ``__main__``."""
        return self.path.stem in _HANDING_ON

    @property
    def place(self) -> str:
        """The file, from the folder of the package."""
        return self.path.as_posix().split(f"{PACKAGE}/", 1)[-1]


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        name: What is measured.
        value: The measure, or several.
        goal: What it shall be, in words; empty if there is none.
        places: What is behind the number.
    """

    name: str
    value: Any
    goal: str = ""
    places: tuple[str, ...] = ()


def read_modules(source: Path) -> dict[str, Module]:
    """Read all modules of the package below a folder."""
    found = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, path, text, ast.parse(text))
    return found


def imports_of(
    module: Module, known: Iterable[str], *, when_loaded: bool = False
) -> dict[str, set[str]]:
    """Return the modules of the package that a module imports, and the names it takes from each.

    Args:
        module: The module.
        known: The names of all modules.
        when_loaded: Only what is imported when the module is loaded.
    """
    known = set(known)
    found: dict[str, set[str]] = defaultdict(set)
    nodes = _loaded(module.tree) if when_loaded else ast.walk(module.tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in known:
                    found[alias.name].add("")
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    found[inner].add("")
                elif node.module in known:
                    found[node.module].add(alias.name)
    found.pop(module.name, None)
    return dict(found)


def single_importers(modules: dict[str, Module]) -> list[str]:
    """Return the modules that exactly one other module imports, with that module."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        if module.hands_on:
            continue
        for target, names in imports_of(module, modules).items():
            for name in names:
                importers[_origin(modules, target, name)].add(module.name)
    return [
        f"{name} <- {next(iter(importers[name]))}"
        for name, module in modules.items()
        if not module.hands_on and len(importers[name] - {name}) == 1
    ]


def double_classes(modules: dict[str, Module]) -> list[str]:
    """Return the public class names that more than one module uses, with the modules."""
    where: dict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(module.name.removeprefix(f"{PACKAGE}."))
    return [f"{name}: {', '.join(w)}" for name, w in sorted(where.items()) if len(w) > 1]


def cycles(modules: dict[str, Module]) -> list[str]:
    """Return the groups of modules that import each other in a circle (Tarjan)."""
    edges = {
        name: sorted(imports_of(module, modules, when_loaded=True))
        for name, module in modules.items()
    }
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[str] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for target in edges[name]:
            if target not in number:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == number[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(" -> ".join(sorted(group)))

    for name in edges:
        if name not in number:
            visit(name)
    return found


def functions(modules: Iterable[Module]) -> list[tuple[int, str]]:
    """Return how many lines each function has, and where it is."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return sorted(
        (
            _lines(node) - (_lines(node.body[0]) if ast.get_docstring(node) is not None else 0),
            f"{module.place}:{node.lineno} {node.name}",
        )
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, kinds)
    )


def documented(modules: Iterable[Module]) -> tuple[int, list[str]]:
    """Return how many public functions there are, and those without a docstring."""
    total, missing = 0, []
    for module in modules:
        for owner in (module.tree, *_public_classes(module.tree)):
            for node in owner.body:
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if node.name.startswith("_"):
                    continue
                total += 1
                if ast.get_docstring(node) is None:
                    missing.append(f"{module.place}:{node.lineno} {node.name}")
    return total, missing


def duplicates(modules: Iterable[Module], *, by_shape: bool = False) -> list[str]:
    """Return the pairs of places that share six or more lines, the longest runs first.

    Args:
        modules: Where to look.
        by_shape: Whether declarations of other names are alike, too.
    """
    files = {module.place: shapes(module, by_shape=by_shape) for module in modules}
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for place, lines in files.items():
        for start in range(len(lines) - SHARED_LINES + 1):
            key = tuple(shape for _, shape in lines[start : start + SHARED_LINES])
            windows[key].append((place, start))
    pairs: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for key, places in windows.items():
        if len(places) > MOST_PLACES or sum(len(one.split()) for one in key) < FEWEST_TOKENS:
            continue
        for number, (first, at) in enumerate(places):
            for second, there in places[number + 1 :]:
                if first != second or abs(at - there) >= SHARED_LINES:
                    pairs[first, second].add((at, there))
    rows = []
    for (first, second), starts in pairs.items():
        length, (at, there) = max(_runs(starts))
        a, b = files[first], files[second]
        text = (
            f"{first}:{a[at][0]}-{a[at + length - 1][0]} ~ "
            f"{second}:{b[there][0]}-{b[there + length - 1][0]}"
        )
        rows.append((length, text))
    return [text for _, text in sorted(rows, key=lambda row: (-row[0], row[1]))]


def shapes(module: Module, *, by_shape: bool = False) -> list[tuple[int, str]]:
    """Return the lines of code of a module, with their numbers, alike if they have one shape.

    Args:
        module: The module.
        by_shape: Whether lines that declare other names are alike, too.
    """
    passed = _passed_lines(module.tree)
    declared = set() if by_shape else _declared_lines(module.tree)
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        line = token.start[0]
        if line in passed or token.type in _NO_CODE:
            continue
        if token.type == tokenize.NAME:
            kept = keyword.iskeyword(token.string) or keyword.issoftkeyword(token.string)
            lines[line].append(token.string if kept or line in declared else "name")
        elif token.type == tokenize.NUMBER:
            lines[line].append("0")
        elif token.type == tokenize.STRING:
            lines[line].append('""')
        else:
            lines[line].append(token.string)
    return [
        (line, " ".join(tokens))
        for line, tokens in sorted(lines.items())
        if any(token[0].isalnum() or token[0] in "\"'" for token in tokens)
    ]


@dataclass
class Trace:
    """What ran: functions by file, and which file called which other.

    Attributes:
        functions: Names of the functions that ran, by file.
        calls: Pairs of files, caller first, with an example of a call.
        seen: Code that was called, and from where, which need not be taken down again.
    """

    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    calls: dict[tuple[str, str], str] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)

    def note(self, frame: Any, event: str, _: object) -> None:
        """Take down a call; what a module does while it is loaded does not count."""
        if event != "call":
            return
        code, before = frame.f_code, frame.f_back
        known = (id(code), id(before.f_code) if before else 0)
        if known in self.seen:  # so it is for nearly all of millions of calls
            return
        own = _is_own(code.co_filename)
        if own:
            self._take(frame)
        if not own or not before or _is_own(before.f_code.co_filename):
            self.seen.add(known)  # otherwise who called is further out, and may differ next time

    def _take(self, frame: Any) -> None:
        code = frame.f_code
        if _is_loading(frame):
            return
        self.functions[code.co_filename].add(code.co_qualname)
        caller = frame.f_back
        while caller is not None and not _is_own(caller.f_code.co_filename):
            caller = caller.f_back
        # A function made inside another one is read where it is made, and so is a generator, which
        # is called by what takes the next item.
        made = "<locals>" in code.co_qualname or code.co_flags & inspect.CO_GENERATOR
        if caller is not None and not _is_loading(caller) and not made:
            pair = (caller.f_code.co_filename, code.co_filename)
            self.calls.setdefault(pair, f"{caller.f_code.co_qualname} -> {code.co_qualname}")


def traced(source: Path) -> Trace:
    """Run add → learn → search on a tiny library and return what ran."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        films, library, words = place / "films", place / "library", place / "words"
        render = ("world", "street", "-o", films, "--clips", 4, "--frame-rate", 10, "--noise", 0)
        _run(source, render)
        where = ("-L", library, "-w", words)
        quick = ("--restarts", 1, "--quick", "--grammar", "street", "-j", 1)
        trace = Trace()
        _run(source, ("add", films, "-d", "rendered", "--engine", "serial", *where[:2]), trace)
        _run(source, ("learn", *quick, *where), trace)
        _run(source, ("search", "The person approached the backpack.", *where), trace)
        return trace


def turns_back(trace: Trace, modules: dict[str, Module]) -> list[str]:
    """Return the calls between rooms against the direction of imports."""
    names = {module.path.resolve().as_posix(): name for name, module in modules.items()}
    imports = {name: imports_of(module, modules) for name, module in modules.items()}
    below: dict[str, set[str]] = {}
    for name in modules:
        below[name], todo = set(), [name]
        while todo:
            for target in imports[todo.pop()]:
                if target not in below[name]:
                    below[name].add(target)
                    todo.append(target)
    found = []
    for (first, second), example in trace.calls.items():
        caller, called = names.get(first, ""), names.get(second, "")
        if not caller or not called or _room(caller) == _room(called):
            continue
        if caller in below[called] and called not in below[caller]:
            found.append(f"{caller} -> {called}: {example}")
    return found


def measure(source: Path, *, run: bool = False) -> list[Row]:
    """Measure a package below a folder of sources."""
    modules = read_modules(source)
    sizes = sorted((module.text.count("\n"), module.place) for module in modules.values())
    lines = [size for size, _ in sizes]
    lengths = functions(modules.values())
    spans = [length for length, _ in lengths]
    public, silent = documented(modules.values())
    alone, twice = single_importers(modules), double_classes(modules)
    copies, circles = duplicates(modules.values()), cycles(modules)
    alike = duplicates(modules.values(), by_shape=True)
    largest = tuple(f"{size} {place}" for size, place in reversed(sizes[-20:]))
    longest = tuple(f"{length} {place}" for length, place in reversed(lengths[-20:]))
    rows = [
        Row("files", len(modules), "≤ 470"),
        Row("lines", sum(lines), "≤ 68,000"),
        Row("file lines: median", round(statistics.median(lines)), "near 140", largest),
        Row("file lines: largest", lines[-1], "≤ 450", largest),
        Row("function lines: median", round(statistics.median(spans)), "", longest),
        Row("function lines: 90 %", spans[int(0.9 * len(spans))], "", longest),
        Row("function lines: largest", spans[-1], "≤ 80", longest),
        Row("public functions with docstring, %", 100 - 100 * len(silent) // public, "≥ 95"),
        Row("modules with one importer", len(alone), "≤ 80", tuple(alone)),
        Row("public class names twice", len(twice), "0", tuple(twice)),
        Row("duplicate pairs", len(copies), "≤ 40", tuple(copies)),
        Row("pairs alike by shape alone", len(alike), "", tuple(alike)),
        Row("import cycles", len(circles), "0", tuple(circles)),
    ]
    if run:
        trace = traced(source)
        places = {module.path.resolve().as_posix(): module.place for module in modules.values()}
        ran = {places[file]: names for file, names in trace.functions.items() if file in places}
        passed = tuple(place for place, names in ran.items() if len(names) >= STOPS)
        turns = tuple(turns_back(trace, modules))
        rows += [
            Row("files run by add → learn → search", len(ran), "", tuple(ran)),
            Row("files passed by add → learn → search", len(passed), "≤ 45", passed),
            Row("turns back", len(turns), "≤ 3", turns),
        ]
    return rows


def main() -> int:
    """Print the table; return 1 for a cycle, or with ``--strict`` for a double name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder of the package")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--list", metavar="NAME", help="print the places behind a row")
    parser.add_argument("--trace", action="store_true", help="also run add → learn → search")
    parser.add_argument("--strict", action="store_true", help="fail on double class names, too")
    asked = parser.parse_args()
    rows = measure(asked.source, run=asked.trace)
    if asked.list:
        for row in (row for row in rows if asked.list in row.name):
            print("\n".join(row.places))
    elif asked.json:
        print(json.dumps({row.name: row.value for row in rows}, indent=1, ensure_ascii=False))
    else:
        print(f"{'':<38} {'now':>8}  goal")
        for row in rows:
            print(f"{row.name:<38} {row.value:>8,}  {row.goal}".rstrip())
    by_name = {row.name: row for row in rows}
    wrong = by_name["import cycles"].places
    if asked.strict:
        wrong += by_name["public class names twice"].places
    for place in wrong:
        print(f"Error: {place}", file=sys.stderr)
    return int(bool(wrong))


_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def _loaded(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what runs when a module is loaded: not functions, not what is for types only."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        yield node
        todo += ast.iter_child_nodes(node)


def _origin(modules: dict[str, Module], target: str, name: str) -> str:
    """Return the module a name really comes from, where a package only hands it on."""
    seen = set()
    while target not in seen and modules[target].path.stem == "__init__" and name:
        seen.add(target)
        inner = imports_of(modules[target], modules)
        target = next((one for one, names in inner.items() if name in names), target)
    return target


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _public_classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def _passed_lines(tree: ast.Module) -> set[int]:
    """Return the lines of imports, docstrings and ``__all__``."""
    passed: set[int] = set()
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        names = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        )
        if isinstance(node, ast.Import | ast.ImportFrom) or text or names:
            passed.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return passed


def _declared_lines(tree: ast.Module) -> set[int]:
    """Return the lines of fields and constants, and of parameters below the line of ``def``."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found |= set(range(node.lineno + 1, node.body[0].lineno))
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.AnnAssign):
                    found |= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _runs(starts: set[tuple[int, int]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Join windows that follow each other; yield how many lines each run has, and where it is."""
    for at, there in starts:
        if (at - 1, there - 1) not in starts:
            length = 0
            while (at + length, there + length) in starts:
                length += 1
            yield length + SHARED_LINES - 1, (at, there)


def _room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 2 else PACKAGE


def _run(source: Path, arguments: Iterable[object], trace: Trace | None = None) -> None:
    """Run a command in this process, and note what it calls."""
    argv, path, stdout, out = sys.argv, sys.path[:], sys.stdout, io.StringIO()
    sys.argv = [PACKAGE, *map(str, arguments), "--json"]
    sys.path.insert(0, str(source))
    sys.stdout = out
    try:
        if trace is not None:
            sys.setprofile(trace.note)
        runpy.run_module(PACKAGE, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"{sys.argv}: {out.getvalue()}") from None
    finally:
        sys.setprofile(None)
        sys.argv, sys.path[:], sys.stdout = argv, path, stdout


def _is_own(file: str) -> bool:
    return f"/{PACKAGE}/" in file


def _is_loading(frame: Any) -> bool:
    """Return whether a frame is the body of a module or of a class; the start does not count."""
    code = frame.f_code
    if code.co_name == "<module>":
        return not code.co_filename.endswith("__main__.py")
    return code.co_name[0] == "<" or "__qualname__" in code.co_names


if __name__ == "__main__":
    sys.exit(main())
