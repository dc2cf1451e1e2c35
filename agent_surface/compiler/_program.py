"""Everything a program can import, and every declaration in it."""

from __future__ import annotations

import ast
import gc
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agent_surface.compiler._configuration import CompilerConfiguration
from agent_surface.compiler._external import Installed
from agent_surface.compiler._names import CONTRACT_FUNCTIONS, DYNAMIC_IMPORTS, Resolver
from agent_surface.compiler._problems import Problem, ProblemCode
from agent_surface.compiler._sites import Findings, Site, find_sites
from agent_surface.compiler._sources import (
    LIBRARY,
    Source,
    Sources,
    SourceTree,
    parents_of,
    parse_source,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands."""

    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the static half of the compiler knows.

    Attributes:
        sources: Every module that was read, the program's own and those of declaring distributions.
        sites: Every declaration.
        problems: Why the search is incomplete.
        packages: Each distribution that could declare something, and where the program begins to import it.
        folders: Where the program's own imports start.
    """

    sources: Sources
    sites: tuple[Site, ...]
    problems: tuple[Problem, ...]
    packages: dict[str, Place]
    folders: tuple[str, ...]


def read_program(configuration: CompilerConfiguration, search_path: Sequence[str]) -> Program:
    """Follow every import from the entry points and find every declaration on the way. Nothing is imported.

    Args:
        configuration: Names the entry points.
        search_path: Where third-party modules are installed.
    """
    reader = _Reader(configuration, search_path)
    with _no_collection():
        reader.read()
    return Program(
        sources=reader.sources,
        sites=tuple(sorted(reader.sites, key=lambda site: (site.module, site.line, site.name))),
        problems=tuple(sorted(set(reader.problems))),
        packages=reader.packages,
        folders=tuple(str(folder) for folder in reader.tree.folders),
    )


class _Reader:
    def __init__(self, configuration: CompilerConfiguration, search_path: Sequence[str]) -> None:
        self._configuration = configuration
        self._installed = Installed(search_path)
        self.tree = SourceTree(configuration.root)
        self.sources: dict[str, Source] = {}
        self.sites: list[Site] = []
        self.problems: list[Problem] = []
        self.packages: dict[str, Place] = {}
        self._seen: set[str] = set()
        self._foreign: dict[str, Place] = {}
        self._judged: set[str] = set()
        self._resolver = Resolver(self.sources.get)
        # A module that has none of these words in it can neither declare anything nor pass on what does.
        self._words = {LIBRARY, *CONTRACT_FUNCTIONS, *(name.rpartition(".")[2] for name in DYNAMIC_IMPORTS)}

    def read(self) -> None:
        start = Place(file=self._configuration.project_file, line=1)
        for entry_point in self._configuration.entry_points:
            if not self.tree.is_own(entry_point) or self.tree.find(entry_point) is None:
                self.problems.append(
                    Problem(
                        file=start.file,
                        line=start.line,
                        code=ProblemCode.ENTRY_POINT_MISSING,
                        message=f"entry point {entry_point} is no module of this source tree; correct entry-points in "
                        "[tool.agent-surface]",
                    )
                )
        self._follow((entry_point, start) for entry_point in self._configuration.entry_points)
        for module in self._configuration.dynamic_imports.values():
            self._follow((name, start) for name in module)
        self._read_packages()
        while self._judge_all():
            self._read_packages()

    def _follow(self, modules: Iterable[tuple[str, Place]]) -> None:
        """Read these modules and everything they import statically."""
        pending = list(modules)
        while pending:
            module, place = pending.pop()
            if module in self._seen or not module:
                continue
            self._seen.add(module)
            top = module.partition(".")[0]
            if not self.tree.is_own(top):
                self._foreign.setdefault(top, place)
                continue
            pending.extend((parent, place) for parent in parents_of(module))
            source = self._parse(module)
            if source is None:
                continue
            for found in source.imports:
                here = Place(file=source.shown, line=found.line)
                pending.append((found.module, here))
                # A name taken from a module of ours may be a module itself; of others only the top matters.
                pending.extend((f"{found.module}.{name}", here) for name in found.names)

    def _parse(self, module: str) -> Source | None:
        found = self.tree.find(module)
        if found is None:
            return None
        file, is_package = found
        return self._keep(parse_source(module, file, shown=self.tree.shown(file), is_package=is_package))

    def _keep(self, parsed: tuple[Source, ast.Module] | Problem) -> Source | None:
        if isinstance(parsed, Problem):
            self.problems.append(parsed)
            return None
        source, tree = parsed
        if source.name not in self.sources:
            self.sources[source.name] = source
            # Its names will be asked for; now is when there is a tree to read them from.
            if self._has_word(source):
                self._resolver.read_names(source, tree)
        return source

    def _read_packages(self) -> None:
        """Read every module of the distributions that could declare something."""
        for package, module in self._installed.declaring_packages(self._foreign).items():
            if package in self.packages:
                continue
            self.packages[package] = self._foreign[module]
            for parsed in self._installed.sources(package):
                self._keep(parsed)

    def _judge_all(self) -> bool:
        """Look for declarations in the modules not looked through yet; true when that led to further modules."""
        known = len(self.sources) + len(self._foreign)
        while True:
            pending = [
                source
                for name, source in list(self.sources.items())
                if name not in self._judged and self._has_word(source)
            ]
            if not pending:
                return len(self.sources) + len(self._foreign) != known
            for source in pending:
                self._judge(source)

    def _has_word(self, source: Source) -> bool:
        return any(word in source.text for word in self._words)

    def _judge(self, source: Source) -> None:
        self._judged.add(source.name)
        allowed = source.package is not None or source.name in self._configuration.dynamic_imports
        findings: Findings = find_sites(source, self._resolver, may_import_anything=allowed)
        self.sites.extend(findings.sites)
        self.problems.extend(findings.problems)
        self._words |= self._resolver.exported(source)
        if source.package is None:
            self._follow((module, Place(file=source.shown, line=line)) for module, line in findings.imports)


@contextmanager
def _no_collection() -> Generator[None]:
    """Syntax trees have no cycles: looking for some among millions of nodes takes as long as reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
