"""Phase 7: the author's own check against live state. Asked before a person is, and where a handler starts."""

from __future__ import annotations

import logging

from agent_surface._base._awaitables import abandon
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._failures import precondition_failed
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface.contracts import ActionBinding
from agent_surface.errors import AgentCapabilityError
from agent_surface.invocation import PreconditionFailure

logger = logging.getLogger("agent_surface.pipeline")

_PRECONDITION_BROKEN = "The state could not be checked. Read it again before trying once more."


def check_precondition(call: Call, contexts: PolicyContexts) -> None:
    """Phase 7: the author's check against live state.

    Raises:
        AgentCapabilityError: ``PRECONDITION_FAILED`` in the author's words.
    """
    binding = call.capability.binding
    handler = binding.precondition_handler if isinstance(binding, ActionBinding) else None
    if handler is None:
        return
    try:
        # The check gets a copy of its own: what it does to it must not reach the handler (QT-CONF-002).
        arguments = () if not handler.takes else (call.fresh_input(),)
        if handler.takes > 1:
            arguments = (*arguments, call.read_context(contexts.host()))
        verdict = handler.function(*arguments)
    except PreconditionFailure as failure:
        raise _failed(failure, call) from failure
    except AgentCapabilityError:
        raise
    except USER_ERRORS as error:
        logger.exception("the precondition of %s raised", call.capability.capability_id)
        raise precondition_failed(_PRECONDITION_BROKEN) from error
    if isinstance(verdict, PreconditionFailure):
        raise _failed(verdict, call)
    if verdict is not None:
        abandon(verdict)
        logger.error("the precondition of %s returned no PreconditionFailure", call.capability.capability_id)
        raise precondition_failed(_PRECONDITION_BROKEN)


def _failed(failure: PreconditionFailure, call: Call) -> AgentCapabilityError:
    """The refusal in the author's words; details that are no JSON are the author's mistake, not the agent's."""
    message = failure.message if isinstance(failure.message, str) and failure.message.strip() else _PRECONDITION_BROKEN
    try:
        return precondition_failed(message, failure.details)
    except (ValueError, AttributeError):
        logger.exception("the details of a failed precondition of %s are no JSON", call.capability.capability_id)
        return precondition_failed(message)
