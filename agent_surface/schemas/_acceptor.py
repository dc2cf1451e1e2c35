"""The short way for values that are right: most are, and the ``jsonschema`` library takes 50 times as long.

An acceptor says yes only when the library would; when it says no, the library is asked. So a value that is refused, and
why, is always the library's word, and an acceptor need not know the rare cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Final, TypeAlias

from agent_surface.schemas._equality import all_different
from agent_surface.schemas._formats import STRICT_FORMATS, compile_pattern

Acceptor: TypeAlias = Callable[[Any], bool]
"""Says yes to a JSON value that surely satisfies a schema."""


def make_acceptor(schema: dict[str, Any]) -> Acceptor:
    """The acceptor of a schema in which references are replaced by their targets."""
    return _Compiler().compile(schema)


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (NoneType,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_ALL_TYPES: Final = tuple(_TYPES)
# Arrays of these are the commonest, and the type of a value says all there is to say of it.
_ONE_TYPE: Final[Mapping[object, type]] = {"boolean": bool, "null": NoneType, "string": str}
_SCALARS: Final = frozenset({str, int, bool, NoneType})


class _Compiler:
    def __init__(self) -> None:
        self._done: dict[int, Acceptor] = {}

    def compile(self, schema: dict[str, Any]) -> Acceptor:
        # Definitions are shared objects, so each is compiled once however often it is referred to.
        known = self._done.get(id(schema))
        if known is None:
            known = self._done[id(schema)] = self._compile(schema)
        return known

    def _compile(self, schema: dict[str, Any]) -> Acceptor:
        names = schema.get("type", _ALL_TYPES)
        table: dict[type, Acceptor | None] = {
            python: self._by_type(python, schema)
            for name in ((names,) if isinstance(names, str) else names)
            for python in _TYPES[name]
        }
        if int in table and float not in table:
            table[float] = _both(float.is_integer, _number_acceptor(schema))
        further = self._further(schema)

        def accept(value: object) -> bool:
            try:
                check = table[type(value)]
            except KeyError:
                return False
            return (check is None or check(value)) and (further is None or further(value))

        return accept

    def _by_type(self, python: type, schema: dict[str, Any]) -> Acceptor | None:
        if python is dict:
            return self._object_acceptor(schema)
        if python is list:
            return self._array_acceptor(schema)
        if python is str:
            return _text_acceptor(schema)
        if python is int or python is float:
            return _number_acceptor(schema)
        return None

    def _object_acceptor(self, schema: dict[str, Any]) -> Acceptor | None:
        properties = {name: self.compile(inner) for name, inner in schema.get("properties", {}).items()}
        required = tuple(schema.get("required", ()))
        closed = schema.get("additionalProperties") is False
        if not properties and not required and not closed:
            return None

        def accept(value: dict[str, object]) -> bool:
            for name in required:
                if name not in value:
                    return False
            for name, item in value.items():
                check = properties.get(name)
                if check is None:
                    if closed:
                        return False
                elif not check(item):
                    return False
            return True

        return accept

    def _array_acceptor(self, schema: dict[str, Any]) -> Acceptor:
        items = self._items(schema)
        lowest, highest = schema.get("minItems", 0), schema.get("maxItems")
        unique = schema.get("uniqueItems", False)

        def accept(value: list[object]) -> bool:
            count = len(value)
            if count < lowest or (highest is not None and count > highest):
                return False
            if unique and not all_different(value):
                return False
            return items is None or items(value)

        return accept

    def _items(self, schema: dict[str, Any]) -> Acceptor | None:
        """What holds for the items of an array, all at once."""
        item: dict[str, Any] = schema.get("items", {})
        if not item:
            return None
        if item.keys() == {"type"} and isinstance(item["type"], str) and item["type"] in _ONE_TYPE:
            only = frozenset({_ONE_TYPE[item["type"]]})
            return lambda value: only.issuperset(map(type, value))
        accept = self.compile(item)
        return lambda value: all(map(accept, value))

    def _further(self, schema: dict[str, Any]) -> Acceptor | None:
        """What holds for values of every type."""
        checks: list[Acceptor] = []
        if "const" in schema:
            checks.append(_listed_acceptor([schema["const"]]))
        if "enum" in schema:
            checks.append(_listed_acceptor(schema["enum"]))
        if "$ref" in schema:
            checks.append(self.compile(schema["$ref"]))
        if "anyOf" in schema:
            branches = [self.compile(branch) for branch in schema["anyOf"]]
            checks.append(lambda value: any(branch(value) for branch in branches))
        combined: Acceptor | None = None
        for check in checks:
            combined = _both(combined, check)
        return combined


def _both(first: Acceptor | None, second: Acceptor | None) -> Acceptor | None:
    if first is None or second is None:
        return second if first is None else first
    return lambda value: first(value) and second(value)


def _listed_acceptor(values: list[Any]) -> Acceptor:
    # Types are compared too: True is no 1 in JSON. Whether 1 is 1.0, and all containers, are left to the library.
    listed = {_typed(value) for value in values if type(value) in _SCALARS}
    return lambda value: type(value) in _SCALARS and _typed(value) in listed


def _typed(value: object) -> tuple[type, object]:
    return type(value), value


def _text_acceptor(schema: dict[str, Any]) -> Acceptor | None:
    lowest, highest = schema.get("minLength", 0), schema.get("maxLength")
    combined: Acceptor | None = None
    if lowest or highest is not None:
        combined = _both(combined, lambda text: len(text) >= lowest and (highest is None or len(text) <= highest))
    if "pattern" in schema:
        search: Callable[[str], re.Match[str] | None] = compile_pattern(schema["pattern"]).search
        combined = _both(combined, lambda text: search(text) is not None)
    if "format" in schema:
        combined = _both(combined, STRICT_FORMATS.get(schema["format"], _not_sure))
    return combined


def _number_acceptor(schema: dict[str, Any]) -> Acceptor | None:
    combined: Acceptor | None = None
    for keyword, make in _NUMBER_CHECKS.items():
        if keyword in schema:
            combined = _both(combined, make(schema[keyword]))
    return combined


def _not_sure(value: object) -> bool:
    del value
    return False


def _multiple_acceptor(divisor: float) -> Acceptor:
    # Remainders of floats are a matter of rounding: the library's word counts.
    if type(divisor) is not int:
        return _not_sure
    return lambda value: type(value) is int and value % divisor == 0


_NUMBER_CHECKS: Final[Mapping[str, Callable[[Any], Acceptor]]] = {
    "exclusiveMaximum": lambda bound: lambda value: value < bound,
    "exclusiveMinimum": lambda bound: lambda value: value > bound,
    "maximum": lambda bound: lambda value: value <= bound,
    "minimum": lambda bound: lambda value: value >= bound,
    "multipleOf": _multiple_acceptor,
}
