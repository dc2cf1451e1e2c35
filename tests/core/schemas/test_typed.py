"""``from_model`` and ``from_type``: what they publish, read, write, and what they refuse to promise."""

from __future__ import annotations

import dataclasses
import ipaddress
import logging
import pathlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, cast
from uuid import UUID

import pytest
from pydantic import (
    UUID4,
    AfterValidator,
    AliasChoices,
    AnyUrl,
    BaseModel,
    ByteSize,
    ConfigDict,
    EmailStr,
    Field,
    HttpUrl,
    Json,
    JsonValue,
    NaiveDatetime,
    PastDate,
    RootModel,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from agent_surface._base._json import NotJsonError, freeze_json, thaw_json
from agent_surface.errors import AgentSchemaError, AgentSurfaceDefinitionError, DefinitionErrorCode
from agent_surface.schemas import AgentSchema, from_model, from_type


class Colour(StrEnum):
    """Colours a row can have."""

    RED = "red"
    BLUE = "blue"


class Circle(BaseModel):
    """A circle."""

    kind: Literal["circle"] = "circle"
    radius: int


class Square(BaseModel):
    """A square."""

    kind: Literal["square", "rectangle"]
    side: Annotated[float, Field(title="Side in mm")] = 1.5


class Select(BaseModel):
    """Select rows."""

    model_config = ConfigDict(extra="forbid", title="Selection")

    ids: set[str] = Field(description="Row ids", min_length=1)
    colour: Colour = Colour.RED
    since: datetime | None = None
    shape: Annotated[Circle | Square, Field(discriminator="kind")] | None = None
    row_count: Annotated[int, Field(alias="rowCount", ge=0)] = 0


class Recursive(BaseModel):
    """A tree."""

    children: list[Recursive] = []


class Point(NamedTuple):
    """A tuple with names."""

    x: int


@dataclasses.dataclass(frozen=True)
class Place:
    """A hashable item."""

    name: str
    floor: int = 0


def refused(schema: AgentSchema[Any], value: object) -> list[tuple[str, str]]:
    """The issues of a value that has to be refused."""
    with pytest.raises(AgentSchemaError) as caught:
        schema.parse(value)
    return [(issue.path, issue.message) for issue in caught.value.issues]


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_model_is_published_inside_the_subset() -> None:
    """Sets are unique arrays, tagged unions have const tags, generated titles are gone and chosen ones stay."""
    assert thaw_json(from_model(Select).json_schema) == {
        "type": "object",
        "title": "Selection",
        "description": "Select rows.",
        "properties": {
            "ids": {
                "type": "array",
                "items": {"type": "string"},
                "uniqueItems": True,
                "minItems": 1,
                "description": "Row ids",
            },
            "colour": {"$ref": "#/$defs/Colour", "default": "red"},
            "since": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "default": None},
            "shape": {
                "anyOf": [
                    {"anyOf": [{"$ref": "#/$defs/Circle", "required": ["kind"]}, {"$ref": "#/$defs/Square"}]},
                    {"type": "null"},
                ],
                "default": None,
            },
            "rowCount": {"type": "integer", "minimum": 0, "default": 0},
        },
        "required": ["ids"],
        "additionalProperties": False,
        "$defs": {
            "Colour": {"type": "string", "enum": ["red", "blue"], "description": "Colours a row can have."},
            "Circle": {
                "type": "object",
                "description": "A circle.",
                "properties": {
                    "kind": {"type": "string", "const": "circle", "default": "circle"},
                    "radius": {"type": "integer"},
                },
                "required": ["radius"],
            },
            "Square": {
                "type": "object",
                "description": "A square.",
                "properties": {
                    "kind": {"type": "string", "enum": ["square", "rectangle"]},
                    "side": {"type": "number", "title": "Side in mm", "default": 1.5},
                },
                "required": ["kind"],
            },
        },
    }


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_handler_receives_the_model() -> None:
    """Typed values for what JSON writes as text, arrays and numbers; defaults apply."""
    schema = from_model(Select)
    read = schema.parse(
        {
            "ids": ["a", "b"],
            "since": "2026-01-31T09:30:00Z",
            "shape": {"kind": "circle", "radius": 3.0},
            "rowCount": 2.0,
        }
    )
    assert (read.ids, read.shape, read.row_count) == ({"a", "b"}, Circle(radius=3), 2)
    assert (read.since, read.colour) == (datetime.fromisoformat("2026-01-31T09:30:00+00:00"), Colour.RED)
    assert type(read.row_count) is int
    assert schema.takes_object


