"""Changes of schemas as people make them in reviews, with the verdict each deserves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from agent_surface.compiler import SchemaRelation

Schema: TypeAlias = Mapping[str, Any]
Pair: TypeAlias = tuple[Schema, Schema, SchemaRelation]

EQUAL, WIDER, NARROWER, BOTH = SchemaRelation


def an_object(required: str = "", /, *, closed: bool = True, **properties: Schema) -> Schema:
    """An object with these properties, closed as the library's models are."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required.split()
    return {**schema, "additionalProperties": False} if closed else schema


TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
NULL = {"type": "null"}
IDS = {"type": "array", "items": TEXT}
MODES = {"enum": ["replace", "add"], "type": "string"}
CAT = an_object("kind lives", kind={"const": "cat"}, lives=WHOLE)
DOG = an_object("kind name", kind={"const": "dog"}, name=TEXT)
BIRD = an_object("kind", kind={"const": "bird"})


def nested(inner: Schema) -> Schema:
    """The change sits two objects and a list deep."""
    return an_object("rows", rows={"type": "array", "items": an_object("cell", cell=inner)})


def ref(inner: Schema) -> Schema:
    """The change sits in a definition."""
    return {**an_object("it", it={"$ref": "#/$defs/It"}), "$defs": {"It": inner}}


