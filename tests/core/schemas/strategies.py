"""Random schemas of the subset, and random values that often satisfy a schema and often just fail to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hypothesis import strategies as st

from agent_surface._base._json import JsonValue

Schema = dict[str, Any]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.integers(-20, 20) | st.integers(-20, 20).map(float) | st.floats(-20, 20).map(lambda n: round(n, 2))
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT | st.sampled_from(["a", "b", "x1"])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcx"), inner, max_size=3),
    max_leaves=6,
)
FORMATTED: Mapping[str, Sequence[str]] = {
    "date": ["2026-01-31", "2026-02-30", "0000-01-01", "2026-1-1", "2026-01-31\n", "202\uff16-01-31"],
    "date-time": [
        "2026-01-31T09:30:00Z",
        "2026-01-31t09:30:00.123456789z",
        "2026-01-31T09:30:00+23:59",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-02-30T09:30:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T09:30:60Z",
    ],
    "email": ["a@b.example", "not an address"],
    "uri": ["https://a.example/b?c#d", "urn:isbn:0451450523", "/relative", "a b", "http://[::1]/"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000", "123e4567", "x" * 36],
}
PATTERNS = ["a", "^[a-z]+$", "^x[0-9]{1,2}$", "^(a|b)", "[^$]$", r"\$", "^.$"]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Schema:
    """A schema of the subset that nests at most ``depth`` deep."""
    kinds = ["any", "string", "number", "integer", "boolean", "null", "listed", "several"]
    if depth > 1:
        kinds += ["object", "object", "array", "union"]
    kind = draw(st.sampled_from(kinds))
    if kind == "any":
        return {}
    if kind == "listed":
        values = draw(st.lists(JSON, min_size=1, max_size=3))
        return {"const": values[0]} if draw(st.booleans()) else {"enum": values}
    if kind == "several":
        return {
            "type": draw(st.lists(st.sampled_from(["string", "integer", "null", "array"]), min_size=1, unique=True))
        }
    if kind == "union":
        return {"anyOf": draw(st.lists(schemas(depth - 1), min_size=1, max_size=3))}
    return draw(_typed_schemas(kind, depth))


@st.composite
def values_for(draw: st.DrawFn, schema: Schema, root: Schema | None = None) -> JsonValue:
    """A JSON value that follows ``schema`` most of the time."""
    root = schema if root is None else root
    if draw(st.integers(0, 9)) == 0:
        return cast("JsonValue", draw(JSON))
    if "$ref" in schema:
        return draw(values_for(root["$defs"][schema["$ref"].rpartition("/")[2]], root))
    if "const" in schema or "enum" in schema:
        listed = cast("JsonValue", draw(st.sampled_from(schema.get("enum") or [schema["const"]])))
        # The same number written the other way.
        return float(listed) if type(listed) is int and draw(st.booleans()) else listed
    if "anyOf" in schema:
        return draw(st.sampled_from(schema["anyOf"]).flatmap(lambda one: values_for(one, root)))
    names = schema.get("type", "any")
    kind = names if isinstance(names, str) else draw(st.sampled_from(cast("list[str]", names)))
    if kind == "object":
        properties = cast("dict[str, Schema]", schema.get("properties", {}))
        chosen = [name for name in properties if name in schema.get("required", ()) or draw(st.booleans())]
        return {name: draw(values_for(properties[name], root)) for name in chosen} | draw(_EXTRA)
    if kind == "array":
        fewest = schema.get("minItems", 0)
        # A schema can demand more items than it admits.
        count = draw(st.integers(fewest, max(fewest, schema.get("maxItems", 3) + 1)))
        return [draw(values_for(schema.get("items", {}), root)) for _ in range(count)]
    if kind == "string":
        return draw(_texts_for(schema))
    scalars: dict[str, st.SearchStrategy[Any]] = {"boolean": st.booleans(), "null": st.none(), "any": JSON}
    return cast("JsonValue", draw(scalars.get(kind, NUMBERS)))


def _texts_for(schema: Schema) -> st.SearchStrategy[str]:
    if "format" in schema:
        return st.sampled_from(FORMATTED[schema["format"]])
    if "pattern" in schema:
        return st.from_regex(str(schema["pattern"])).filter(_has_no_surrogate)
    return st.text(max_size=schema.get("maxLength", 4) + 1).filter(_has_no_surrogate)


@st.composite
def _typed_schemas(draw: st.DrawFn, kind: str, depth: int) -> Schema:
    schema: Schema = {"type": kind}
    if kind == "object":
        names = draw(st.lists(st.sampled_from("abcx"), max_size=3, unique=True))
        schema["properties"] = {name: draw(schemas(depth - 1)) for name in names}
        schema["required"] = draw(st.lists(st.sampled_from("abcx"), max_size=2, unique=True))
        _maybe(draw, schema, "additionalProperties", st.booleans())
    elif kind == "array":
        _maybe(draw, schema, "items", schemas(depth - 1))
        _maybe(draw, schema, "minItems", st.integers(0, 2))
        _maybe(draw, schema, "maxItems", st.integers(0, 4))
        _maybe(draw, schema, "uniqueItems", st.booleans())
    elif kind == "string":
        keyword = draw(st.sampled_from(["format", "pattern", "minLength", "maxLength"]))
        _maybe(draw, schema, keyword, _TEXT_LIMITS[keyword])
    elif kind in {"number", "integer"}:
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            _maybe(draw, schema, keyword, NUMBERS, often=False)
        _maybe(draw, schema, "multipleOf", st.sampled_from([1, 2, 0.5, 2.0, 0.1]), often=False)
    return schema


_TEXT_LIMITS: Mapping[str, st.SearchStrategy[Any]] = {
    "format": st.sampled_from(sorted(FORMATTED)),
    "pattern": st.sampled_from(PATTERNS),
    "minLength": st.integers(0, 3),
    "maxLength": st.integers(0, 5),
}
_EXTRA = st.dictionaries(st.sampled_from("axz"), cast("st.SearchStrategy[JsonValue]", SCALARS), max_size=1)


def _maybe(
    draw: st.DrawFn, schema: Schema, keyword: str, values: st.SearchStrategy[Any], *, often: bool = True
) -> None:
    if draw(st.booleans()) and (often or draw(st.booleans())):
        schema[keyword] = draw(values)


def _has_no_surrogate(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