@pytest.mark.requirement("AS-SCHEMA-002")
def test_defaults_show_in_what_is_written() -> None:
    """The effective input that a person approves has every field."""
    schema = from_model(Select)
    assert schema.dump(schema.parse({"ids": ["a"]})) == {
        "ids": ["a"],
        "colour": "red",
        "since": None,
        "shape": None,
        "rowCount": 0,
    }


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, [("/ids", "is required")]),
        ({"ids": ["a", "a"]}, [("/ids", "must not repeat an item")]),
        ({"ids": "a"}, [("/ids", "must be an array")]),
        ({"ids": ["a"], "rowCount": "2"}, [("/rowCount", "must be an integer")]),
        ({"ids": ["a"], "rowCount": True}, [("/rowCount", "must be an integer")]),
        ({"ids": ["a"], "colour": "RED"}, [("/colour", 'must be one of "red", "blue"')]),
        ({"ids": ["a"], "shape": {"radius": 1}}, [("/shape/kind", "is required")]),
        (
            {"ids": ["a"], "since": "2026-01-31"},
            [("/since", "must be a date and time with a zone, such as 2026-01-31T09:30:00Z")],
        ),
    ],
)
def test_nothing_the_published_schema_refuses_is_accepted(value: object, expected: list[tuple[str, str]]) -> None:
    """Pydantic alone would coerce some of these; the issues are in the schema's words."""
    assert refused(from_model(Select), value) == expected


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_field_is_known_by_its_json_name_only() -> None:
    """``populate_by_name`` would let an unpublished name through, or trip over one that means something else."""

    class Input(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        row: int = Field(7, alias="rowNumber")

    assert from_model(Input).parse({"row": "anything", "rowNumber": 3}).row == 3
    assert from_model(Input).parse({"row": 1}).row == 7


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.parametrize(
    ("tp", "path"),
    [
        (Decimal, ""),
        (Fraction, ""),
        (complex, ""),
        (bytes, ""),
        (time, ""),
        (timedelta, ""),
        pytest.param(tuple[int, str], "", id="pair"),
        pytest.param(tuple[int, ...], "", id="long tuple"),
        (Point, ""),
        (deque[int], ""),
        (Iterable[int], ""),
        (Callable[[], int], ""),
        (type, ""),
        (AnyUrl, ""),
        (HttpUrl, ""),
        (EmailStr, ""),
        (SecretStr, ""),
        (ByteSize, ""),
        (Json[int], ""),
        (pathlib.Path, ""),
        (re.Pattern[str], ""),
        (PastDate, ""),
        (NaiveDatetime, ""),
        (UUID4, "/format"),
        (ipaddress.IPv4Address, "/format"),
        pytest.param(dict[str, int], "/additionalProperties", id="values of one type"),
        pytest.param(dict[int, Any], "", id="integer keys"),
        pytest.param(dict[Annotated[str, Field(min_length=1)], Any], "", id="limited keys"),
        pytest.param(Annotated[dict[str, Any], Field(min_length=1)], "/minProperties", id="limited entries"),
        pytest.param(set[Any], "", id="set of anything"),
        pytest.param(set[Circle], "", id="set of models"),
        pytest.param(Annotated[set[UUID], Field(min_length=2)], "", id="limited set"),
        pytest.param(Annotated[date, Field(ge=date(2026, 1, 1))], "", id="limited date"),
        pytest.param(Annotated[float, Field(multiple_of=0.1)], "", id="fractional multiple"),
        pytest.param(Annotated[int | str, Field(ge=1)], "/ge", id="limited union"),
        pytest.param(Annotated[str, Field(pattern=r"^\p{L}+$")], "/pattern", id="Rust pattern"),
        pytest.param(Annotated[str, Field(pattern=re.compile("a", re.IGNORECASE))], "", id="pattern flags"),
        pytest.param(Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], "", id="stripping"),
        (list[Annotated[Decimal, Field(gt=0)] | None], "/items"),
        (Recursive, "/$defs/Recursive/properties/children/items/$ref"),
    ],
)
def test_what_the_subset_cannot_say_is_refused_with_its_path(tp: Any, path: str) -> None:  # noqa: ANN401 - a type
    """Else an agent would be shown one thing and held to another."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_type(tp)
    assert caught.value.code is DefinitionErrorCode.UNSUPPORTED_SCHEMA
    assert caught.value.path == path


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_refused_type_deep_inside_a_model_is_found() -> None:
    """The path is that of the published schema, with the name the field has in JSON."""

    class Line(BaseModel):
        price: Decimal = Field(alias="unitPrice")

    class Order(BaseModel):
        lines: list[Line]
        again: Line | None = None

    with pytest.raises(AgentSurfaceDefinitionError, match="smallest unit") as caught:
        from_model(Order)
    assert caught.value.path == "/properties/lines/items/properties/unitPrice"


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.parametrize(
    ("config", "path"),
    [
        (ConfigDict(str_max_length=3), ""),
        (ConfigDict(str_strip_whitespace=True), ""),
        (ConfigDict(json_schema_extra={"minProperties": 1}), "/minProperties"),
    ],
)
def test_a_configuration_that_is_not_published_is_refused(config: ConfigDict, path: str) -> None:
    """Limits for all text of a model do not appear in its JSON Schema."""

    class Base(BaseModel):
        model_config = config

    class Input(Base):
        name: str = Field(min_length=1)

    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_model(Input)
    assert caught.value.path == path


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_field_with_several_names_is_refused() -> None:
    """Only one of them is published."""

    class Input(BaseModel):
        row: int = Field(validation_alias=AliasChoices("row", "line"))

    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_model(Input)
    assert caught.value.path == "/properties/row"


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.parametrize("tp", ["Missing", "list[Missing]"])
def test_a_type_that_is_not_there_is_refused(tp: Any) -> None:  # noqa: ANN401 - a type
    """A forward reference that leads nowhere is the author's mistake, not a crash."""
    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_type(tp)
    assert caught.value.code is DefinitionErrorCode.UNSUPPORTED_SCHEMA


