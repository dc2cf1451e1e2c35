"""The policies that ship."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import Literal

from typing_extensions import override

from agent_surface._base._json import FrozenJson
from agent_surface._base._user_errors import USER_ERRORS
from agent_surface._failures import capability_error, not_authorized, not_found, rate_limited
from agent_surface.audit import AuditRecord, AuditSink
from agent_surface.errors import ErrorCode
from agent_surface.invocation import AuditLevel
from agent_surface.policies._policy import (
    EXPOSE,
    HIDE,
    AgentEnvironment,
    CallNext,
    DiscoveryDecision,
    InvokeContext,
    PolicyContext,
)

logger = logging.getLogger("agent_surface.policies")

MAX_BUCKETS = 1_000


class _Named:
    """Name and JSON parameters, which a contract's attachment is compared with."""

    def __init__(self, name: str, parameters: Mapping[str, FrozenJson]) -> None:
        self.name = name
        self.parameters: Mapping[str, FrozenJson] = MappingProxyType(dict(parameters))

    @override
    def __repr__(self) -> str:
        return f"<policy {self.name} {dict(self.parameters)}>"


class _Authenticated(_Named):
    def __init__(self, user_key: str) -> None:
        super().__init__("authenticated", {"userKey": user_key})
        self._user_key = user_key

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        return EXPOSE if context.host.get(self._user_key) else HIDE

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        if not context.host.get(self._user_key):
            raise capability_error(ErrorCode.NOT_AUTHENTICATED)
        return call_next()


class _HasPermission(_Named):
    def __init__(self, permission: str, check: Callable[[PolicyContext], bool] | None) -> None:
        super().__init__(f"has-permission:{permission}", {"permission": permission})
        self._permission = permission
        self._check = check

    def _holds(self, context: PolicyContext) -> bool:
        if self._check is not None:
            return self._check(context)
        granted = context.host.get("permissions", ())
        return isinstance(granted, Collection) and not isinstance(granted, str) and self._permission in granted

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        return EXPOSE if self._holds(context) else HIDE

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        if not self._holds(context):
            raise not_authorized()
        return call_next()


class _TenantBoundary(_Named):
    def __init__(
        self,
        tenant_key: str,
        host_tenant: Callable[[PolicyContext], object] | None,
        component_tenant: Callable[[PolicyContext], object] | None,
    ) -> None:
        super().__init__("tenant-boundary", {"tenantKey": tenant_key})

        def of_host(context: PolicyContext) -> object:
            return context.host.get(tenant_key)

        def of_component(context: PolicyContext) -> object:
            return context.internal.get(tenant_key)

        self._host_tenant = host_tenant or of_host
        self._component_tenant = component_tenant or of_component

    def _same(self, context: PolicyContext) -> bool:
        tenant = self._host_tenant(context)
        return tenant is not None and tenant == self._component_tenant(context)

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        return EXPOSE if self._same(context) else HIDE

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        if not self._same(context):
            raise not_found()
        return call_next()


class _Environment(_Named):
    def __init__(self, names: tuple[AgentEnvironment, ...]) -> None:
        super().__init__("environment", {"names": names})
        self._names = names

    def on_discovery(self, context: PolicyContext) -> DiscoveryDecision:
        return EXPOSE if context.environment in self._names else HIDE

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        if context.environment not in self._names:
            raise not_found()
        return call_next()


