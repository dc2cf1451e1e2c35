"""Where two schemas differ, in words: what a reviewer reads beside the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from agent_surface._base._json import FrozenJson, JsonSchema, thaw_json

_ANNOTATIONS: Final = ("title", "description", "examples", "deprecated")
_STRUCTURE: Final = frozenset({"properties", "required", "items", "anyOf", "enum", "const", "$ref", "$defs"})
_IGNORED: Final = frozenset({"$schema", "$id", "default", *_ANNOTATIONS})
_LONGEST_VALUE: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDifferences:
    """What differs, sorted by what it is about.

    Attributes:
        limits: What is accepted.
        wording: What only describes it.
        defaults: What stands in for what is left out.
    """

    limits: tuple[str, ...]
    wording: tuple[str, ...]
    defaults: tuple[str, ...]


def describe_differences(before: JsonSchema, after: JsonSchema) -> SchemaDifferences:
    """Go through two schemas side by side."""
    reader = _Reader(before, after)
    limits = tuple(reader.compare(before, after, ""))
    return SchemaDifferences(limits=limits, wording=tuple(reader.wording), defaults=tuple(reader.defaults))


class _Reader:
    def __init__(self, before: JsonSchema, after: JsonSchema) -> None:
        self._roots = (before, after)
        self.wording: list[str] = []
        self.defaults: list[str] = []

    def compare(self, before: JsonSchema, after: JsonSchema, path: str) -> Iterator[str]:
        before, after = (_resolved(schema, root) for schema, root in zip((before, after), self._roots, strict=True))
        if before == after and self._roots[0].get("$defs") == self._roots[1].get("$defs"):
            return
        self._annotations(before, after, path)
        for keyword in sorted((before.keys() | after.keys()) - _STRUCTURE - _IGNORED):
            if before.get(keyword) != after.get(keyword) or type(before.get(keyword)) is not type(after.get(keyword)):
                yield f"{_at(path)}{keyword} {_shown(before, keyword)} → {_shown(after, keyword)}"
        yield from _listed(before, after, path)
        yield from self._properties(before, after, path)
        yield from self._items(before, after, path)
        yield from self._alternatives(before, after, path)

    def _annotations(self, before: JsonSchema, after: JsonSchema, path: str) -> None:
        for keyword in _ANNOTATIONS:
            if before.get(keyword) != after.get(keyword):
                self.wording.append(f"{_at(path)}{keyword} {_shown(before, keyword)} → {_shown(after, keyword)}")
        if before.get("default") != after.get("default") or ("default" in before) != ("default" in after):
            self.defaults.append(f"{_at(path)}default {_shown(before, 'default')} → {_shown(after, 'default')}")

    def _properties(self, before: JsonSchema, after: JsonSchema, path: str) -> Iterator[str]:
        old, new = _properties(before), _properties(after)
        was_required, is_required = _names(before.get("required")), _names(after.get("required"))
        for name in sorted(old.keys() | new.keys()):
            here = f"{path}.{name}" if path else name
            if name not in old:
                yield f"{here} added{' and required' if name in is_required else ''}"
                continue
            if name not in new:
                yield f"{here} removed"
                continue
            if (name in was_required) != (name in is_required):
                yield f"{here} {'is now required' if name in is_required else 'is no longer required'}"
            yield from self.compare(old[name], new[name], here)
        for name in sorted((was_required ^ is_required) - old.keys() - new.keys()):
            yield f"{_at(path)}{name} {'is now required' if name in is_required else 'is no longer required'}"

    def _items(self, before: JsonSchema, after: JsonSchema, path: str) -> Iterator[str]:
        old, new = before.get("items"), after.get("items")
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from self.compare(old, new, f"{path}[]")
        elif old != new:
            yield f"{_at(path)}items {'limited' if old is None else 'no longer limited'}"

    def _alternatives(self, before: JsonSchema, after: JsonSchema, path: str) -> Iterator[str]:
        old, new = (cast("Sequence[JsonSchema]", schema.get("anyOf", ())) for schema in (before, after))
        if len(old) == len(new):
            for number, (one, other) in enumerate(zip(old, new, strict=True), start=1):
                yield from self.compare(one, other, f"{path}(alternative {number})")
        else:
            yield f"{_at(path)}{len(old) or 'no'} → {len(new) or 'no'} alternatives"


def _listed(before: JsonSchema, after: JsonSchema, path: str) -> Iterator[str]:
    old, new = _values(before), _values(after)
    if old is None and new is None:
        return
    if old is None or new is None:
        shown = ", ".join(new if new is not None else old or [])
        yield f"{_at(path)}{'limited to' if old is None else 'no longer limited to'} {shown}"
        return
    gained, lost = [text for text in new if text not in old], [text for text in old if text not in new]
    if gained:
        yield f"{_at(path)}also {', '.join(gained)}"
    if lost:
        yield f"{_at(path)}no longer {', '.join(lost)}"


def _values(schema: JsonSchema) -> list[str] | None:
    if "const" in schema:
        return [_json(schema["const"])]
    listed = schema.get("enum")
    return [_json(value) for value in listed] if isinstance(listed, tuple) else None


def _properties(schema: JsonSchema) -> Mapping[str, JsonSchema]:
    return cast("Mapping[str, JsonSchema]", schema.get("properties", {}))


def _names(value: FrozenJson) -> frozenset[str]:
    return frozenset(str(name) for name in value) if isinstance(value, tuple) else frozenset()


def _resolved(schema: JsonSchema, root: JsonSchema) -> JsonSchema:
    """The schema with its reference replaced by what it leads to; what stands beside the reference stays."""
    while isinstance(schema.get("$ref"), str):
        name = str(schema["$ref"]).rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        target = cast("Mapping[str, JsonSchema]", root.get("$defs", {})).get(name, {})
        schema = {**target, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
    return schema


def _at(path: str) -> str:
    return f"{path}: " if path else ""


def _shown(schema: JsonSchema, keyword: str) -> str:
    if keyword not in schema:
        return "none"
    value = schema[keyword]
    if keyword == "type":
        return " or ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return _json(value)


def _json(value: FrozenJson) -> str:
    text = json.dumps(thaw_json(value), ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