@pytest.mark.requirement("AS-SCHEMA-002")
def test_a_default_that_its_own_type_refuses_is_refused() -> None:
    """Every call without the field would fail when the effective input is checked."""

    class Inner(BaseModel):
        count: int = cast("int", None)

    class Input(BaseModel):
        inner: list[Inner]

    with pytest.raises(AgentSurfaceDefinitionError) as caught:
        from_model(Input)
    assert caught.value.path == "/$defs/Inner/properties/count/default"


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.parametrize(
    ("tp", "value", "expected"),
    [
        (list[int], [1, 2.0], [1, 2]),
        (int | None, None, None),
        (float, 3, 3.0),
        (Literal[1, "a"], 1.0, 1),
        (date, "2026-01-31", date(2026, 1, 31)),
        (UUID, "123e4567-e89b-12d3-a456-426614174000", UUID("123e4567-e89b-12d3-a456-426614174000")),
        (Sequence[Colour], ["red"], [Colour.RED]),
        (frozenset[int], [2, 1.0], frozenset({1, 2})),
        (set[Place], [{"name": "a"}], {Place("a")}),
        (dict[str, Any], {"n": 1.0}, {"n": 1.0}),
        (JsonValue, {"a": [1.0, None]}, {"a": [1.0, None]}),
        (RootModel[list[int]], [1.0], RootModel[list[int]]([1])),
        (int, 2**70, 2**70),
    ],
)
def test_types_are_read_from_what_json_has_for_them(tp: Any, value: object, expected: object) -> None:  # noqa: ANN401 - a type
    """Strict JSON mode; whole floats are integers where one is asked for and nowhere else."""
    read = from_type(tp).parse(value)
    assert read == expected
    assert repr(read) == repr(expected)


@pytest.mark.requirement("AS-SCHEMA-002")
def test_an_integer_too_large_for_a_float_is_refused_rather_than_made_infinite() -> None:
    """The handler would see a number that nobody sent."""
    schema = from_type(list[float])
    assert schema.parse([10**300]) == [1e300]
    assert refused(schema, [10**400]) == [("/0", "must be a number of ordinary size")]


