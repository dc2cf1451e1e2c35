"""Phase 6: policies over the effective input, and the person's decision."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping

from agent_surface._base._json import FrozenJson
from agent_surface._failures import (
    cancelled,
    confirmation_invalid,
    confirmation_required,
    rate_limited,
)
from agent_surface._pipeline._call import Call
from agent_surface._pipeline._policy_context import PolicyContexts
from agent_surface._pipeline._preconditions import check_precondition
from agent_surface.confirmations._evidence import (
    ConfirmationBinding,
    ConfirmationsFull,
    EvidencePending,
    EvidenceRefused,
)
from agent_surface.confirmations._store import ConfirmationStore
from agent_surface.confirmations._values import PendingConfirmation
from agent_surface.errors import AgentCapabilityError, RegistryClosedError
from agent_surface.invocation import ApprovedConfirmation, Confirmation
from agent_surface.policies import run_chain
from agent_surface.policies._policy import InvokeContext

logger = logging.getLogger("agent_surface.pipeline")

MAX_SUMMARY_CHARACTERS = 300
_MAX_VALUE_CHARACTERS = 60


class Approval:
    """Decides whether a person must be asked, asks, and checks what the person said (AS-CONFIRM, AS-INVOKE)."""

    def __init__(self, *, confirmations: ConfirmationStore, contexts: PolicyContexts, surface_id: str) -> None:
        self._confirmations = confirmations
        self._contexts = contexts
        self._surface_id = surface_id

    def run_policies(self, call: Call) -> Awaitable[object] | None:
        """Phase 6, first half: the invoke chain over the validated effective input (AS-INVOKE-002).

        Returns:
            ``None`` when everybody agreed without awaiting, else what has to be awaited.
        """
        hooks = call.capability.chain.invoke
        if not hooks:
            return None
        context: InvokeContext = self._contexts.invoke(call)
        call.demands = context.demands
        return run_chain(hooks, context)

    def decide(self, call: Call) -> None:
        """Phase 6, second half: hold presented evidence, or ask a person.

        Raises:
            AgentCapabilityError: ``CONFIRMATION_REQUIRED`` when a person has to decide, ``CONFIRMATION_INVALID`` for
                evidence that does not count, ``RATE_LIMITED`` when too many are asked already. A precondition that
                fails comes first, so that nobody is asked in vain (AS-INVOKE-006).
        """
        if call.request.confirmation_id is not None:
            self._claim(call, call.request.confirmation_id)
        elif call.demands or call.capability.confirmation is Confirmation.REQUIRED:
            call.phase = 7
            check_precondition(call, self._contexts)
            call.phase = 6
            call.require_open()
            raise self._ask(call, "client")

    def server_demand(self, call: Call, error: AgentCapabilityError) -> AgentCapabilityError:
        """A back end's own demand as an ordinary record for the person to answer."""
        summary = error.payload.details.get("summary")
        return self._ask(call, "server", summary if isinstance(summary, str) else None)

    def _claim(self, call: Call, confirmation_id: str) -> None:
        if not isinstance(confirmation_id, str):
            raise confirmation_invalid("mismatch")
        try:
            claim = self._confirmations.claim(confirmation_id, self._binding(call))
        except EvidenceRefused as refusal:
            raise confirmation_invalid(refusal.reason, refusal.note) from None
        except EvidencePending as waiting:
            raise _required(waiting.pending) from None
        call.claim = claim
        call.evidence = ApprovedConfirmation(id=claim.confirmation_id, approved_at=claim.approved_at)

    def _ask(self, call: Call, origin: str, summary: str | None = None) -> AgentCapabilityError:
        live = call.capability
        registration = live.registration
        wanted = next((demand.summary for demand in call.demands if demand.summary), None)
        try:
            pending = self._confirmations.request(
                self._binding(call),
                description=live.description,
                component_type=registration.type,
                instance_id=registration.instance_id,
                consumer=call.consumer,
                summary=summary or wanted or compose_summary(live.description, call.effective_input),
                bound_fields=call.bound_fields,
                origin=origin,
            )
        except ConfirmationsFull:
            return rate_limited("confirmations-full")
        except RegistryClosedError:
            return cancelled(closed=True)
        return _required(pending)

    def _binding(self, call: Call) -> ConfirmationBinding:
        live = call.capability
        return ConfirmationBinding(
            surface_id=self._surface_id,
            registration_id=live.registration.registration_id,
            capability_id=live.capability_id,
            consumer_key=call.consumer_key,
            effect=live.effect,
            effective_input=call.effective_input,
        )


def _required(pending: PendingConfirmation) -> AgentCapabilityError:
    return confirmation_required(
        confirmation_id=pending.confirmation_id,
        summary=pending.summary,
        expires_at=pending.expires_at,
        effect=pending.effect.value,
        origin=pending.origin,
    )


def compose_summary(description: str, effective_input: FrozenJson) -> str:
    """Plain text of what is about to happen; the host shows the whole input beside it."""
    fields = effective_input.items() if isinstance(effective_input, Mapping) else ()
    parts = [f"{key}: {_brief(value)}" for key, value in fields]
    text = description.rstrip(". ") + (f" ({'; '.join(parts)})" if parts else "")
    return text if len(text) <= MAX_SUMMARY_CHARACTERS else text[: MAX_SUMMARY_CHARACTERS - 1] + "…"


def _brief(value: FrozenJson) -> str:
    if isinstance(value, tuple):
        if len(value) <= 3 and all(isinstance(item, str | int | float) for item in value):
            return ", ".join(_brief(item) for item in value)
        return f"{len(value)} items"
    if isinstance(value, Mapping):
        return f"{len(value)} fields"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "none" if value is None else str(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else text[: _MAX_VALUE_CHARACTERS - 1] + "…"