REALISTIC: Mapping[str, Pair] = {
    # Enumerations
    "an enum value more": (MODES, {**MODES, "enum": ["replace", "add", "toggle"]}, WIDER),
    "an enum value less": (MODES, {**MODES, "enum": ["replace"]}, NARROWER),
    "an enum value exchanged": (MODES, {**MODES, "enum": ["replace", "remove"]}, BOTH),
    "enum values in another order": (MODES, {**MODES, "enum": ["add", "replace"]}, EQUAL),
    "an enum opened to any text": (MODES, TEXT, WIDER),
    "a text closed to an enum": (TEXT, MODES, NARROWER),
    "a const that becomes an enum": ({"const": "a"}, {"enum": ["a", "b"]}, WIDER),
    "a const written as an enum": ({"const": "a"}, {"enum": ["a"], "type": "string"}, EQUAL),
    "an enum with null": (MODES, {"enum": ["replace", "add", None]}, WIDER),
    "an enum of numbers for a range": ({"enum": [1, 2, 3]}, {"type": "integer", "minimum": 1, "maximum": 3}, EQUAL),
    # Text
    "maxLength dropped": ({**TEXT, "maxLength": 120}, TEXT, WIDER),
    "maxLength added": (TEXT, {**TEXT, "maxLength": 120}, NARROWER),
    "maxLength raised": ({**TEXT, "maxLength": 120}, {**TEXT, "maxLength": 200}, WIDER),
    "minLength 0 added": (TEXT, {**TEXT, "minLength": 0}, EQUAL),
    "minLength added": (TEXT, {**TEXT, "minLength": 1}, NARROWER),
    "a window of lengths moved": (
        {**TEXT, "minLength": 1, "maxLength": 5},
        {**TEXT, "minLength": 2, "maxLength": 9},
        BOTH,
    ),
    "a pattern added": (TEXT, {**TEXT, "pattern": "^[A-Z]+$"}, NARROWER),
    "a pattern dropped": ({**TEXT, "pattern": "^[A-Z]+$"}, TEXT, WIDER),
    "a pattern exchanged": ({**TEXT, "pattern": "^[A-Z]+$"}, {**TEXT, "pattern": "^[a-z]+$"}, BOTH),
    "a format added": (TEXT, {**TEXT, "format": "email"}, NARROWER),
    "a format dropped": ({**TEXT, "format": "date"}, TEXT, WIDER),
    # Numbers
    "a maximum raised": ({**WHOLE, "maximum": 10}, {**WHOLE, "maximum": 100}, WIDER),
    "a maximum lowered": ({**NUMBER, "maximum": 10}, {**NUMBER, "maximum": 9.5}, NARROWER),
    "a minimum added": (WHOLE, {**WHOLE, "minimum": 0}, NARROWER),
    "a minimum written exclusively": ({**WHOLE, "minimum": 1}, {**WHOLE, "exclusiveMinimum": 0}, EQUAL),
    "an exclusive minimum included": ({**NUMBER, "exclusiveMinimum": 0}, {**NUMBER, "minimum": 0}, WIDER),
    "whole numbers opened to all": (WHOLE, NUMBER, WIDER),
    "numbers closed to whole ones": (NUMBER, WHOLE, NARROWER),
    "whole numbers as multiples of one": (WHOLE, {**NUMBER, "multipleOf": 1}, EQUAL),
    "a finer step": ({**WHOLE, "multipleOf": 10}, {**WHOLE, "multipleOf": 5}, WIDER),
    "a step added": (WHOLE, {**WHOLE, "multipleOf": 5}, NARROWER),
    "a maximum added": (NUMBER, {**NUMBER, "maximum": 10}, NARROWER),
    "a wide range of whole numbers widened": (
        {**WHOLE, "minimum": 1, "maximum": 100},
        {**WHOLE, "minimum": 1, "maximum": 200},
        WIDER,
    ),
    "a fraction as a step": (NUMBER, {**NUMBER, "multipleOf": 0.5}, NARROWER),
    "a minimum beside a fraction as a step": (
        {**NUMBER, "multipleOf": 0.5},
        {**NUMBER, "multipleOf": 0.5, "minimum": 0},
        NARROWER,
    ),
    "a lower bound behind another": ({**NUMBER, "minimum": 5}, {**NUMBER, "minimum": 5, "exclusiveMinimum": 1}, EQUAL),
    "an upper bound behind another": ({**NUMBER, "maximum": 5}, {**NUMBER, "maximum": 5, "exclusiveMaximum": 9}, EQUAL),
    "a range turned round": ({**NUMBER, "minimum": 5, "maximum": 3}, {**NUMBER, "minimum": 3, "maximum": 5}, WIDER),
    # Types
    "null allowed too": (TEXT, {"anyOf": [TEXT, NULL]}, WIDER),
    "null no longer allowed": ({"anyOf": [TEXT, NULL]}, TEXT, NARROWER),
    "null as a list of types": ({"anyOf": [TEXT, NULL]}, {"type": ["string", "null"]}, EQUAL),
    "another type allowed too": ({"type": ["string", "null"]}, {"type": ["string", "null", "integer"]}, WIDER),
    "a text that becomes a number": (TEXT, WHOLE, BOTH),
    "a flag written as its values": (FLAG, {"enum": [True, False]}, EQUAL),
    "alternatives in another order": ({"anyOf": [TEXT, WHOLE]}, {"anyOf": [WHOLE, TEXT]}, EQUAL),
    "an alternative that is inside another": ({"anyOf": [NUMBER, WHOLE]}, NUMBER, EQUAL),
    # Arrays
    "maxItems raised": ({**IDS, "maxItems": 10}, {**IDS, "maxItems": 5000}, WIDER),
    "minItems added": (IDS, {**IDS, "minItems": 1}, NARROWER),
    "unique items demanded": (IDS, {**IDS, "uniqueItems": True}, NARROWER),
    "uniqueItems false written out": (IDS, {**IDS, "uniqueItems": False}, EQUAL),
    "items limited": (IDS, {**IDS, "items": {**TEXT, "maxLength": 64}}, NARROWER),
    "items no longer limited": (IDS, {"type": "array"}, WIDER),
    "a list with more items than it may have": ({**IDS, "minItems": 3, "maxItems": 2}, {**IDS, "minItems": 2}, WIDER),
    "a list of what there cannot be": (
        {"type": "array", "items": {**TEXT, "minLength": 3, "maxLength": 2}},
        {"type": "array", "maxItems": 0},
        EQUAL,
    ),
    # Objects
    "an optional field more": (an_object(a=TEXT), an_object(a=TEXT, b=TEXT), WIDER),
    "a required field more": (an_object("a", a=TEXT), an_object("a b", a=TEXT, b=TEXT), BOTH),
    "a required field more in an open object": (
        an_object("a", closed=False, a=TEXT),
        an_object("a b", closed=False, a=TEXT, b=TEXT),
        NARROWER,
    ),
    "a required field that may not be there": (an_object("b", a=TEXT), an_object("a", a=TEXT), WIDER),
    "an optional field less": (an_object(a=TEXT, b=TEXT), an_object(a=TEXT), NARROWER),
    "a field no longer required": (an_object("a", a=TEXT), an_object(a=TEXT), WIDER),
    "a field required": (an_object(a=TEXT), an_object("a", a=TEXT), NARROWER),
    "an object opened": (an_object(a=TEXT), an_object(closed=False, a=TEXT), WIDER),
    "an object closed": (an_object(closed=False, a=TEXT), an_object(a=TEXT), NARROWER),
    "additionalProperties true written out": (
        an_object(closed=False, a=TEXT),
        {**an_object(closed=False, a=TEXT), "additionalProperties": True},
        EQUAL,
    ),
    "fields in another order": (an_object(a=TEXT, b=WHOLE), an_object(b=WHOLE, a=TEXT), EQUAL),
    "required names in another order": (
        an_object("a b", a=TEXT, b=WHOLE),
        an_object("b a", a=TEXT, b=WHOLE),
        EQUAL,
    ),
    "a field made nullable": (an_object(a=TEXT), an_object(a={"anyOf": [TEXT, NULL]}), WIDER),
    "two fields, one wider and one narrower": (
        an_object(a=TEXT, b=WHOLE),
        an_object(a={**TEXT, "maxLength": 9}, b=NUMBER),
        BOTH,
    ),
    "no input that gets a field": (an_object(), an_object(a=TEXT), WIDER),
    # Tagged unions
    "a kind of thing more": ({"anyOf": [CAT, DOG]}, {"anyOf": [CAT, DOG, BIRD]}, WIDER),
    "a kind of thing less": ({"anyOf": [CAT, DOG]}, {"anyOf": [CAT]}, NARROWER),
    "one kind that becomes a union": (CAT, {"anyOf": [DOG, CAT]}, WIDER),
    "a tag of two values written as two kinds": (
        an_object("kind", kind={"enum": ["bird", "fish"]}),
        {"anyOf": [BIRD, an_object("kind", kind={"const": "fish"})]},
        EQUAL,
    ),
    # Deep, and behind references
    "deep: an enum value more": (nested(MODES), nested({"enum": ["replace", "add", "x"]}), WIDER),
    "deep: a limit added": (nested(TEXT), nested({**TEXT, "maxLength": 3}), NARROWER),
    "a definition put in place": (ref(MODES), an_object("it", it=MODES), EQUAL),
    "a definition renamed": (
        ref(MODES),
        {**an_object("it", it={"$ref": "#/$defs/Other"}), "$defs": {"Other": MODES}},
        EQUAL,
    ),
    "a definition widened": (ref(MODES), ref(TEXT), WIDER),
    "a definition widened in two places": (
        {**an_object(a={"$ref": "#/$defs/It"}, b={"$ref": "#/$defs/It"}), "$defs": {"It": MODES}},
        {**an_object(a={"$ref": "#/$defs/It"}, b={"$ref": "#/$defs/It"}), "$defs": {"It": TEXT}},
        WIDER,
    ),
    "an unused definition": (an_object(a=TEXT), {**an_object(a=TEXT), "$defs": {"Unused": TEXT}}, EQUAL),
    # Words
    "a description changed": (
        an_object(a={**TEXT, "description": "One"}),
        an_object(a={**TEXT, "description": "Other"}),
        EQUAL,
    ),
    "a title and an example": (TEXT, {**TEXT, "title": "T", "examples": ["x"]}, EQUAL),
    "a default": (an_object(a=TEXT), an_object(a={**TEXT, "default": "x"}), EQUAL),
}
"""By what was done: before, after, verdict."""
