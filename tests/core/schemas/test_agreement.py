"""What is published is what is accepted: ``parse`` and the ``jsonschema`` library judge alike."""

from __future__ import annotations

import dataclasses
from datetime import date, datetime
from enum import Enum, IntEnum, StrEnum
from types import NoneType
from typing import Annotated, Any, Literal, Union, cast, get_args
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from agent_surface._base._json import JsonValue, thaw_json
from agent_surface.errors import AgentSchemaError
from agent_surface.schemas import AgentSchema, from_json_schema, from_type
from tests.core.schemas.strategies import Schema, schemas, values_for

SLOW = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


class Colour(StrEnum):
    """Text values."""

    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    """Integer values."""

    LOW = 1
    HIGH = 2


class Ratio(Enum):
    """Float values, one of them whole."""

    HALF = 0.5
    WHOLE = 1.0


class Mixed(Enum):
    """Values of several types."""

    NUMBER = 2
    TEXT = "two"


class Circle(BaseModel):
    """Tagged, with a tag that has a default."""

    kind: Literal["circle"] = "circle"
    radius: float = Field(gt=0)


class Square(BaseModel):
    """Tagged, closed."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["square", "rectangle"]
    side: int = 1


class Window(TypedDict, total=False):
    """An object without a class."""

    a: int
    b: list[str]


@dataclasses.dataclass
class Point:
    """A plain dataclass."""

    x: float
    y: int | None = None


LEAVES: list[Any] = [
    int,
    float,
    str,
    bool,
    NoneType,
    Any,
    date,
    datetime,
    UUID,
    Colour,
    Level,
    Ratio,
    Mixed,
    Literal["a"],
    Literal[1, "x"] | None,
    Literal[True],
    Circle,
    Window,
    Point,
    dict[str, Any],
    set[int],
    set[str],
    frozenset[Colour],
    Annotated[int, Field(ge=-3, lt=10)],
    Annotated[int, Field(multiple_of=3)],
    Annotated[float, Field(gt=-2.5, le=7)],
    Annotated[str, Field(min_length=1, max_length=3)],
    Annotated[str, Field(pattern="^[a-z]+$")],
    Annotated[str, Field(pattern="a$")],
    Annotated[set[str], Field(min_length=2)],
    Annotated[Circle | Square, Field(discriminator="kind")],
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> Any:  # noqa: ANN401 - any type form
    """A type without validators of its own."""
    kind = draw(st.sampled_from(["leaf", "leaf", "list", "union", "model"] if depth else ["leaf"]))
    if kind == "list":
        return cast("Any", Annotated)[cast("Any", list)[draw(types(depth - 1))], Field(min_length=1)]
    if kind == "union":
        # Written as an expression, | would need types that define it.
        members = (*draw(st.lists(types(depth - 1), min_size=1, max_size=2)), NoneType)
        return cast("Any", Union)[members]
    if kind == "model":
        return draw(models(depth))
    return draw(st.sampled_from(LEAVES))


@st.composite
def models(draw: st.DrawFn, depth: int) -> type[BaseModel]:
    """A model whose fields may have defaults and names that differ from their JSON names."""
    fields: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True)):
        alias = "x" if name == "a" and draw(st.booleans()) else None
        inner = draw(types(depth - 1))
        takes_none = inner in {NoneType, Any} or NoneType in get_args(inner)
        default = draw(st.sampled_from([..., None])) if takes_none else ...
        fields[name] = (inner, Field(default, alias=alias))
    config = draw(
        st.sampled_from([ConfigDict(extra="allow"), ConfigDict(extra="forbid"), ConfigDict(populate_by_name=True)])
    )
    return cast("type[BaseModel]", cast("Any", create_model)("Made", __config__=config, **fields))


def accepts(schema: AgentSchema[object], value: JsonValue) -> bool:
    """The verdict of ``parse``."""
    try:
        schema.parse(value)
    except AgentSchemaError as error:
        if not error.issues or any(len(issue.message) > 300 for issue in error.issues):
            pytest.fail(f"not fit for an agent: {error.issues}")
        return False
    return True


def library_accepts(schema: Schema, value: JsonValue) -> bool:
    """The verdict of the library on its own, with its own format checks."""
    library = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return bool(cast("Any", library).is_valid(value))


def is_judged_more_strictly(value: object) -> bool:
    """Line breaks at the end: Python's ``$`` and some of the library's formats overlook them."""
    if isinstance(value, str):
        return value.endswith("\n")
    if isinstance(value, dict):
        return any(map(is_judged_more_strictly, cast("dict[str, object]", value).values()))
    return isinstance(value, list) and any(map(is_judged_more_strictly, cast("list[object]", value)))


@pytest.mark.requirement("AS-SCHEMA-004")
@SLOW
@given(st.data())
def test_a_raw_schema_is_judged_as_the_library_judges_it(data: st.DataObject) -> None:
    """Random schemas of the subset, random values near them."""
    document = data.draw(schemas())
    schema = from_json_schema(document)
    for _ in range(3):
        value = data.draw(values_for(document))
        if not is_judged_more_strictly(value):
            assert accepts(schema, value) == library_accepts(document, value)


@pytest.mark.requirement("AS-SCHEMA-002", "AS-SCHEMA-004")
@SLOW
@given(st.data())
def test_a_type_is_judged_as_its_published_schema_is(data: st.DataObject) -> None:
    """Random models and types without validators, random values near their schemas."""
    schema = from_type(data.draw(types()))
    document = cast("Schema", thaw_json(schema.json_schema))
    for _ in range(3):
        value = data.draw(values_for(document))
        if not is_judged_more_strictly(value):
            assert accepts(schema, value) == library_accepts(document, value)


@pytest.mark.requirement("AS-SCHEMA-002")
@SLOW
@given(st.data())
def test_what_was_read_is_written_as_it_is_published(data: st.DataObject) -> None:
    """A value that went through a type satisfies the type's own schema again, and is read back as the same."""
    schema = from_type(data.draw(types()))
    value = data.draw(values_for(cast("Schema", thaw_json(schema.json_schema))))
    if accepts(schema, value):
        written = schema.dump(schema.parse(value))
        assert schema.dump(schema.parse(written)) == written