class _RateLimit(_Named):
    def __init__(self, capacity: int, refill_per_second: float) -> None:
        if capacity < 1 or refill_per_second <= 0:
            raise ValueError("rate_limit needs a capacity of at least 1 and a positive refill_per_second")
        super().__init__("rate-limit", {"capacity": capacity, "refillPerSecond": refill_per_second})
        self._capacity = float(capacity)
        self._refill_per_ms = refill_per_second / 1_000
        # Least recently used first; a full bucket that is forgotten comes back as a full bucket.
        self._buckets: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> Awaitable[object]:
        key = (context.consumer.key, context.capability_id)
        now_ms = context.clock.monotonic_ms()
        tokens, at_ms = self._buckets.pop(key, (self._capacity, now_ms))
        tokens = min(self._capacity, tokens + (now_ms - at_ms) * self._refill_per_ms)
        refused = tokens < 1
        self._buckets[key] = (tokens if refused else tokens - 1, now_ms)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        if refused:
            raise rate_limited("rate", -int(-(1 - tokens) // self._refill_per_ms))
        return call_next()


class _RequireConfirmation(_Named):
    def __init__(
        self, when: Callable[[InvokeContext], bool] | None, summary: Callable[[InvokeContext], str] | str | None
    ) -> None:
        super().__init__("require-confirmation", {})
        self._when = when
        self._summary = summary

    def on_invoke(self, context: InvokeContext, call_next: CallNext) -> Awaitable[object]:
        if self._wanted(context):
            context.require_confirmation(self._text(context))
        return call_next()

    def _wanted(self, context: InvokeContext) -> bool:
        if self._when is None:
            return True
        try:
            return bool(self._when(context))
        except USER_ERRORS:
            logger.exception("the condition of require_confirmation raised for %s; asking", context.capability_id)
            return True

    def _text(self, context: InvokeContext) -> str | None:
        if self._summary is None or isinstance(self._summary, str):
            return self._summary
        try:
            return self._summary(context)
        except USER_ERRORS:
            logger.exception("the summary of require_confirmation raised for %s", context.capability_id)
            return None


class _Audit(_Named):
    def __init__(self, level: AuditLevel, sink: AuditSink) -> None:
        super().__init__("audit", {"level": level.value})
        self._level = level
        self._sink = sink

    def on_invoke(self, context: InvokeContext, call_next: CallNext) -> Awaitable[object]:
        if self._level is not AuditLevel.NONE:
            try:
                self._sink.record(self._attempt(context))
            except Exception:
                # What is written down decides about nothing: the call goes on, and the loss is in the log.
                logger.exception("the sink of an audit policy did not take a record of %s", context.capability_id)
        return call_next()

    def _attempt(self, context: InvokeContext) -> AuditRecord:
        return AuditRecord(
            kind="attempt",
            at_ms=context.clock.now_ms(),
            capability_id=context.capability_id,
            consumer_key=context.consumer.key,
            registration_id=context.registration_id,
            status="attempted",
            phase=6,
            input=context.effective_input if self._level is AuditLevel.FULL else None,
        )


def audit(*, sink: AuditSink, level: AuditLevel | Literal["none", "metadata", "full"] = AuditLevel.FULL) -> _Audit:
    """Write down every call that reaches phase 6, with its validated input, whatever becomes of it.

    The registry's own audit says how a call ended, in the detail its contract declares. This is for whoever wants more
    of some capabilities, or has to hand a record to somebody else, before anything is executed.

    Args:
        sink: Where the records go; one that raises costs the record and nothing else.
        level: ``full`` with the effective input, ``metadata`` without, ``none`` for nothing.

    Raises:
        ValueError: The level is none of these.
    """
    return _Audit(AuditLevel(level), sink)


def authenticated(user_key: str = "user") -> _Authenticated:
    """Only when the host context has a user; hides otherwise.

    Args:
        user_key: Key of the host context that holds the signed-in user.
    """
    return _Authenticated(user_key)


def has_permission(name: str, check: Callable[[PolicyContext], bool] | None = None) -> _HasPermission:
    """Only with a permission; hides otherwise.

    Args:
        name: The permission, looked up in ``host["permissions"]``.
        check: Replaces the look-up.
    """
    return _HasPermission(name, check)


def tenant_boundary(
    tenant_key: str = "tenantId",
    *,
    host_tenant: Callable[[PolicyContext], object] | None = None,
    component_tenant: Callable[[PolicyContext], object] | None = None,
) -> _TenantBoundary:
    """Only when the host's tenant is the component's; hides otherwise.

    Args:
        tenant_key: Key in the host context and in the registration's internal values.
        host_tenant: Replaces the look-up in the host context.
        component_tenant: Replaces the look-up in the internal values.
    """
    return _TenantBoundary(tenant_key, host_tenant, component_tenant)


def environment(*names: AgentEnvironment) -> _Environment:
    """Only in registries of these environments; hides otherwise."""
    return _Environment(names)


def rate_limit(*, capacity: int, refill_per_second: float) -> _RateLimit:
    """A token bucket per consumer and capability, on the registry's clock.

    Args:
        capacity: Calls that may come at once.
        refill_per_second: Calls per second that may come for ever.

    Raises:
        ValueError: A bound is not positive.
    """
    return _RateLimit(capacity, refill_per_second)


def require_confirmation(
    *,
    when: Callable[[InvokeContext], bool] | None = None,
    summary: Callable[[InvokeContext], str] | str | None = None,
) -> _RequireConfirmation:
    """Ask a person before the capability executes.

    Args:
        when: Only if this holds for the effective input; a condition that raises still asks.
        summary: Plain text for the person.
    """
    return _RequireConfirmation(when, summary)
