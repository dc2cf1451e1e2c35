"""What a name means: followed through aliases, re-exports, module attributes and literal dynamic imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from agent_surface import contracts
from agent_surface.compiler._scopes import (
    AliasBinding,
    Binding,
    ModuleBinding,
    ModuleNames,
    NameBinding,
    Scope,
    names_of,
)
from agent_surface.compiler._sources import LIBRARY, Source

CONTRACT_FUNCTIONS: Final = frozenset(name for name in contracts.__all__ if name.startswith("define_"))
"""The functions whose every call is a declaration."""

DYNAMIC_IMPORTS: Final = frozenset(
    {
        "builtins.__import__",
        "importlib.__import__",
        "importlib.import_module",
        "importlib.machinery.SourceFileLoader",
        "importlib.util.spec_from_file_location",
        "runpy.run_module",
        "runpy.run_path",
    }
)
"""The functions that load a module by a name that may be computed."""

LITERAL_IMPORTS: Final = frozenset({"builtins.__import__", "importlib.__import__", "importlib.import_module"})
"""Those of them that are understood when the name is written out."""


@dataclass(frozen=True, slots=True)
class ModuleMeaning:
    """The name stands for a module."""

    module: str


@dataclass(frozen=True, slots=True)
class FunctionMeaning:
    """The name stands for a function of the library, or for one that matters here by its full name."""

    name: str


Meaning: TypeAlias = ModuleMeaning | FunctionMeaning
FindSource: TypeAlias = Callable[[str], Source | None]

_NOTHING: Final[frozenset[Meaning]] = frozenset()
_GETATTR: Final = FunctionMeaning("builtins.getattr")
_BUILTINS: Final = {"getattr": _GETATTR, "__import__": FunctionMeaning("builtins.__import__")}


class Resolver:
    """Answers what an expression can mean. Modules are read when a name leads into them."""

    def __init__(self, find_source: FindSource) -> None:
        self._find_source = find_source
        self._names: dict[str, ModuleNames] = {}
        self._open: set[tuple[str, str]] = set()

    def read_names(self, source: Source, tree: ast.Module) -> ModuleNames:
        """Read the names of a module from its syntax, and keep them."""
        names = self._names[source.name] = names_of(source, tree)
        return names

    def names(self, source: Source) -> ModuleNames:
        """The names of a module and their uses."""
        known = self._names.get(source.name)
        return known if known is not None else self.read_names(source, source.parse())

    def meanings(self, expression: ast.expr, scope: Scope, source: Source) -> frozenset[Meaning]:
        """Everything that ``expression`` can stand for that matters here; empty for anything else."""
        match expression:
            case ast.Name(id=name):
                return self._of_name(name, scope, source)
            case ast.Attribute(value=value, attr=name):
                return self._of_attribute(self.meanings(value, scope, source), name)
            case ast.Call():
                return self._of_call(expression, scope, source)
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
                # The table of imported modules is another way to name one.
                if ModuleMeaning("sys.modules") in self.meanings(value, scope, source):
                    return frozenset({ModuleMeaning(name)})
                return _NOTHING
            case _:
                return _NOTHING

    def exported(self, source: Source) -> frozenset[str]:
        """The names of a module's top level that stand for a function that matters here."""
        scope = self.names(source).scope
        return frozenset(
            name
            for name in scope.bindings
            if any(isinstance(meaning, FunctionMeaning) for meaning in self._of_export(source.name, name))
        )

    def literal_import(self, call: ast.Call, source: Source) -> str | None:
        """The module that ``import_module("name")`` loads, if the name is written out."""
        match call.args:
            case [ast.Constant(value=str(name)), *rest]:
                level = len(name) - len(name.lstrip("."))
                if not level:
                    return name
                return self._relative(name, level, [*rest, *(keyword.value for keyword in call.keywords)], source)
            case _:
                return None

    def _relative(self, name: str, level: int, rest: list[ast.expr], source: Source) -> str | None:
        match rest:
            case [ast.Name(id="__package__")]:
                package = source.name if source.is_package else source.name.rpartition(".")[0]
            case [ast.Name(id="__name__")]:
                package = source.name
            case [ast.Constant(value=str(written))]:
                package = written
            case _:
                return None
        parts = package.split(".")
        return ".".join([*parts[: len(parts) - level + 1], *filter(None, [name.lstrip(".")])])

    def _of_name(self, name: str, scope: Scope, source: Source) -> frozenset[Meaning]:
        here = scope
        while True:
            home = here.elsewhere.get(name, here)
            # A class body is seen from itself and not from the functions inside it.
            if name in home.bindings and (home.kind != "class" or home is scope):
                return self._of_bindings(home.bindings[name], source)
            if here.parent is None:
                return self._of_stars(here.stars, name) or self._of_builtin(name)
            here = here.parent

    def _of_builtin(self, name: str) -> frozenset[Meaning]:
        return frozenset({_BUILTINS[name]}) if name in _BUILTINS else _NOTHING

    def _of_stars(self, stars: Iterable[str], name: str) -> frozenset[Meaning]:
        return frozenset(meaning for module in stars for meaning in self._of_export(module, name))

    def _of_bindings(self, bindings: Iterable[Binding], source: Source) -> frozenset[Meaning]:
        found: set[Meaning] = set()
        for binding in bindings:
            match binding:
                case ModuleBinding(module=module):
                    found.add(ModuleMeaning(module))
                case NameBinding(module=module, name=name):
                    found |= self._of_export(module, name)
                case AliasBinding(value=value, scope=scope):
                    found |= self._of_alias(value, scope, source)
                case _:
                    pass
        return frozenset(found)

    def _of_alias(self, value: ast.expr, scope: Scope, source: Source) -> frozenset[Meaning]:
        key = (source.name, f"alias at {value.lineno}:{value.col_offset}")
        if key in self._open:
            return _NOTHING
        self._open.add(key)
        try:
            return self.meanings(value, scope, source)
        finally:
            self._open.discard(key)

    def _of_attribute(self, objects: Iterable[Meaning], name: str) -> frozenset[Meaning]:
        return frozenset(
            meaning
            for item in objects
            if isinstance(item, ModuleMeaning)
            for meaning in self._of_export(item.module, name)
        )

    def _of_export(self, module: str, name: str) -> frozenset[Meaning]:
        """What attribute ``name`` of a module can be."""
        full = f"{module}.{name}"
        if module == LIBRARY or module.startswith(f"{LIBRARY}."):
            return frozenset({FunctionMeaning(name) if name in CONTRACT_FUNCTIONS else ModuleMeaning(full)})
        if full in DYNAMIC_IMPORTS:
            return frozenset({FunctionMeaning(full)})
        source = self._find_source(module)
        if source is None:
            if module == "builtins":
                return self._of_builtin(name)
            return frozenset({ModuleMeaning(full)})
        if (module, name) in self._open:
            return _NOTHING
        self._open.add((module, name))
        try:
            found = self._of_top_level(source, name)
        finally:
            self._open.discard((module, name))
        return found | {ModuleMeaning(full)} if self._find_source(full) is not None else found

    def _of_top_level(self, source: Source, name: str) -> frozenset[Meaning]:
        scope = self.names(source).scope
        if name in scope.bindings:
            return self._of_bindings(scope.bindings[name], source)
        return self._of_stars(scope.stars, name)

    def _of_call(self, call: ast.Call, scope: Scope, source: Source) -> frozenset[Meaning]:
        functions = self.meanings(call.func, scope, source)
        if any(isinstance(item, FunctionMeaning) and item.name in LITERAL_IMPORTS for item in functions):
            module = self.literal_import(call, source)
            return frozenset({ModuleMeaning(module)}) if module is not None else _NOTHING
        if _GETATTR in functions:
            match call.args:
                case [value, ast.Constant(value=str(name)), *_]:
                    return self._of_attribute(self.meanings(value, scope, source), name)
                case _:
                    pass
        return _NOTHING
