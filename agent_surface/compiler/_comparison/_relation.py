"""Whether one schema accepts what another does: by meaning, not by text.

Only what is proven is claimed: a schema is said to lie inside another when every value it accepts certainly satisfies
the other. What cannot be proven either way counts as ``both``, which is judged as widening and narrowing at once.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from agent_surface._base._json import JsonSchema
from agent_surface.compiler._comparison._shapes import (
    Arrays,
    Bound,
    Conjunction,
    Numbers,
    Objects,
    Shape,
    Shapes,
    Texts,
    Values,
)
from agent_surface.schemas._checker import PlainSchema


class SchemaRelation(StrEnum):
    """What the newer of two schemas accepts, compared with the older."""

    EQUAL = "equal"
    WIDER = "wider"
    NARROWER = "narrower"
    BOTH = "both"


def compare_schemas(before: JsonSchema, after: JsonSchema) -> SchemaRelation:
    """Compare two schemas of the supported subset.

    Args:
        before: The older, frozen.
        after: The newer, frozen.

    Returns:
        ``EQUAL``: both accept the same values. ``WIDER``: the newer accepts everything the older does, and not
        certainly nothing more. ``NARROWER``: the reverse. ``BOTH``: neither is proven.
    """
    older, newer = Shapes(before), Shapes(after)
    kept = _Inclusion(older, newer).holds(older.root, newer.root)
    nothing_new = _Inclusion(newer, older).holds(newer.root, older.root)
    if kept:
        return SchemaRelation.EQUAL if nothing_new else SchemaRelation.WIDER
    return SchemaRelation.NARROWER if nothing_new else SchemaRelation.BOTH


_MOST_SPLIT: Final = 16


class _Inclusion:
    """Proves that what satisfies schemas of ``inner`` satisfies schemas of ``outer``."""

    def __init__(self, inner: Shapes, outer: Shapes) -> None:
        self._inner = inner
        self._outer = outer
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}
        self._kept: list[Conjunction] = []

    def holds(self, inner: Conjunction, outer: Conjunction) -> bool:
        """Whether every value that satisfies all of ``inner`` satisfies all of ``outer``."""
        key = (tuple(map(id, inner)), tuple(map(id, outer)))
        if key not in self._known:
            self._kept += [inner, outer]
            self._known[key] = all(self._inside(inner, schema) for schema in outer)
        return self._known[key]

    def _inside(self, inner: Conjunction, schema: PlainSchema) -> bool:
        wanted = self._outer.text(schema)
        if any(self._inner.text(part) == wanted for part in inner):
            return True
        shapes, others = self._inner.of(inner), self._outer.of((schema,))
        if shapes is None or others is None:
            return False
        return all(self._covered(shape, others, schema) for shape in shapes)

    def _covered(self, shape: Shape, others: list[Shape], schema: PlainSchema) -> bool:
        if isinstance(shape, Values):
            return all(self._outer.accepts(schema, value) for value in shape.values)
        if any(self._fits(shape, other) for other in others):
            return True
        return isinstance(shape, Objects) and self._covered_in_parts(shape, others)

    def _covered_in_parts(self, shape: Objects, others: list[Shape]) -> bool:
        """An object with a tag is covered when it is for each value of the tag."""
        for name in sorted(shape.required & shape.properties.keys()):
            tags = self._inner.of(shape.properties[name])
            if tags is None or not all(isinstance(tag, Values) for tag in tags):
                continue
            values = [value for tag in tags if isinstance(tag, Values) for value in tag.values]
            if 1 < len(values) <= _MOST_SPLIT and all(
                any(self._fits(_tagged(shape, name, value), other) for other in others) for value in values
            ):
                return True
        return False

    def _fits(self, shape: Shape, other: Shape) -> bool:
        match shape, other:
            case Numbers(), Numbers():
                return _numbers_fit(shape, other)
            case Texts(), Texts():
                return (
                    shape.shortest >= other.shortest
                    and _at_most(shape.longest, other.longest)
                    and shape.patterns >= other.patterns
                    and shape.formats >= other.formats
                )
            case Arrays(), Arrays():
                return (
                    shape.fewest >= other.fewest
                    and _at_most(shape.most, other.most)
                    and (shape.unique or not other.unique or shape.most == 1)
                    and self.holds(shape.items, other.items)
                )
            case Objects(), Objects():
                return self._objects_fit(shape, other)
            case _:
                return False

    def _objects_fit(self, shape: Objects, other: Objects) -> bool:
        if not shape.required >= other.required:
            return False
        if other.allowed is not None:
            if shape.allowed is None:
                return False
            if not all(self._inner.is_empty(shape.properties[name]) for name in shape.allowed - other.allowed):
                return False
        return all(
            (shape.allowed is not None and name not in shape.allowed)
            or self.holds(shape.properties.get(name, ()), schemas)
            for name, schemas in other.properties.items()
        )


def _tagged(shape: Objects, name: str, value: object) -> Objects:
    return replace(shape, properties={**shape.properties, name: ({"const": value},)})


def _numbers_fit(shape: Numbers, other: Numbers) -> bool:
    return (
        (shape.integral or not other.integral)
        and _above(shape.lower, other.lower)
        and _below(shape.upper, other.upper)
        and all(_divides(divisor, shape) for divisor in other.multiples)
    )


def _above(bound: Bound | None, other: Bound | None) -> bool:
    if other is None:
        return True
    if bound is None:
        return False
    return bound.value > other.value or (bound.value == other.value and (bound.excluded or not other.excluded))


def _below(bound: Bound | None, other: Bound | None) -> bool:
    if other is None:
        return True
    if bound is None:
        return False
    return bound.value < other.value or (bound.value == other.value and (bound.excluded or not other.excluded))


def _divides(divisor: float, shape: Numbers) -> bool:
    """Whether every number of the shape is a multiple. Between fractions it is a matter of rounding: not claimed."""
    if any(type(divisor) is type(multiple) and divisor == multiple for multiple in shape.multiples):
        return True
    if not isinstance(divisor, int):
        return False
    if divisor == 1 and shape.integral:
        return True
    return any(isinstance(multiple, int) and multiple % divisor == 0 for multiple in shape.multiples)


def _at_most(longest: int | None, other: int | None) -> bool:
    return other is None or (longest is not None and longest <= other)
