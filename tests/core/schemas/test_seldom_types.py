"""Types of Python that are seldom seen in a declaration: what is published for them, and what is refused."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Discriminator, StringConstraints, Tag

from agent_surface import (
    AgentProcedureContract,
    AgentSchemaError,
    AgentSurfaceDefinitionError,
    ServiceExecutor,
    bind_procedure,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
)
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
