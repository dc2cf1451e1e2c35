"""A schema taken apart: the kinds of values it accepts, each as one conjunction of limits.

Every schema of the subset is a union of shapes. A shape is dropped only when certainly nothing has it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from agent_surface._base._json import JsonSchema, JsonValue
from agent_surface.schemas._checker import PlainSchema, SchemaChecker


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One end of a range of numbers."""

    value: float
    excluded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Exactly these."""

    values: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers; ``integral`` ones have whole bounds that belong to them."""

    lower: Bound | None
    upper: Bound | None
    integral: bool
    multiples: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Strings."""

    shortest: int
    longest: int | None
    patterns: frozenset[str]
    formats: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """Arrays; each item has to satisfy every schema of ``items``."""

    fewest: int
    most: int | None
    unique: bool
    items: tuple[PlainSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """Objects; ``allowed`` are the only names there may be, ``None`` where others may be too."""

    properties: Mapping[str, tuple[PlainSchema, ...]]
    required: frozenset[str]
    allowed: frozenset[str] | None


Shape: TypeAlias = Values | Numbers | Texts | Arrays | Objects
Conjunction: TypeAlias = tuple[PlainSchema, ...]
"""Schemas that all have to be satisfied; none is satisfied by everything."""

MOST_SHAPES: Final = 256
"""Beyond this many alternatives a schema is not taken apart, and nothing is claimed of it."""

MOST_VALUES: Final = 64
"""Up to this many whole numbers are looked at one by one."""

_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")


class Shapes:
    """The shapes of one schema document."""

    def __init__(self, schema: JsonSchema) -> None:
        self._checker = SchemaChecker(schema)
        self.root: Conjunction = (self._checker.plain,)
        self._known: dict[tuple[int, ...], list[Shape] | None] = {}
        # Keys are identities, so what they stand for has to stay alive.
        self._kept: list[Conjunction] = []
        self._texts: dict[int, str] = {}

    def of(self, conjunction: Conjunction) -> list[Shape] | None:
        """Every shape that satisfies all of these schemas; ``None`` when there are too many to tell."""
        key = tuple(map(id, conjunction))
        if key not in self._known:
            self._kept.append(conjunction)
            self._known[key] = self._take_apart(conjunction)
        return self._known[key]

    def is_empty(self, conjunction: Conjunction) -> bool:
        """Whether certainly no value satisfies all of these schemas."""
        return self.of(conjunction) == []

    def accepts(self, schema: PlainSchema, value: JsonValue) -> bool:
        """Whether ``value`` satisfies ``schema``: the validator's own word."""
        return self._checker.satisfies(value, schema)

    def text(self, schema: PlainSchema) -> str:
        """The schema as text that is equal only for the same schema: ``True`` is no ``1``, and ``1`` no ``1.0``."""
        key = id(schema)
        if key not in self._texts:
            self._kept.append((schema,))
            self._texts[key] = json.dumps(schema, sort_keys=True)
        return self._texts[key]

    def _take_apart(self, conjunction: Conjunction) -> list[Shape] | None:
        flat = _flattened(conjunction)
        if flat is None:
            return None
        return [shape for parts in flat for shape in self._shapes_of(parts)]

    def _shapes_of(self, parts: Sequence[PlainSchema]) -> list[Shape]:
        """The shapes of schemas that have neither alternatives nor references."""
        listed = next((part for part in parts if "enum" in part or "const" in part), None)
        if listed is not None:
            candidates = cast("list[JsonValue]", listed.get("enum", [listed.get("const")]))
            return self._values(parts, candidates)
        types = _common_types(parts)
        shapes: list[Shape] = []
        if "null" in types:
            shapes += self._values(parts, [None])
        if "boolean" in types:
            shapes += self._values(parts, [False, True])
        if "number" in types or "integer" in types:
            shapes += self._numbers(parts, integral="number" not in types)
        if "string" in types:
            shapes += _texts(parts)
        if "array" in types:
            shapes += self._arrays(parts)
        if "object" in types:
            shapes += self._objects(parts)
        return shapes

    def _values(self, parts: Sequence[PlainSchema], candidates: Sequence[JsonValue]) -> list[Shape]:
        values = tuple(value for value in candidates if all(self.accepts(part, value) for part in parts))
        return [Values(values=values)] if values else []

    def _numbers(self, parts: Sequence[PlainSchema], *, integral: bool) -> list[Shape]:
        multiples = tuple(part["multipleOf"] for part in parts if "multipleOf" in part)
        # What a whole number divides is whole.
        integral = integral or any(type(divisor) is int for divisor in multiples)
        lower, upper = _lower(parts, integral=integral), _upper(parts, integral=integral)
        if lower is not None and upper is not None:
            if lower.value > upper.value or (lower.value == upper.value and (lower.excluded or upper.excluded)):
                return []
            if integral and upper.value - lower.value < MOST_VALUES:
                return self._values(parts, list(range(int(lower.value), int(upper.value) + 1)))
        return [Numbers(lower=lower, upper=upper, integral=integral, multiples=multiples)]

    def _arrays(self, parts: Sequence[PlainSchema]) -> list[Shape]:
        fewest = max((part.get("minItems", 0) for part in parts), default=0)
        most = _least(part.get("maxItems") for part in parts)
        items = tuple(part["items"] for part in parts if part.get("items"))
        if items and self.is_empty(items):
            most = 0
        if most is not None and fewest > most:
            return []
        if most == 0:
            return [Values(values=([],))]
        unique = any(part.get("uniqueItems", False) for part in parts)
        return [Arrays(fewest=fewest, most=most, unique=unique, items=items)]

    def _objects(self, parts: Sequence[PlainSchema]) -> list[Shape]:
        properties: dict[str, tuple[PlainSchema, ...]] = {}
        allowed: frozenset[str] | None = None
        for part in parts:
            named = cast("dict[str, PlainSchema]", part.get("properties", {}))
            for name, schema in named.items():
                properties[name] = (*properties.get(name, ()), schema)
            if part.get("additionalProperties") is False:
                allowed = frozenset(named) if allowed is None else allowed & frozenset(named)
        required = frozenset(name for part in parts for name in part.get("required", ()))
        for name in required:
            if (allowed is not None and name not in allowed) or self.is_empty(properties.get(name, ())):
                return []
        return [Objects(properties=properties, required=required, allowed=allowed)]


