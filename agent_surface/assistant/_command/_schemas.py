"""What a tool's input asks for: its fields, read from the published schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from agent_surface._base._json import FrozenJson, JsonSchema, JsonValue, thaw_json
from agent_surface.assistant._command._words import split_identifier


class FieldKind(StrEnum):
    """How a field is filled from words."""

    CHOICE = "choice"
    CHOICES = "choices"
    FLAG = "flag"
    NUMBER = "number"
    ENTITY = "entity"
    ENTITIES = "entities"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputField:
    """One root field of an input.

    Attributes:
        name: Its key.
        words: The stems in its name.
        kind: How it is filled.
        choices: What an enumeration allows, in its order.
        required: Whether the schema asks for it.
        default: What the schema says is taken when it is absent.
        described: The author's words.
        whole: Whether a number must be whole.
    """

    name: str
    words: tuple[str, ...]
    kind: FieldKind
    choices: tuple[str, ...] = ()
    required: bool = False
    default: JsonValue = None
    described: str = ""
    whole: bool = False

    @property
    def searches(self) -> bool:
        """Whether it takes text to look for."""
        return self.kind is FieldKind.TEXT and bool(_SEARCH_WORDS & set(self.words))


def read_fields(schema: JsonSchema) -> tuple[InputField, ...]:
    """The root fields of an input schema, in their order."""
    root = _resolve(schema, schema)
    required = root.get("required")
    names = set(required) if isinstance(required, tuple) else set[FrozenJson]()
    properties = root.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    return tuple(
        _field(name, _resolve(part, schema), required=name in names)
        for name, part in properties.items()
        if isinstance(part, Mapping)
    )


def read_keys(schema: JsonSchema | None) -> frozenset[str]:
    """Every property name anywhere in an output schema: what reading it could tell."""
    return frozenset() if schema is None else frozenset(_keys(schema))


_SEARCH_WORDS = {"text", "query", "search", "term", "q", "keyword", "contain"}
_ID_WORDS = {"id", "key", "uuid"}


def _field(name: str, part: Mapping[str, FrozenJson], *, required: bool) -> InputField:
    words = split_identifier(name)
    kind, choices = _kind(words, part)
    described = part.get("description")
    return InputField(
        name=name,
        words=words,
        kind=kind,
        choices=choices,
        required=required,
        default=thaw_json(part.get("default")),
        described=described if isinstance(described, str) else "",
        whole="integer" in _types(part),
    )


def _kind(words: tuple[str, ...], part: Mapping[str, FrozenJson]) -> tuple[FieldKind, tuple[str, ...]]:
    choices = _choices(part)
    types = _types(part)
    if choices:
        return FieldKind.CHOICE, choices
    if "boolean" in types:
        return FieldKind.FLAG, ()
    if "integer" in types or "number" in types:
        return FieldKind.NUMBER, ()
    if "array" in types:
        return _array_kind(part)
    if "string" in types:
        return (FieldKind.ENTITY if words and words[-1] in _ID_WORDS else FieldKind.TEXT), ()
    return FieldKind.OTHER, ()


def _array_kind(part: Mapping[str, FrozenJson]) -> tuple[FieldKind, tuple[str, ...]]:
    for option in (part, *_options(part)):
        items = option.get("items")
        if isinstance(items, Mapping):
            choices = _choices(items)
            if choices:
                return FieldKind.CHOICES, choices
            if "string" in _types(items):
                return FieldKind.ENTITIES, ()
    return FieldKind.OTHER, ()


def _types(part: Mapping[str, FrozenJson]) -> frozenset[str]:
    found = part.get("type")
    types = (
        {found}
        if isinstance(found, str)
        else {item for item in found if isinstance(item, str)}
        if isinstance(found, tuple)
        else set[str]()
    )
    for option in _options(part):
        types |= _types(option)
    return frozenset(types)


def _choices(part: Mapping[str, FrozenJson]) -> tuple[str, ...]:
    found = part.get("enum")
    if isinstance(found, tuple):
        return tuple(item for item in found if isinstance(item, str))
    constant = part.get("const")
    if isinstance(constant, str):
        return (constant,)
    return tuple(choice for option in _options(part) for choice in _choices(option))


def _options(part: Mapping[str, FrozenJson]) -> Iterator[Mapping[str, FrozenJson]]:
    options = part.get("anyOf")
    if isinstance(options, tuple):
        yield from (option for option in options if isinstance(option, Mapping))


def _resolve(part: Mapping[str, FrozenJson], root: JsonSchema) -> Mapping[str, FrozenJson]:
    """``part`` with local references followed, also inside ``anyOf`` and ``items``."""
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: FrozenJson = root
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        if isinstance(target, Mapping):
            return _resolve({**target, **{key: value for key, value in part.items() if key != "$ref"}}, root)
    options = part.get("anyOf")
    if isinstance(options, tuple):
        resolved = tuple(_resolve(option, root) if isinstance(option, Mapping) else option for option in options)
        return {**part, "anyOf": resolved}
    items = part.get("items")
    return {**part, "items": _resolve(items, root)} if isinstance(items, Mapping) else part


def _keys(value: FrozenJson) -> Iterator[str]:
    if isinstance(value, Mapping):
        properties = value.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for item in value.values():
            yield from _keys(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _keys(item)
