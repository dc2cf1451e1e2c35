"""The project's own source as the tests of this folder see it."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("agent_surface", "qt_binding", "demo_app")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file of ours."""

    name: str
    file: Path
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """Whether this is a package's ``__init__``."""
        return self.file.name == "__init__.py"

    @property
    def is_public(self) -> bool:
        """Whether no part of the dotted name begins with an underscore."""
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def place(self) -> str:
        """The path inside the checkout."""
        return self.file.relative_to(CHECKOUT).as_posix()


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One module imported somewhere in a file, also inside a function, a condition or a call of ``import_module``."""

    importer: str
    imported: str
    place: str


@cache
def modules(*folders: str) -> Sequence[Module]:
    """Every Python file under the given top-level folders, in the order of their paths."""
    found = tuple(
        _read(file)
        for folder in folders or PACKAGES
        for file in sorted((CHECKOUT / folder).rglob("*.py"))
        if "__pycache__" not in file.parts
    )
    # These are millions of nodes, kept to the end of the run; tests that collect would look at them again and again.
    gc.collect()
    gc.freeze()
    return found


def _read(file: Path) -> Module:
    parts = file.relative_to(CHECKOUT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name=name, file=file, tree=ast.parse(file.read_text(encoding="utf-8"), filename=str(file)))


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module, wherever it hides; ``from package import name`` counts as ``package.name`` too."""
    for node in ast.walk(module.tree):
        for imported in _imported(node):
            yield Import(importer=module.name, imported=imported, place=f"{module.place}:{getattr(node, 'lineno', 0)}")


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(origin), names=names):
            yield from (f"{origin}.{alias.name}" for alias in names)
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(origin)), *_],
        ):
            yield origin
        case _:
            pass


def is_within(name: str, *packages: str) -> bool:
    """Whether a dotted name is one of the packages or lies below one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


@cache
def tracked_files() -> Sequence[Path]:
    """Every file under version control; in an unpacked source archive, every file there is."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False)
    if listing.returncode == 0:
        names = [CHECKOUT / name for name in listing.stdout.decode().split("\0") if name]
        return tuple(file for file in names if file.is_file())
    return tuple(file for file in sorted(CHECKOUT.rglob("*")) if file.is_file() and ".venv" not in str(file))
