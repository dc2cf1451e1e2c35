"""Types of Python that are seldom seen in a declaration: what is published for them, and what is refused."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from logging import LogRecord
from typing import Annotated, Literal

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    StringConstraints,
    Tag,
    WithJsonSchema,
    computed_field,
)
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from agent_surface import (
    AgentProcedureContract,
    AgentSchemaError,
    AgentSurfaceDefinitionError,
    JsonValue,
    ServiceExecutor,
    bind_procedure,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
)
from agent_surface._base._json import NotJsonError, freeze_json
from tests.core.surface_fixtures import ONE, Surface


def test_a_schema_tells_the_python_type_behind_it() -> None:
    """For whoever writes adapters; plain JSON has none."""
    assert from_type(int).python_type is int
    assert from_json_schema({"type": "integer"}).python_type is None


def test_an_issue_is_told_as_json() -> None:
    """A pointer and words."""
    with pytest.raises(AgentSchemaError) as caught:
        from_type(int).parse_json("x")
    (issue,) = caught.value.issues
    assert issue.to_json() == {"path": issue.path, "message": issue.message}


def test_flags_of_a_compiled_pattern_are_refused() -> None:
    """JSON Schema has no place for them, so the agent would be told something else than what is checked."""
    with pytest.raises(AgentSurfaceDefinitionError, match="flags of a compiled pattern"):
        from_type(Annotated[str, StringConstraints(pattern=re.compile("a", re.IGNORECASE))])


class _Cat(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["cat"]


class _Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"] = "dog"


def test_a_union_told_apart_by_a_function_is_checked_by_the_function() -> None:
    """What is published lists the kinds; which it is, the author says."""

    def which(value: object) -> str:
        return str(value["kind"]) if isinstance(value, dict) else str(getattr(value, "kind", ""))

    schema = from_type(Annotated[Annotated[_Cat, Tag("cat")] | Annotated[_Dog, Tag("dog")], Discriminator(which)])
    assert "anyOf" in schema.json_schema
    assert schema.parse_json({"kind": "cat"}) == _Cat(kind="cat")
    with pytest.raises(AgentSchemaError):
        schema.parse_json({"kind": "cow"})


def test_a_bound_field_is_shown_in_no_default_and_no_example_of_the_whole_input() -> None:
    """An agent that copies an example must not be refused for it; what is no object in there stays as it is."""
    binding = bind_procedure(MOVE, bind={"site": str})
    surface = Surface(ONE, MOVE, procedures=ServiceExecutor({"seldom.move": str}))
    surface.mount(procedures=[binding])
    (shown,) = surface.registry.snapshot().procedures
    schema = shown.to_json()["inputSchema"]
    assert isinstance(schema, dict)
    assert schema["default"] == {"id": "d-1"}
    assert schema["examples"] == [{"id": "d-2"}, "d-3"]


MOVE: AgentProcedureContract[object, object] = define_agent_procedure_contract(
    id="domain:seldom.move",
    description="Move a device",
    input=from_json_schema(
        {
            "type": "object",
            "properties": {"id": {"type": "string"}, "site": {"type": "string"}},
            "required": ["id", "site"],
            "additionalProperties": False,
            "default": {"id": "d-1", "site": "here"},
            "examples": [{"id": "d-2", "site": "there"}, "d-3"],
        }
    ),
    effect="server-mutation",
    confirmation="never",
)


class _Chained:
    """A type whose values go through two steps."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        return core_schema.chain_schema([core_schema.str_schema(), core_schema.decimal_schema()])


class _Unpublishable:
    """A type that is nothing but a function."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        return core_schema.no_info_plain_validator_function(lambda value: value)


def test_every_step_of_a_chain_is_looked_at() -> None:
    """What a later step checks is published nowhere."""
    with pytest.raises(AgentSurfaceDefinitionError, match="Decimal is not supported"):
        from_type(_Chained)


def test_a_type_without_a_schema_is_refused() -> None:
    """There is nothing an agent could be told of it."""
    with pytest.raises(AgentSurfaceDefinitionError, match="has no JSON form"):
        from_type(_Unpublishable)


@pytest.mark.parametrize("schema", [{"const": float("nan")}, {"type": object()}])
def test_a_schema_that_is_no_json_is_refused_where_it_is_none(schema: dict[str, object]) -> None:
    """It could not be hashed, published or sent."""
    with pytest.raises(AgentSurfaceDefinitionError, match="a schema has to be JSON") as caught:
        from_json_schema(schema)
    assert caught.value.path == f"/{next(iter(schema))}"


class _Point(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    x: int


class _Shapes(BaseModel):
    model_config = ConfigDict(extra="forbid")
    seen: set[_Point]
    also: set[_Point | None]
    last: _Point


def test_a_set_of_models_that_are_used_elsewhere_too_is_a_list_of_different_ones() -> None:
    """The item is defined once and referred to; what it is decides whether it can be in a set."""
    schema = from_type(_Shapes)
    value: dict[str, JsonValue] = {"seen": [{"x": 1}, {"x": 2}], "also": [None, {"x": 1}], "last": {"x": 1}}
    parsed = schema.parse_json(value)
    assert ({point.x for point in parsed.seen}, len(parsed.also), parsed.last) == ({1, 2}, 2, _Point(x=1))
    with pytest.raises(AgentSchemaError):
        schema.parse_json({**value, "seen": [{"x": 1}, {"x": 1}]})


class _Stripped(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)
    name: str
    size: int
    codes: list[Annotated[str, StringConstraints(max_length=3)]]


def test_white_space_may_be_stripped_where_nothing_looks_at_it() -> None:
    """A limit from above holds before and after."""
    parsed = from_type(_Stripped).parse_json({"name": " a ", "size": 1, "codes": [" b"]})
    assert parsed == _Stripped(name="a", size=1, codes=["b"])


def test_a_class_that_makes_itself_in_its_own_way_may_refuse_in_its_own_words() -> None:
    """Its constructor is a validator of the author's."""

    class Even(BaseModel):
        model_config = ConfigDict(extra="forbid")
        number: int

        @override
        def model_post_init(self, context: object) -> None:
            """Refuse what is odd."""
            if self.number % 2:
                raise ValueError("must be even")

    with pytest.raises(AgentSchemaError) as caught:
        from_type(Even).parse_json({"number": 3})
    assert [issue.message for issue in caught.value.issues] == ["must be even"]


def test_a_branch_of_a_tagged_union_that_is_written_out_must_name_its_tag_too() -> None:
    """The tag tells the branches apart, default or not, wherever the branch is defined."""
    written = {"type": "object", "properties": {"kind": {"const": "cat"}}, "additionalProperties": False}
    schema = from_type(Annotated[Annotated[_Cat, WithJsonSchema(written)] | _Dog, Discriminator("kind")])
    assert schema.parse_json({"kind": "cat"}) == _Cat(kind="cat")
    with pytest.raises(AgentSchemaError):
        schema.parse_json({})


def test_a_computed_field_that_breaks_makes_the_output_no_json(expected_logs: list[LogRecord]) -> None:
    """The traceback is for the log; the output is a defect like any other."""

    class Total(BaseModel):
        model_config = ConfigDict(extra="forbid")
        parts: list[int]

        @computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation says
        @property
        def mean(self) -> float:
            """Nothing has no mean."""
            return sum(self.parts) / len(self.parts)

    schema = from_type(Total)
    with pytest.raises(NotJsonError):
        freeze_json(schema.dump(Total(parts=[])))
    assert [record.getMessage() for record in expected_logs] == ["a serializer of an output schema failed"]
