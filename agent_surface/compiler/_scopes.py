"""What each name of a module is bound to, and where the names are used; read from the syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from typing_extensions import override

from agent_surface.compiler._problems import ProblemCode
from agent_surface.compiler._sources import Source, block_for_type_checkers


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleBinding:
    """``import a.b`` or ``import a.b as c``."""

    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NameBinding:
    """``from a import b``."""

    module: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasBinding:
    """``b = a.c``."""

    value: ast.expr
    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueBinding:
    """Anything else: a definition, a parameter, a computed value."""


Binding: TypeAlias = ModuleBinding | NameBinding | AliasBinding | OpaqueBinding
ScopeKind: TypeAlias = Literal["module", "function", "class", "comprehension"]

_OPAQUE = OpaqueBinding()


@dataclass(slots=True, kw_only=True, eq=False)
class Scope:
    """The names of a module, function, class or comprehension.

    Attributes:
        bindings: Every binding of each name, in order.
        stars: Modules from which everything is imported.
        elsewhere: Names declared ``global`` or ``nonlocal``, and the scope they belong to.
    """

    kind: ScopeKind
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])
    stars: list[str] = field(default_factory=list[str])
    elsewhere: dict[str, Scope] = field(default_factory=dict[str, "Scope"])

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding where the name belongs."""
        self.elsewhere.get(name, self).bindings.setdefault(name, []).append(binding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A place where a name, or an attribute of one, is read.

    Attributes:
        expression: What is read.
        scope: Where.
        inside: The innermost kind of place that is not plain module level, if any.
        call: The call that it is the function of.
        assigned: The one name at module level that the call's result is assigned to.
        is_alias: Whether it is the whole right side of an assignment to names.
    """

    expression: ast.expr
    scope: Scope
    inside: ProblemCode | None
    call: ast.Call | None = None
    assigned: str | None = None
    is_alias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleNames:
    """The names of a module and their uses."""

    scope: Scope
    uses: tuple[Use, ...]


def names_of(source: Source, tree: ast.Module) -> ModuleNames:
    """Read the names of a module from its syntax."""
    walker = _Walker(source)
    walker.visit(tree)
    return ModuleNames(scope=walker.module, uses=tuple(walker.uses))


# What a site inside several kinds of places is told first.
_WEIGHT = {
    None: 0,
    ProblemCode.INSIDE_CONDITION: 1,
    ProblemCode.INSIDE_LOOP: 2,
    ProblemCode.INSIDE_COMPREHENSION: 3,
    ProblemCode.INSIDE_CLASS: 4,
    ProblemCode.INSIDE_FUNCTION: 5,
}


class _Walker(ast.NodeVisitor):
    """One pass: statements bind, expressions use."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.module = Scope(kind="module", parent=None)
        self.uses: list[Use] = []
        self._scope = self.module
        self._inside: ProblemCode | None = None

    @override
    def generic_visit(self, node: ast.AST) -> None:
        # The inherited way, without the constants, contexts and operators that have nothing below them to see.
        for name in node._fields:
            value: object = getattr(node, name, None)
            if isinstance(value, ast.AST):
                if value._fields and not isinstance(value, ast.Constant):
                    self.visit(value)
            elif isinstance(value, list):
                self._visit_all(item for item in cast("list[object]", value) if isinstance(item, ast.AST))

    # ------------------------------------------------------------------------------------------------------ statements

    @override
    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname is not None:
                self._scope.bind(alias.asname, ModuleBinding(module=alias.name))
            else:
                top = alias.name.partition(".")[0]
                self._scope.bind(top, ModuleBinding(module=top))

    @override
    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = self._source.absolute(node.module, node.level)
        for alias in node.names:
            if alias.name == "*":
                self._scope.stars.append(module)
            else:
                self._scope.bind(alias.asname or alias.name, NameBinding(module=module, name=alias.name))

    @override
    def visit_Assign(self, node: ast.Assign) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) != len(node.targets):
            self.generic_visit(node)
            return
        self._assign(names, node.value)

    @override
    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if isinstance(node.target, ast.Name) and node.value is not None:
            self._assign([node.target.id], node.value)
        else:
            self.visit(node.target)
            if node.value is not None:
                self.visit(node.value)

    def _assign(self, names: list[str], value: ast.expr) -> None:
        for name in names:
            self._scope.bind(name, AliasBinding(value=value, scope=self._scope) if _can_alias(value) else _OPAQUE)
        if isinstance(value, ast.Name | ast.Attribute):
            self._use(value, is_alias=True)
        elif isinstance(value, ast.Call):
            at_module_level = self._scope is self.module and self._inside is None and len(names) == 1
            self._call(value, assigned=names[0] if at_module_level else None, is_alias=True)
        else:
            self.visit(value)

    @override
    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            self._scope.elsewhere[name] = self.module

    @override
    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        outer = self._scope.parent
        while outer is not None and outer.kind == "class":
            outer = outer.parent
        for name in node.names:
            self._scope.elsewhere[name] = outer or self.module

    @override
    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    @override
    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._scope.bind(node.name, _OPAQUE)
        self._visit_all([*node.decorator_list, node.args, *([node.returns] if node.returns else [])])
        self._enter("function", ProblemCode.INSIDE_FUNCTION, node.body, node.args)

    @override
    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._enter("function", ProblemCode.INSIDE_FUNCTION, [node.body], node.args)

    @override
    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.bind(node.name, _OPAQUE)
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._enter("class", ProblemCode.INSIDE_CLASS, node.body)

    @override
    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        skipped = block_for_type_checkers(node)
        for block in (node.body, node.orelse):
            if block is not skipped:
                self._within(ProblemCode.INSIDE_CONDITION, block)

    @override
    def visit_Try(self, node: ast.Try) -> None:
        self._within(ProblemCode.INSIDE_CONDITION, list(ast.iter_child_nodes(node)))

    @override
    def visit_TryStar(self, node: ast.TryStar) -> None:
        self._within(ProblemCode.INSIDE_CONDITION, list(ast.iter_child_nodes(node)))

    @override
    def visit_Match(self, node: ast.Match) -> None:
        self._within(ProblemCode.INSIDE_CONDITION, list(ast.iter_child_nodes(node)))

    @override
    def visit_With(self, node: ast.With) -> None:
        self._within(ProblemCode.INSIDE_CONDITION, list(ast.iter_child_nodes(node)))

    @override
    def visit_For(self, node: ast.For) -> None:
        self._within(ProblemCode.INSIDE_LOOP, list(ast.iter_child_nodes(node)))

    @override
    def visit_While(self, node: ast.While) -> None:
        self._within(ProblemCode.INSIDE_LOOP, list(ast.iter_child_nodes(node)))

    @override
    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self._scope.bind(node.name, _OPAQUE)
        self.generic_visit(node)

    @override
    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name is not None:
            self._scope.bind(node.name, _OPAQUE)
        self.generic_visit(node)

    @override
    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self._scope.bind(node.name, _OPAQUE)

    @override
    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self._scope.bind(node.rest, _OPAQUE)
        self.generic_visit(node)

    # ----------------------------------------------------------------------------------------------------- expressions

    @override
    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(node)
        else:
            self._scope.bind(node.id, _OPAQUE)

    @override
    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use(node)
        else:
            self.visit(node.value)

    @override
    def visit_Call(self, node: ast.Call) -> None:
        self._call(node)

    @override
    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope = self._scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        scope.bind(node.target.id, _OPAQUE)

    @override
    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node.generators, [node.elt])

    @override
    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node.generators, [node.elt])

    @override
    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    @override
    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)
        parts: list[ast.AST] = [generators[0].target, *generators[0].ifs, *generators[1:], *results]
        self._enter("comprehension", ProblemCode.INSIDE_COMPREHENSION, parts)

    def _call(self, node: ast.Call, *, assigned: str | None = None, is_alias: bool = False) -> None:
        if isinstance(node.func, ast.Name | ast.Attribute):
            self._use(node.func, call=node, assigned=assigned, is_alias=is_alias)
        else:
            self.visit(node.func)
        self._visit_all([*node.args, *node.keywords])

    def _use(
        self,
        expression: ast.Name | ast.Attribute,
        *,
        call: ast.Call | None = None,
        assigned: str | None = None,
        is_alias: bool = False,
    ) -> None:
        self.uses.append(
            Use(
                expression=expression,
                scope=self._scope,
                inside=self._inside,
                call=call,
                assigned=assigned,
                is_alias=is_alias,
            )
        )
        # The object an attribute is taken from may itself contain calls.
        inner: ast.expr = expression
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name):
            self.visit(inner)

    # ---------------------------------------------------------------------------------------------------------- places

    def _enter(
        self, kind: ScopeKind, inside: ProblemCode, body: Iterable[ast.AST], parameters: ast.arguments | None = None
    ) -> None:
        outer = self._scope
        self._scope = Scope(kind=kind, parent=outer)
        for parameter in _parameters(parameters):
            self._scope.bind(parameter, _OPAQUE)
        self._within(inside, body)
        self._scope = outer

    def _within(self, inside: ProblemCode, parts: Iterable[ast.AST]) -> None:
        outer = self._inside
        if _WEIGHT[inside] > _WEIGHT[outer]:
            self._inside = inside
        self._visit_all(parts)
        self._inside = outer

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            if not isinstance(node, ast.Constant):
                self.visit(node)


def _can_alias(value: ast.expr) -> bool:
    # A call can be import_module("..."), a subscript sys.modules["..."]; the resolver looks.
    return isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def _parameters(arguments: ast.arguments | None) -> list[str]:
    if arguments is None:
        return []
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in (*listed, arguments.vararg, arguments.kwarg) if argument is not None]