def _flattened(conjunction: Conjunction) -> list[list[PlainSchema]] | None:
    """Every way to choose one alternative of each ``anyOf``, with references put in place."""
    chosen: list[list[PlainSchema]] = [[]]
    for schema in conjunction:
        ways = _ways(schema)
        if ways is None or len(chosen) * len(ways) > MOST_SHAPES:
            return None
        chosen = [[*before, *way] for before in chosen for way in ways]
    return chosen


def _ways(schema: PlainSchema) -> list[list[PlainSchema]] | None:
    bare = {keyword: value for keyword, value in schema.items() if keyword not in ("anyOf", "$ref")}
    ways: list[list[PlainSchema]] | None = [[bare]]
    if "$ref" in schema:
        ways = _combined(ways, _ways(cast("PlainSchema", schema["$ref"])))
    if "anyOf" in schema:
        alternatives: list[list[PlainSchema]] = []
        for branch in cast("list[PlainSchema]", schema["anyOf"]):
            more = _ways(branch)
            if more is None:
                return None
            alternatives += more
        ways = _combined(ways, alternatives)
    return ways


def _combined(
    first: list[list[PlainSchema]] | None, second: list[list[PlainSchema]] | None
) -> list[list[PlainSchema]] | None:
    if first is None or second is None or len(first) * len(second) > MOST_SHAPES:
        return None
    return [[*one, *other] for one in first for other in second]


def _common_types(parts: Sequence[PlainSchema]) -> set[str]:
    common = set[str](_TYPES)
    for part in parts:
        named = part.get("type", _TYPES)
        types = {named} if isinstance(named, str) else set(cast("Sequence[str]", named))
        # Every whole number is a number.
        if "number" in types:
            types.add("integer")
        common &= types
    return common


def _texts(parts: Sequence[PlainSchema]) -> list[Shape]:
    shortest = max((part.get("minLength", 0) for part in parts), default=0)
    longest = _least(part.get("maxLength") for part in parts)
    if longest is not None and shortest > longest:
        return []
    return [
        Texts(
            shortest=shortest,
            longest=longest,
            patterns=frozenset(part["pattern"] for part in parts if "pattern" in part),
            formats=frozenset(part["format"] for part in parts if "format" in part),
        )
    ]


def _lower(parts: Sequence[PlainSchema], *, integral: bool) -> Bound | None:
    best: Bound | None = None
    for part in parts:
        for keyword, excluded in (("minimum", False), ("exclusiveMinimum", True)):
            if keyword in part:
                bound = Bound(value=part[keyword], excluded=excluded)
                if best is None or (bound.value, bound.excluded) > (best.value, best.excluded):
                    best = bound
    if best is None or not integral:
        return best
    whole = math.ceil(best.value)
    return Bound(value=whole + 1 if best.excluded and whole == best.value else whole, excluded=False)


def _upper(parts: Sequence[PlainSchema], *, integral: bool) -> Bound | None:
    best: Bound | None = None
    for part in parts:
        for keyword, excluded in (("maximum", False), ("exclusiveMaximum", True)):
            if keyword in part:
                bound = Bound(value=part[keyword], excluded=excluded)
                if best is None or (bound.value, not bound.excluded) < (best.value, not best.excluded):
                    best = bound
    if best is None or not integral:
        return best
    whole = math.floor(best.value)
    return Bound(value=whole - 1 if best.excluded and whole == best.value else whole, excluded=False)


def _least(values: Sequence[int | None] | object) -> int | None:
    found = [value for value in cast("Sequence[int | None]", values) if value is not None]
    return min(found, default=None)
