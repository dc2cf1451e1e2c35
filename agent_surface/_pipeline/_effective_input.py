"""Phase 5: the input that counts, from what the agent sent and what the screen supplies."""

from __future__ import annotations

import logging

from agent_surface._base._awaitables import abandon
from agent_surface._base._json import FrozenJson, JsonValue, NotJsonError, freeze_json, thaw_json
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._failures import binding_failed, invalid_input
from agent_surface._pipeline._call import Call
from agent_surface.contracts import ProcedureBinding
from agent_surface.errors import AgentSchemaError, AgentSurfaceError, SchemaIssue
from agent_surface.schemas import AgentSchema

logger = logging.getLogger("agent_surface.pipeline")


def make_effective_input(call: Call) -> None:
    """Parse the agent's part, bind live values, validate the whole.

    Raises:
        AgentCapabilityError: ``INVALID_INPUT`` for the agent's part or a locked field; ``PRECONDITION_FAILED`` with
            ``binding-failed`` when what the screen supplies does not make a valid whole.
    """
    live = call.capability
    if live.input is None:
        if call.agent_input is not None and call.agent_input != {}:
            raise invalid_input([SchemaIssue(path="", message="takes no input")])
        call.effective_input = freeze_json({})
        return
    if isinstance(live.binding, ProcedureBinding):
        _merge(call, live.binding, live.input)
        return
    value = thaw_json(call.agent_input) if call.agent_input is not None else {}
    try:
        call.parsed = live.input.parse_json(value)
        call.effective_input = _effective(live.input, call.parsed, call.agent_input)
    except AgentSchemaError as error:
        raise invalid_input(error.issues) from error


def _effective(schema: AgentSchema[object], parsed: object, agent_input: FrozenJson) -> FrozenJson:
    """The parsed value as frozen JSON: with a model, its defaults show."""
    if isinstance(parsed, dict):
        return agent_input if agent_input is not None else freeze_json({})
    return freeze_json(schema.dump(parsed))


def _merge(call: Call, binding: ProcedureBinding, schema: AgentSchema[object]) -> None:
    supplied = thaw_json(call.agent_input) if call.agent_input is not None else {}
    if isinstance(supplied, dict):
        locked = [key for key in binding.locked_keys if key in supplied]
        if locked:
            raise invalid_input(
                [SchemaIssue(path=f"/{key}", message="comes from the screen and cannot be supplied") for key in locked],
                locked,
            )
    try:
        part = binding.agent_parser.parse(supplied)
    except AgentSchemaError as error:
        raise invalid_input(error.issues) from error
    merged: dict[str, JsonValue] = dict(part) if isinstance(part, dict) else {}
    from_screen = tuple(key for key in binding.bind if key not in merged)
    try:
        for key in from_screen:
            merged[key] = _read(binding, key)
        parsed = schema.parse(merged)
        effective = freeze_json(schema.dump(parsed)) if not isinstance(parsed, dict) else freeze_json(merged)
    except (AgentSchemaError, NotJsonError) as error:
        logger.warning("the bound input of %s is not valid: %s", call.capability.capability_id, error)
        raise binding_failed({"cause": str(error)}) from error
    call.parsed = parsed
    call.effective_input = effective
    call.bound_fields = from_screen


def _read(binding: ProcedureBinding, key: str) -> JsonValue:
    """The value of one bound field, copied: the screen may hold and change the original."""
    try:
        value: object = binding.bind[key]()
    except AgentSurfaceError as error:
        raise binding_failed({"field": key, "cause": str(error)}) from error
    except USER_ERRORS as error:
        logger.exception("reading the bound field %s of %s raised", key, binding.seal.contract.id)
        raise binding_failed({"field": key, "cause": type(error).__name__}) from error
    try:
        return thaw_json(freeze_json(list(value) if isinstance(value, tuple) else value))
    except NotJsonError:
        abandon(value)
        raise
