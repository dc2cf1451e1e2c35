"""Checking values against a schema of the subset.

The verdict is the ``jsonschema`` library's, on a validator that knows the keywords of the subset and no others. The
library is imported when it is first asked: it takes half of the time to import this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from agent_surface._base._json import JsonSchema, JsonValue, thaw_json
from agent_surface.errors import SchemaIssue
from agent_surface.schemas._acceptor import Acceptor, make_acceptor
from agent_surface.schemas._equality import all_different
from agent_surface.schemas._formats import STRICT_FORMATS, compile_pattern
from agent_surface.schemas._issues import issues_of
from agent_surface.schemas._subset import resolve_definition

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

PlainSchema: TypeAlias = "dict[str, Any]"
"""A schema without references and annotations, as the validator takes it; nothing in it is ever changed."""


class SchemaChecker:
    """Says what is wrong with a value. Holds a schema that is known to be in the subset."""

    __slots__ = ("__dict__", "_schema")

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema

    @cached_property
    def plain(self) -> PlainSchema:
        """The schema with each reference replaced by its target."""
        return _Inliner(self._schema).inline(self._schema)

    def issues(self, value: JsonValue) -> tuple[SchemaIssue, ...]:
        """Every reason why ``value`` does not satisfy the schema, none when it does.

        Args:
            value: A mutable JSON value.
        """
        if self._acceptor(value):
            return ()
        return issues_of(islice(self._validator.iter_errors(value), _MOST_ERRORS))

    def satisfies(self, value: JsonValue, schema: PlainSchema) -> bool:
        """Whether ``value`` satisfies one of the schemas inside ``plain``."""
        return bool(cast("Any", self._validator).evolve(schema=schema).is_valid(value))

    def fits(self, value: JsonValue, schema: JsonSchema) -> bool:
        """Whether ``value`` satisfies ``schema``, whose references mean the definitions of the whole."""
        plain = _Inliner(self._schema).inline(schema)
        return make_acceptor(plain)(value) or self.satisfies(value, plain)

    @cached_property
    def _acceptor(self) -> Acceptor:
        return make_acceptor(self.plain)

    @cached_property
    def _validator(self) -> Validator:
        return _make_validator(self.plain)


class _Inliner:
    def __init__(self, root: JsonSchema) -> None:
        self._root = root
        self._definitions: dict[str, PlainSchema] = {}

    def inline(self, schema: JsonSchema) -> PlainSchema:
        plain: PlainSchema = {}
        for keyword, value in schema.items():
            if keyword in _NOT_CHECKED:
                continue
            if keyword == "properties":
                entries = cast("Mapping[str, JsonSchema]", value)
                plain[keyword] = {name: self.inline(inner) for name, inner in entries.items()}
            elif keyword == "items":
                plain[keyword] = self.inline(cast("JsonSchema", value))
            elif keyword == "anyOf":
                plain[keyword] = [self.inline(inner) for inner in cast("tuple[JsonSchema, ...]", value)]
            elif keyword == "$ref":
                plain[keyword] = self._definition(value)
            else:
                plain[keyword] = thaw_json(value)
        return plain

    def _definition(self, reference: object) -> PlainSchema:
        # Found, or the schema would not have got here.
        name = cast("str", resolve_definition(self._root, reference))
        if name not in self._definitions:
            definitions = cast("Mapping[str, JsonSchema]", self._root["$defs"])
            self._definitions[name] = self.inline(definitions[name])
        return self._definitions[name]


# Enough to choose the issues to report from; a large value may have thousands.
_MOST_ERRORS: Final = 200
_NOT_CHECKED: Final = frozenset(
    {"$defs", "$id", "$schema", "default", "deprecated", "description", "examples", "title"}
)
_LIBRARY_KEYWORDS: Final = (
    "additionalProperties",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "properties",
    "required",
    "type",
)


def _make_validator(schema: PlainSchema) -> Validator:
    from jsonschema import Draft202012Validator, validators

    keywords: dict[str, Any] = {keyword: Draft202012Validator.VALIDATORS[keyword] for keyword in _LIBRARY_KEYWORDS}
    keywords["$ref"] = _check_reference
    keywords["multipleOf"] = _check_multiple
    keywords["pattern"] = _make_pattern_check()
    keywords["uniqueItems"] = _check_unique
    limited: Any = cast("Any", validators).create(
        meta_schema=Draft202012Validator.META_SCHEMA,
        validators=keywords,
        type_checker=Draft202012Validator.TYPE_CHECKER,
    )
    return cast("Validator", limited(schema, format_checker=_make_format_checker()))


def _make_format_checker() -> FormatChecker:
    import rfc3986_validator  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # it has no types
    from jsonschema import FormatChecker

    matches_uri = cast("Callable[[str], object]", cast("Any", rfc3986_validator).validate_rfc3986)

    def is_uri(text: str) -> bool:
        return not any(character.isspace() for character in text) and matches_uri(text) is not None

    checker = FormatChecker(formats=())
    for name, check in {**STRICT_FORMATS, "uri": is_uri}.items():
        checker.checks(name)(_for_text(check))
    return checker


def _for_text(check: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


def _check_reference(
    validator: Any,  # noqa: ANN401 - the library's validator classes are made at run time
    target: PlainSchema,
    instance: object,
    schema: PlainSchema,
) -> Iterator[ValidationError]:
    del schema
    yield from validator.descend(instance, target)


def _check_multiple(
    validator: Any,  # noqa: ANN401 - the library's validator classes are made at run time
    divisor: float,
    instance: Any,  # noqa: ANN401 - any JSON value
    schema: PlainSchema,
) -> Iterator[ValidationError]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    try:
        yield from Draft202012Validator.VALIDATORS["multipleOf"](validator, divisor, instance, schema) or ()
    except OverflowError:
        # The library divides as floats, for which this integer is too large.
        if (Fraction(instance) / Fraction(divisor)).denominator != 1:
            yield ValidationError("not a multiple")


def _check_unique(
    validator: Any,  # noqa: ANN401 - the library's validator classes are made at run time
    unique: bool,
    instance: object,
    schema: PlainSchema,
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    del validator, schema
    if unique and isinstance(instance, list) and not all_different(cast("list[object]", instance)):
        yield ValidationError("not unique")


def _make_pattern_check() -> Callable[[Any, str, object, PlainSchema], Iterator[ValidationError]]:
    compiled: dict[str, Callable[[str], object]] = {}

    def check(
        validator: Any,  # noqa: ANN401 - the library's validator classes are made at run time
        pattern: str,
        instance: object,
        schema: PlainSchema,
    ) -> Iterator[ValidationError]:
        from jsonschema.exceptions import ValidationError

        del validator, schema
        if isinstance(instance, str):
            search = compiled.get(pattern)
            if search is None:
                search = compiled[pattern] = compile_pattern(pattern).search
            if search(instance) is None:
                yield ValidationError("no match")

    return check