@pytest.mark.requirement("AS-SCHEMA-002")
def test_an_authors_validator_speaks_for_itself() -> None:
    """Its words reach the agent with the path in the value; pydantic's own words never do."""
    failures = {
        "value": ValueError("Use the id of an open row."),
        "custom": PydanticCustomError("no_such_row", "Row {row} is closed.", {"row": 7}),
        "assert": AssertionError("Not this one."),
        "long": ValueError("x" * 1000),
        "silent": ValueError(),
    }

    class Item(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def known(cls, name: str) -> str:
            if name in failures:
                raise failures[name]
            return name

    class Input(BaseModel):
        items: list[Item | int]

        @model_validator(mode="after")
        def few(self) -> Input:
            if len(self.items) > 2:
                raise ValueError("Give at most two items.")
            return self

    schema = from_model(Input)
    assert refused(schema, {"items": [{"name": "value"}]})[0] == ("/items/0/name", "Use the id of an open row.")
    assert refused(schema, {"items": [1, {"name": "custom"}]})[0] == ("/items/1/name", "Row 7 is closed.")
    assert refused(schema, {"items": [{"name": "assert"}]})[0] == ("/items/0/name", "Not this one.")
    assert refused(schema, {"items": [{"name": "silent"}]})[0] == ("/items/0/name", "is not accepted")
    assert len(refused(schema, {"items": [{"name": "long"}]})[0][1]) == 300
    assert refused(schema, {"items": [1, 2, 3]}) == [("", "Give at most two items.")]
    for name in ("value", "custom", "assert", "silent"):
        for _, message in refused(schema, {"items": [{"name": name}]}):
            assert "pydantic" not in message
            assert "Item" not in message


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.allow_logs("agent_surface.schemas")
def test_a_validator_that_breaks_refuses_the_value_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The agent is told nothing of the exception; the log has all of it."""
    rows: dict[int, int] = {}

    def look_up(value: int) -> int:
        return rows[value]

    assert refused(from_type(Annotated[int, AfterValidator(look_up)]), 31337) == [("", "is not accepted")]
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert caplog.records[0].exc_info is not None


@pytest.mark.requirement("AS-SCHEMA-002")
@pytest.mark.allow_logs("agent_surface.schemas")
def test_a_published_schema_that_promises_too_much_is_logged_as_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    """An author can overwrite what pydantic publishes; the value is refused without pydantic's words."""
    tp = Annotated[int, Field(json_schema_extra={"type": ["integer", "string"]})]
    assert refused(from_type(tp), "s3cret") == [("", "is not accepted")]
    assert "defect" in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.requirement("AS-SER-001")
def test_typed_output_is_written_in_json_mode() -> None:
    """Models, also inside other types, dates, enumerations and sets."""
    schema = from_type(list[Select])
    value = [Select(ids={"b", "a", "c"}, colour=Colour.BLUE, since=datetime.fromisoformat("2026-01-31T09:30:00+01:00"))]
    assert schema.dump(value) == [
        {"ids": ["a", "b", "c"], "colour": "blue", "since": "2026-01-31T09:30:00+01:00", "shape": None, "rowCount": 0}
    ]
    assert from_type(dict[str, Any]).dump({"a": [1]}) == {"a": [1]}


@pytest.mark.requirement("AS-SER-001")
def test_equal_sets_are_written_alike() -> None:
    """An approval is for an exact value; the order in which a set happens to be iterated is none of it."""
    schema = from_type(dict[str, Any] | list[set[str] | None])
    # Multiples of the table's size: the order of insertion decides the order of iteration.
    numbers = from_type(set[int])
    assert numbers.dump({0, 8, 16}) == numbers.dump({16, 8, 0}) == [0, 16, 8]
    names = {f"row-{number}" for number in range(50)}
    assert schema.dump([names, None]) == [sorted(names), None]


@pytest.mark.requirement("AS-SER-001")
def test_plain_json_may_be_returned_for_a_model() -> None:
    """It is held to the schema all the same."""
    schema = from_model(Circle)
    assert schema.dump({"radius": 3}) == {"radius": 3}
    with pytest.raises(AgentSchemaError):
        schema.dump({"radius": "3"})


@pytest.mark.requirement("AS-SER-001")
@pytest.mark.parametrize(
    ("tp", "value"),
    [
        (Circle, Square(kind="square")),
        (list[Circle], [Square(kind="square")]),
        (list[Circle], (Circle(radius=1),)),
        (int, Decimal(1)),
        (str, datetime(2026, 1, 31)),  # noqa: DTZ001 - any datetime
        (dict[str, Any], {"a": object()}),
        (list[float], [float("nan")]),
        (Circle, None),
    ],
)
def test_output_of_another_type_is_a_defect(tp: Any, value: object) -> None:  # noqa: ANN401 - a type
    """Nothing is turned into JSON that the declaration did not announce."""
    with pytest.raises((NotJsonError, AgentSchemaError)):
        from_type(tp).dump(value)


@pytest.mark.requirement("AS-SER-001")
def test_a_model_that_was_made_wrong_is_a_defect() -> None:
    """``model_construct`` checks nothing; the output check does."""
    with pytest.raises((NotJsonError, AgentSchemaError)):
        from_model(Circle).dump(Circle.model_construct(radius="three"))


@pytest.mark.requirement("AS-SCHEMA-002")
def test_the_name_of_a_class_is_not_published_whatever_kind_it_is() -> None:
    """Agents see what the author wrote for them; a title that was chosen stays."""

    class Window(TypedDict):
        row: int

    class Titled(BaseModel):
        model_config = ConfigDict(json_schema_extra={"title": "Titled"})
        window: Window
        place: Place

    document = thaw_json(from_model(Titled).json_schema)
    assert isinstance(document, dict)
    assert document["title"] == "Titled"
    assert document["$defs"] == {
        "Window": {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]},
        "Place": {
            "type": "object",
            "description": "A hashable item.",
            "properties": {"name": {"type": "string"}, "floor": {"type": "integer", "default": 0}},
            "required": ["name"],
        },
    }


def test_publishing_warns_about_nothing() -> None:
    """A default that JSON cannot show is an annotation the agent does without."""

    class Input(BaseModel):
        token: str = Field(default_factory=lambda: "t")
        anything: Any = object()

    assert from_model(Input).json_schema["properties"] == freeze_json({"token": {"type": "string"}, "anything": {}})
