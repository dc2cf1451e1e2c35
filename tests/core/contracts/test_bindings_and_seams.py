"""What can be read from and assigned to a binding, and who hears of a declaration."""

# Handlers that are one expression are handed in as they are; the checker cannot infer what they take.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools

import pytest

from agent_surface import (
    ActionBinding,
    AgentExternalToolContract,
    AgentSurfaceDefinitionError,
    Concurrency,
    ObservationBinding,
    PreconditionFailure,
    define_agent_component_contract,
    define_external_agent_tool_contract,
)
from agent_surface._manifest import DeclarationRecord
from agent_surface.contracts._recording import listen_to_declarations
from tests.core.surface_fixtures import ACT, READ, Surface, nothing, output, refusal, zero


async def test_a_function_assigned_later_is_what_the_next_call_runs(surface: Surface) -> None:
    """A screen may put another function in place; the contract, and so the version, stays."""
    read = ObservationBinding(read=zero)
    act = ActionBinding(execute=nothing)
    surface.mount(read=read, act=act)
    version = surface.registry.version
    assert (read.read, act.execute, act.precondition) == (zero, nothing, None)
    assert output(await surface.invoke(READ)) == 0

    read.read = lambda: 7
    act.execute = lambda value: value
    assert output(await surface.invoke(READ)) == 7
    assert output(await surface.invoke(ACT, {"n": 1})) == {"n": 1}

    def refuse() -> None:
        raise PreconditionFailure("not now")

    act.precondition = refuse
    assert act.precondition is refuse
    assert refusal(await surface.invoke(ACT, {"n": 1}))[0] == "PRECONDITION_FAILED"
    act.precondition = None
    assert output(await surface.invoke(ACT, {"n": 2})) == {"n": 2}
    assert surface.registry.version == version


async def test_a_builtin_without_a_signature_is_given_the_input(surface: Surface) -> None:
    """Nothing tells how many arguments it takes; an action most often takes one."""
    surface.mount(act=max)
    assert output(await surface.invoke(ACT, {"a": 1, "b": 2})) == "b"


async def test_a_callable_that_takes_anything_is_given_everything(surface: Surface) -> None:
    """The input, and the context of the call."""

    def wrapped(*arguments: object, told: list[int]) -> None:
        told.append(len(arguments))

    told: list[int] = []
    surface.mount(act=functools.partial(wrapped, told=told))
    await surface.invoke(ACT, {})
    assert told == [2]


def test_a_mode_of_concurrency_that_does_not_exist_is_named() -> None:
    """Where it is declared, with the modes there are."""
    with pytest.raises(AgentSurfaceDefinitionError, match="'serial' is none of instance, capability, key, parallel"):
        Concurrency(mode="serial")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # wrong on purpose


def test_a_bound_tool_tells_the_contract_it_was_made_from() -> None:
    """A gateway shows it as it was declared."""
    contract: AgentExternalToolContract[object, object] = define_external_agent_tool_contract(
        id="external:seams.lookup", description="Look it up", effect="server-query"
    )
    bound = contract.bind(execute=nothing)
    assert bound.contract.id == contract.id


def test_a_contract_of_a_script_that_is_run_directly_is_refused() -> None:
    """Its identity would depend on how the program is started."""
    code = "from agent_surface import define_agent_component_contract as d\nd(type='t.script', description='A script')"
    with pytest.raises(AgentSurfaceDefinitionError, match="cannot be declared in a script"):
        exec(code, {"__name__": "__main__", "__spec__": None})


def test_declarations_are_told_to_whoever_listens_and_only_then() -> None:
    """In order, while the block lasts."""
    heard: list[DeclarationRecord] = []
    with listen_to_declarations(heard.append):
        define_agent_component_contract(type="seams.first", description="First")
        define_agent_component_contract(type="seams.second", description="Second")
    define_agent_component_contract(type="seams.third", description="Third")
    assert [record.declaration_id.rpartition(":")[2] for record in heard] == ["seams.first", "seams.second"]
