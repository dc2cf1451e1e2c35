"""What is wrong with a value, in words an agent can act on: from templates, short, and never quoting the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agent_surface._base._json import JsonValue, compact_json, json_pointer
from agent_surface.errors import SchemaIssue

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_ISSUES: Final = 20
"""How many issues are reported for one value."""

MAX_MESSAGE_LENGTH: Final = 300
"""How many characters the message of an issue has at most."""


def issues_of(errors: Iterable[ValidationError]) -> tuple[SchemaIssue, ...]:
    """The library's findings as issues, ordered by path, without repetition, at most ``MAX_ISSUES``."""
    found: dict[tuple[tuple[str | int, ...], str], None] = {}
    for error in errors:
        for finding in _findings(error):
            found.setdefault(finding)
    return make_issues(found)


def make_issues(findings: Iterable[tuple[tuple[str | int, ...], str]]) -> tuple[SchemaIssue, ...]:
    """Issues from (path, message) pairs, ordered by path, at most ``MAX_ISSUES``."""
    ordered = sorted(findings, key=lambda finding: ([_order(part) for part in finding[0]], finding[1]))
    return tuple([SchemaIssue(path=_pointer(path), message=shorten(message)) for path, message in ordered[:MAX_ISSUES]])


def shorten(message: str) -> str:
    """``message`` in at most ``MAX_MESSAGE_LENGTH`` characters."""
    return message if len(message) <= MAX_MESSAGE_LENGTH else message[: MAX_MESSAGE_LENGTH - 3] + "..."


_MAX_PART_LENGTH: Final = 80
_MAX_SHOWN: Final = 200
_Finding = tuple[tuple["str | int", ...], str]


def _order(part: str | int) -> tuple[bool, int, str]:
    return (True, 0, part) if isinstance(part, str) else (False, part, "")


def _pointer(path: Sequence[str | int]) -> str:
    """Keys come from the agent, so a path shows only the beginning of a long one."""
    return json_pointer(
        [part[:_MAX_PART_LENGTH] + "..." if isinstance(part, str) and len(part) > _MAX_PART_LENGTH else part
         for part in path]
    )  # fmt: skip


def _findings(error: ValidationError, base: tuple[str | int, ...] = ()) -> list[_Finding]:
    path = (*base, *cast("Iterable[str | int]", error.path))
    keyword = str(error.validator)
    instance: Any = error.instance
    if keyword == "required":
        required = cast("list[str]", error.validator_value)
        return [((*path, name), "is required") for name in required if name not in instance]
    if keyword == "additionalProperties":
        known = cast("Mapping[str, object]", cast("Mapping[str, object]", error.schema).get("properties", {}))
        message = f"is not a known property; use {_listed(known)}" if known else "is not a known property"
        return [((*path, name), message) for name in instance if name not in known]
    if keyword == "anyOf":
        return _union_findings(error, path)
    template = _TEMPLATES.get(keyword)
    return [(path, template(error.validator_value) if template else "is not accepted")]


def _union_findings(error: ValidationError, path: tuple[str | int, ...]) -> list[_Finding]:
    """The findings of the branch the value was meant for, if that can be told; else that no branch fits."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [errors for errors in branches.values() if not any(_shows_other_branch(inner) for inner in errors)]
    if len(meant) == 1:
        return list(_all_findings(meant[0], path))
    same_type = [errors for errors in branches.values() if not any(_is_wrong_type(inner) for inner in errors)]
    if not same_type:
        kinds = [
            name
            for errors in branches.values()
            for inner in errors
            if _is_wrong_type(inner)
            for name in _type_names(inner.validator_value)
        ]
        return [(path, f"must be {_alternatives(list(dict.fromkeys(kinds)))}")]
    shared = set[_Finding].intersection(*[_all_findings(errors, path) for errors in same_type])
    if shared:
        return list(shared)
    tag = _tag_of(same_type)
    if tag is not None:
        name, values = tag
        return [((*path, name), f"must be one of {_listed(values)}")]
    return [(path, f"fits none of the {len(branches)} forms it can have")]


def _all_findings(errors: Iterable[ValidationError], path: tuple[str | int, ...]) -> set[_Finding]:
    return {finding for error in errors for finding in _findings(error, path)}


def _is_wrong_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.path


def _shows_other_branch(error: ValidationError) -> bool:
    """A value of another type, or another tag: this branch was not meant."""
    return _is_wrong_type(error) or (error.validator in {"const", "enum"} and len(error.path) <= 1)


def _tag_of(branches: Iterable[Sequence[ValidationError]]) -> tuple[str | int, list[object]] | None:
    """The property by whose constant the branches differ, with its values, when every branch names the same one."""
    names: set[str | int] = set()
    values: list[object] = []
    for errors in branches:
        tags = [inner for inner in errors if inner.validator in {"const", "enum"} and len(inner.path) == 1]
        if len(tags) != 1:
            return None
        names.add(tags[0].path[0])
        value = tags[0].validator_value
        values.extend(cast("list[object]", value) if tags[0].validator == "enum" else [value])
    return (names.pop(), values) if len(names) == 1 else None


def _listed(values: Iterable[object]) -> str:
    """The values as JSON, separated by commas, as many as fit."""
    text = ""
    for value in values:
        item = compact_json(cast("JsonValue", value))
        if len(text) + len(item) > _MAX_SHOWN:
            return text + ", ..." if text else "the listed values"
        text = f"{text}, {item}" if text else item
    return text


def _shown(value: object) -> str:
    text = compact_json(cast("JsonValue", value))
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


def _type_names(value: object) -> list[str]:
    return [str(name) for name in cast("list[object]", value)] if isinstance(value, list) else [str(value)]


def _alternatives(types: Sequence[str]) -> str:
    return " or ".join([_TYPE_WORDS[name] for name in types])


def _counted(value: object, noun: str) -> str:
    return f"{value} {noun}{'' if value == 1 else 's'}"


_TYPE_WORDS: Final[Mapping[str, str]] = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

_FORMAT_WORDS: Final[Mapping[str, str]] = {
    "date": "a date such as 2026-01-31",
    "date-time": "a date and time with a zone, such as 2026-01-31T09:30:00Z",
    "email": "an e-mail address",
    "uri": "an absolute URI",
    "uuid": "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
}

_TEMPLATES: Final[Mapping[str, Callable[[Any], str]]] = {
    "const": lambda value: f"must be {_shown(value)}",
    "enum": lambda value: f"must be one of {_listed(value)}",
    "exclusiveMaximum": lambda value: f"must be less than {_shown(value)}",
    "exclusiveMinimum": lambda value: f"must be greater than {_shown(value)}",
    "format": lambda value: f"must be {_FORMAT_WORDS[value]}",
    "maxItems": lambda value: f"must have at most {_counted(value, 'item')}",
    "maxLength": lambda value: f"must have at most {_counted(value, 'character')}",
    "maximum": lambda value: f"must be at most {_shown(value)}",
    "minItems": lambda value: f"must have at least {_counted(value, 'item')}",
    "minLength": lambda value: f"must have at least {_counted(value, 'character')}",
    "minimum": lambda value: f"must be at least {_shown(value)}",
    "multipleOf": lambda value: f"must be a multiple of {_shown(value)}",
    "pattern": lambda value: f"must match the pattern {_shown(value)}",
    "type": lambda value: f"must be {_alternatives(_type_names(value))}",
    "uniqueItems": lambda _value: "must not repeat an item",
}
