"""Read from the tests' source which test claims which required behaviour.

Read, not run: the answer is the same for any selection of tests and for an environment without Qt.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
REQUIREMENTS = CHECKOUT / "resources" / "spec" / "requirements.json"
PENDING = CHECKOUT / "resources" / "spec" / "pending.json"
TESTS = CHECKOUT / "tests"

# Marks under which a test may never run, or may fail and still pass.
EXCUSES = frozenset({"skip", "skipif", "xfail"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One test that says it proves a behaviour."""

    requirement_id: str
    test: str
    excused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableClaim:
    """A requirement mark that cannot be read from the source, or that marks no test."""

    place: str
    reason: str


def read_table(file: Path) -> Mapping[str, str]:
    """A JSON object of strings; a key written twice is an error, not the last one's win."""

    def unique(pairs: list[tuple[str, str]]) -> dict[str, str]:
        table = dict(pairs)
        if len(table) != len(pairs):
            twice = sorted({key for key, _ in pairs if sum(other == key for other, _ in pairs) > 1})
            raise ValueError(f"{file.name} names {', '.join(twice)} twice")
        return table

    table: dict[str, str] = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unique)
    return table


def find_claims(tests: Path = TESTS) -> tuple[list[Claim], list[UnreadableClaim]]:
    """Every claim in the test files under a folder, and every mark that makes none."""
    claims: list[Claim] = []
    unreadable: list[UnreadableClaim] = []
    for file in sorted(tests.rglob("test_*.py")):
        place = file.relative_to(tests.parent).as_posix()
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        for finding in _claims_of_module(tree, place):
            if isinstance(finding, Claim):
                claims.append(finding)
            else:
                unreadable.append(finding)
    return claims, unreadable


def _claims_of_module(tree: ast.Module, place: str) -> Iterator[Claim | UnreadableClaim]:
    read: set[ast.Call] = set()
    for node in tree.body:
        name, marking = _marked_test(node)
        marks = [mark for expression in marking for mark in _marks_in(expression)]
        excused = any(_name_of_mark(mark) in EXCUSES for mark in marks)
        for mark in marks:
            if isinstance(mark, ast.Call) and _name_of_mark(mark) == "requirement":
                read.add(mark)
                yield from _claims_of_mark(mark, f"{place}::{name}", excused=excused)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name_of_mark(call) == "requirement" and call not in read:
            yield UnreadableClaim(place=f"{place}:{call.lineno}", reason="the mark stands on no test function")


def _marked_test(node: ast.stmt) -> tuple[str, Sequence[ast.expr]]:
    """The name of the test a statement makes, and the expressions that can mark it; no expressions where it is none."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test_"):
            return name, node.decorator_list
        # The one test that is no function: test_name = pytest.mark.requirement("...")(Machine.TestCase)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Call() as mark)) if name.startswith(
            "test_"
        ):
            return name, [mark]
        case _:
            return "", []


def _claims_of_mark(mark: ast.Call, test: str, *, excused: bool) -> Iterator[Claim | UnreadableClaim]:
    if not mark.args or mark.keywords:
        yield UnreadableClaim(place=test, reason="the mark takes one or more ids and nothing else")
    for argument in mark.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield Claim(requirement_id=argument.value, test=test, excused=excused)
        else:
            yield UnreadableClaim(place=test, reason="the id is not written out as a string")


def _marks_in(decorator: ast.expr) -> Iterator[ast.expr]:
    """The mark a decorator is, and those that ``pytest.param(..., marks=...)`` puts inside it."""
    for node in ast.walk(decorator):
        if isinstance(node, ast.Call | ast.Attribute) and _name_of_mark(node):
            yield node


def _name_of_mark(node: ast.expr) -> str | None:
    """``requirement`` for ``pytest.mark.requirement`` and for a call of it."""
    target = node.func if isinstance(node, ast.Call) else node
    match target:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="pytest"), attr="mark"), attr=name):
            return name
        case _:
            return None


def proof_by_requirement(claims: Iterable[Claim]) -> Mapping[str, list[str]]:
    """The tests that claim each id, in the order of the files; an excused test proves nothing and is left out."""
    table: dict[str, list[str]] = {}
    for claim in claims:
        if not claim.excused:
            table.setdefault(claim.requirement_id, []).append(claim.test)
    return table


def format_table(requirements: Mapping[str, str], pending: Mapping[str, str], proven: Mapping[str, list[str]]) -> str:
    """The whole table as text: each id with its sentence and either its tests or the work that will bring them."""
    lines: list[str] = []
    for requirement_id, sentence in sorted(requirements.items()):
        tests = proven.get(requirement_id, [])
        state = "proven" if tests else f"pending: {pending.get(requirement_id, 'UNCLAIMED')}"
        lines.append(f"{requirement_id:<18}{state}\n    {sentence}")
        lines.extend(f"      {test}" for test in tests)
    lines.append(f"{len(proven.keys() & requirements.keys())} of {len(requirements)} proven, {len(pending)} pending")
    return "\n".join(lines)
