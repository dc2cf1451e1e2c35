"""Where a module declares something, imports by a computed name, or hides a contract function from sight."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from agent_surface.compiler._names import (
    CONTRACT_FUNCTIONS,
    DYNAMIC_IMPORTS,
    LITERAL_IMPORTS,
    FunctionMeaning,
    ModuleMeaning,
    Resolver,
)
from agent_surface.compiler._problems import Problem, ProblemCode
from agent_surface.compiler._scopes import Scope, Use
from agent_surface.compiler._sources import LIBRARY, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A call of a contract function that is a plain assignment at module level.

    Attributes:
        module: The declaring module.
        name: What the contract is called there.
        file: As problems name it.
        line: Counting from 1.
        package: The distribution it belongs to; ``None`` for the program's own.
    """

    module: str
    name: str
    file: str
    line: int
    package: str | None


@dataclass(slots=True, kw_only=True)
class Findings:
    """What a module was found to do.

    Attributes:
        imports: Modules it imports by a name that is written out, and the line.
    """

    sites: list[Site] = field(default_factory=list[Site])
    imports: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    problems: list[Problem] = field(default_factory=list[Problem])


_ASSIGN: Final = "assign the call to one name at module level: NAME = {function}(...)"

_PLACES: Final = {
    ProblemCode.INSIDE_FUNCTION: "inside a function",
    ProblemCode.INSIDE_CLASS: "inside a class",
    ProblemCode.INSIDE_LOOP: "inside a loop",
    ProblemCode.INSIDE_CONDITION: "inside a block that may not run (if, try, with or match)",
    ProblemCode.INSIDE_COMPREHENSION: "inside a comprehension",
}


def find_sites(source: Source, resolver: Resolver, *, may_import_anything: bool) -> Findings:
    """Look through the uses of names in a module.

    Args:
        source: The module.
        resolver: Knows what names mean.
        may_import_anything: The configuration lists what the module's computed imports may load.
    """
    findings = Findings()
    for use in resolver.names(source).uses:
        for meaning in sorted(_functions(use, source, resolver)):
            if meaning in CONTRACT_FUNCTIONS:
                _judge_contract_use(meaning, use, source, resolver, findings)
            elif meaning in DYNAMIC_IMPORTS:
                _judge_import(meaning, use, source, resolver, findings, allowed=may_import_anything)
            else:
                findings.problems.extend(_judge_getattr(use, source, resolver))
    return findings


def _functions(use: Use, source: Source, resolver: Resolver) -> set[str]:
    meanings = resolver.meanings(use.expression, use.scope, source)
    return {meaning.name for meaning in meanings if isinstance(meaning, FunctionMeaning)}


def _judge_contract_use(function: str, use: Use, source: Source, resolver: Resolver, findings: Findings) -> None:
    if use.call is None:
        if not use.is_alias:
            findings.problems.append(
                _problem(
                    source,
                    use.expression,
                    ProblemCode.USED_AS_VALUE,
                    f"{function} is handed on as a value, so its calls cannot be found; call it by its name, at module "
                    "level",
                )
            )
        return
    code, message = _verdict(function, use, resolver.names(source).scope)
    if code is None:
        findings.sites.append(
            Site(
                module=source.name,
                name=use.assigned or "",
                file=source.shown,
                line=use.call.lineno,
                package=source.package,
            )
        )
    else:
        findings.problems.append(_problem(source, use.call, code, message))


def _verdict(function: str, use: Use, top_level: Scope) -> tuple[ProblemCode | None, str]:
    if use.inside is not None:
        remedy = "move it out and " + _ASSIGN.format(function=function)
        return use.inside, f"{function} is called {_PLACES[use.inside]}; {remedy}"
    call = use.call
    if call is not None and (
        any(isinstance(argument, ast.Starred) for argument in call.args)
        or any(keyword.arg is None for keyword in call.keywords)
    ):
        return ProblemCode.STAR_ARGUMENTS, f"{function} takes * or ** arguments here; write each argument out by name"
    if use.assigned is None:
        return (
            ProblemCode.NOT_AN_ASSIGNMENT,
            f"the result of {function} is not assigned to one name; {_ASSIGN.format(function=function)}",
        )
    if len(top_level.bindings.get(use.assigned, ())) > 1:
        return (
            ProblemCode.NOT_AN_ASSIGNMENT,
            f"{use.assigned} is bound more than once in this module; give the contract a name of its own",
        )
    return None, ""


def _judge_import(
    function: str, use: Use, source: Source, resolver: Resolver, findings: Findings, *, allowed: bool
) -> None:
    if use.call is None and use.is_alias:
        return
    if use.call is not None and function in LITERAL_IMPORTS:
        module = resolver.literal_import(use.call, source)
        if module is not None:
            findings.imports.append((module, use.call.lineno))
            return
    if not allowed:
        findings.problems.append(
            _problem(
                source,
                use.expression,
                ProblemCode.DYNAMIC_IMPORT,
                f"{function} loads a module whose name is computed; write the name out, or list what it may load: "
                f'dynamic-imports = {{ "{source.name}" = ["..."] }} in [tool.agent-surface]',
            )
        )


def _judge_getattr(use: Use, source: Source, resolver: Resolver) -> Iterator[Problem]:
    """``getattr(agent_surface, ...)`` is a use of what it returns, or of anything if the name is computed."""
    if use.call is None or not use.call.args:
        return
    objects = resolver.meanings(use.call.args[0], use.scope, source)
    if not any(isinstance(item, ModuleMeaning) and _is_library(item.module) for item in objects):
        return
    functions = {
        item.name for item in resolver.meanings(use.call, use.scope, source) if isinstance(item, FunctionMeaning)
    }
    is_literal = len(use.call.args) > 1 and isinstance(use.call.args[1], ast.Constant)
    if functions or not is_literal:
        named = ", ".join(sorted(functions)) or "a name that is computed"
        yield _problem(
            source,
            use.call,
            ProblemCode.USED_AS_VALUE,
            f"getattr takes {named} from the library, so calls of contract functions cannot be found; import the "
            "function by its name",
        )


def _is_library(module: str) -> bool:
    return module == LIBRARY or module.startswith(f"{LIBRARY}.")


def _problem(source: Source, node: ast.expr, code: ProblemCode, message: str) -> Problem:
    return Problem(file=source.shown, line=node.lineno, code=code, message=message)
