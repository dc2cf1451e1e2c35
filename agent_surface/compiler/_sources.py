"""The modules of a program as text and syntax trees, found without importing anything."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent_surface.compiler._problems import Problem, ProblemCode

LIBRARY: Final = "agent_surface"
"""The package that offers the contract functions; what is below it is known and never searched."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """One module.

    Attributes:
        name: As it is imported.
        file: Where it lies.
        shown: How problems name the file: relative, with forward slashes.
        is_package: Whether relative imports start at the module itself.
        text: The source.
        imports: Every import statement that can run, also inside functions; not those for type checkers alone.
        package: The distribution it belongs to; ``None`` for the program's own.
    """

    name: str
    file: Path
    shown: str
    is_package: bool
    text: str
    imports: tuple[ImportedModule, ...]
    package: str | None = None

    def parse(self) -> ast.Module:
        """The syntax, made anew: few modules are asked for it again, and keeping a thousand trees costs more."""
        return ast.parse(self.text, filename=self.shown)

    def absolute(self, module: str | None, level: int) -> str:
        """The absolute name of what ``from <level dots><module>`` means here."""
        return _absolute(self.name, module, level, is_package=self.is_package)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedModule:
    """An import statement: the module it surely loads, and the one each name may be."""

    module: str
    names: tuple[str, ...]
    line: int


def parse_source(
    name: str, file: Path, *, shown: str, is_package: bool, package: str | None = None
) -> tuple[Source, ast.Module] | Problem:
    """Read a module, or say why that cannot be done.

    Returns:
        The module and its syntax, for whoever needs that at once.
    """
    try:
        text = _text(file.read_bytes())
        tree = ast.parse(text, filename=shown)
    except (SyntaxError, ValueError, OSError) as error:
        line = error.lineno if isinstance(error, SyntaxError) and error.lineno else 1
        # Only the reason: the text of an error of the system has the path in it.
        reason = error.msg if isinstance(error, SyntaxError) else getattr(error, "strerror", None) or str(error)
        return Problem(
            file=shown,
            line=line,
            code=ProblemCode.SYNTAX_ERROR,
            message=f"{name} cannot be read: {reason}; correct it",
        )
    imports = tuple(_imports_of(tree, name, is_package=is_package))
    source = Source(
        name=name, file=file, shown=shown, is_package=is_package, text=text, imports=imports, package=package
    )
    return source, tree


def _text(source: bytes) -> str:
    """The text of a module, read as Python reads it.

    Raises:
        SyntaxError: It is in no encoding, or in another than it says.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return io.TextIOWrapper(io.BytesIO(source), encoding, newline=None).read()


class SourceTree:
    """Finds the program's own modules under the folders their imports start in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # A project keeps its packages beside the project file or, by the other custom, in src.
        self.folders = tuple(folder for folder in (root / "src", root) if folder.is_dir())

    def is_own(self, module: str) -> bool:
        """Whether the top-level package of ``module`` lies in this tree."""
        top = module.partition(".")[0]
        return top != LIBRARY and any(
            (folder / f"{top}.py").is_file() or _is_package_folder(folder / top) for folder in self.folders
        )

    def find(self, module: str) -> tuple[Path, bool] | None:
        """The file of a module and whether it is a package; ``None`` where it has no source file."""
        for folder in self.folders:
            place = folder.joinpath(*module.split("."))
            if (place / "__init__.py").is_file():
                return place / "__init__.py", True
            if place.with_name(f"{place.name}.py").is_file():
                return place.with_name(f"{place.name}.py"), False
        return None

    def shown(self, file: Path) -> str:
        """The file as problems name it."""
        return file.relative_to(self._root).as_posix()


def _is_package_folder(folder: Path) -> bool:
    if (folder / "__init__.py").is_file():
        return True
    return folder.is_dir() and any(folder.glob("*.py"))


def _absolute(name: str, module: str | None, level: int, *, is_package: bool) -> str:
    if not level:
        return module or ""
    parts = name.split(".")
    parts = parts[: len(parts) - level + (1 if is_package else 0)]
    return ".".join([*parts, *([module] if module else [])])


def _imports_of(tree: ast.Module, name: str, *, is_package: bool) -> Iterator[ImportedModule]:
    for statement in _running_statements(tree.body):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield ImportedModule(module=alias.name, names=(), line=statement.lineno)
        elif isinstance(statement, ast.ImportFrom):
            yield ImportedModule(
                module=_absolute(name, statement.module, statement.level, is_package=is_package),
                names=tuple(alias.name for alias in statement.names if alias.name != "*"),
                line=statement.lineno,
            )


def _running_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement below ``body`` in order, without the blocks that only a type checker reads."""
    pending = [*body]
    pending.reverse()
    while pending:
        statement = pending.pop()
        yield statement
        if type(statement) not in _SIMPLE:
            pending.extend(reversed([inner for block in _running_blocks(statement) for inner in block]))


def _running_blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks directly inside a statement, without those that only a type checker reads."""
    if isinstance(statement, ast.If):
        skipped = block_for_type_checkers(statement)
        yield from (block for block in (statement.body, statement.orelse) if block is not skipped)
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


# Most statements contain no other, and asking each for its blocks takes as long as the rest.
_SIMPLE: Final = frozenset({ast.Assign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom, ast.Pass, ast.Return})


def block_for_type_checkers(statement: ast.If) -> list[ast.stmt] | None:
    """The block of ``if TYPE_CHECKING`` that never runs."""
    match statement.test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return statement.body
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return statement.orelse
        case _:
            return None


def parents_of(module: str) -> Iterator[str]:
    """``a``, ``a.b`` for ``a.b.c``: what an import runs first."""
    parts = module.split(".")
    for count in range(1, len(parts)):
        yield ".".join(parts[:count])


Sources = Mapping[str, Source]
"""Modules by name."""
