"""A program in a folder of its own, written by the test and compiled as a user would."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import cast

from agent_surface import JsonValue
from agent_surface.compiler import CompilationError, Problem, compile_contract, read_configuration

HERE = "# here"

CONTRACT = "agent-contract.json"

READY = """
from agent_surface import define_agent_procedure_contract

PING = define_agent_procedure_contract(id="domain:ping", description="Say that you are there", effect="server-query")
"""
"""A module that declares one thing as it should be done."""

CALL = 'define_agent_procedure_contract(id="domain:ping", description="Ping", effect="server-query")'


class Project:
    """A source tree with ``[tool.agent-surface]``.

    Attributes:
        root: Its folder.
        installed: A folder of third-party packages beside it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.root.mkdir(parents=True, exist_ok=True)
        self.installed = root.with_name(f"{root.name}-installed")
        self.configure()

    def configure(self, *, entry_points: Iterable[str] = ("shop.contracts",), more: str = "") -> None:
        """Write the project file."""
        listed = ", ".join(f'"{name}"' for name in entry_points)
        text = f'[tool.agent-surface]\nentry-points = [{listed}]\ncontract = "{CONTRACT}"\n{more}\n'
        (self.root / "pyproject.toml").write_text(text, encoding="utf-8")

    def write(self, files: Mapping[str, str]) -> None:
        """Write these files, each package with its ``__init__``."""
        write_files(self.root, files)

    def install(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        requires: Iterable[str] = ("agent-surface-qt",),
        version: str = "1.0",
    ) -> None:
        """Install a distribution beside the project, as an installer does."""
        write_files(self.installed, files)
        folder = self.installed / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        metadata += [f"Requires-Dist: {requirement}" for requirement in requires]
        (folder / "METADATA").write_text("\n".join(metadata) + "\n", encoding="utf-8")
        tops = {path.partition("/")[0] for path in files}
        modules = [file for file in sorted(self.installed.rglob("*.py")) if _top(file, self.installed) in tops]
        (folder / "RECORD").write_text(
            "".join(f"{file.relative_to(self.installed).as_posix()},{_hash(file)},\n" for file in modules),
            encoding="utf-8",
        )

    def compile(self, *, import_timeout_ms: int = 60_000) -> dict[str, JsonValue]:
        """The contract, or the compiler's refusal."""
        import sys

        return compile_contract(
            read_configuration(self.root),
            search_path=[str(self.installed), *sys.path],
            import_timeout_ms=import_timeout_ms,
        )

    def problems(self, *, import_timeout_ms: int = 60_000) -> tuple[Problem, ...]:
        """Why the compilation is incomplete; nothing when it is complete."""
        try:
            self.compile(import_timeout_ms=import_timeout_ms)
        except CompilationError as error:
            return error.problems
        return ()

    def line_here(self, file: str) -> int:
        """The line of a file that is marked."""
        path = self.root / file if (self.root / file).is_file() else self.installed / file
        lines = path.read_text(encoding="utf-8").splitlines()
        (number,) = [number for number, line in enumerate(lines, start=1) if HERE in line]
        return number


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write Python files under a folder, each package with its ``__init__``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        for folder in path.relative_to(root).parents:
            initial = root / folder / "__init__.py"
            if folder != Path() and not initial.exists():
                initial.write_text("", encoding="utf-8")


def declaration_ids(manifest: Mapping[str, JsonValue]) -> list[str]:
    """The ids of what a manifest lists."""
    declarations = cast("list[Mapping[str, JsonValue]]", manifest["declarations"])
    return [str(declaration["declarationId"]) for declaration in declarations]


def _top(file: Path, folder: Path) -> str:
    return file.relative_to(folder).parts[0]


def _hash(file: Path) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")
