"""The public interface: what is exported, in which order, and that it says what it is."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from collections.abc import Iterator, Sequence

import pytest

from tests.architecture.source import Module, modules


def _public_modules() -> list[Module]:
    """The modules users import from; a program's ``__main__`` is none."""
    return [module for module in modules("agent_surface", "qt_binding") if module.is_public]


def _exported(module: Module) -> Sequence[str] | None:
    """The names of ``__all__`` as written, or None without one."""
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names) | ast.Tuple(elts=names)):
                return [str(ast.literal_eval(name)) for name in names]
            case _:
                continue
    return None


def _bound(module: Module) -> Iterator[str]:
    """The public names a package's ``__init__`` brings in, at once or on first use, or a module defines at its top."""
    for node in _statements(module):
        match node:
            case ast.ImportFrom(module=str(origin), names=names) if module.is_package and _is_own(origin):
                yield from (alias.asname or alias.name for alias in names)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                continue


def _is_own(origin: str) -> bool:
    return origin.split(".", maxsplit=1)[0] in {"agent_surface", "qt_binding"}


def _statements(module: Module) -> Iterator[ast.stmt]:
    """The statements at the top of a module, and those that only type checkers read."""
    for node in module.tree.body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body) if module.is_package:
                yield from body
            case _:
                yield node


@pytest.mark.parametrize("module", [m for m in _public_modules() if m.is_package], ids=lambda m: m.name)
def test_a_package_exports_exactly_what_it_imports(module: Module) -> None:
    """The list is the interface: nothing is exported by accident, nothing forgotten; ruff keeps it sorted."""
    exported = _exported(module)
    assert exported is not None, "no __all__"
    assert sorted(exported) == sorted({name for name in _bound(module) if not name.startswith("_")})


def test_a_module_with_a_list_exports_what_it_defines() -> None:
    """A module may leave the list out; one that has it has it right."""
    for module in _public_modules():
        exported = _exported(module)
        if not module.is_package and exported is not None:
            imported = {alias.asname or alias.name for alias in _imported_names(module)}
            assert set(exported) - set(_bound(module)) - imported == set(), module.name


def _imported_names(module: Module) -> list[ast.alias]:
    return [alias for node in module.tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]


@pytest.mark.parametrize("module", _public_modules(), ids=lambda m: m.name)
def test_every_public_name_can_be_imported_and_says_what_it_is(module: Module) -> None:
    """A class, a function and their public methods have a docstring somebody wrote."""
    live = importlib.import_module(module.name)
    names = _exported(module) or [name for name in _bound(module) if not name.startswith("_")]
    silent: list[str] = []
    for name in names:
        value: object = getattr(live, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            silent += _without_docstring(name, value)
    assert silent == []


def _without_docstring(name: str, value: object) -> list[str]:
    silent = [] if _is_documented(value) else [name]
    if inspect.isclass(value) and value.__module__.split(".")[0] in {"agent_surface", "qt_binding"}:
        silent += [
            f"{name}.{attribute}"
            for attribute, member in vars(value).items()
            if not attribute.startswith("_")
            and (inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod))
            # An overriding method means what the overridden one says.
            and not inspect.getdoc(getattr(value, attribute))
        ]
    return silent


def _is_documented(value: object) -> bool:
    docstring = getattr(value, "__doc__", None)
    if not docstring:
        return False
    # dataclasses write the signature where nobody wrote a docstring.
    generated = dataclasses.is_dataclass(value) and docstring.startswith(getattr(value, "__name__", "") + "(")
    return not generated
