"""What a caller sends and what it gets back: values at the boundary of the pipeline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json
from agent_surface.errors import AgentSurfaceError, CapabilityErrorPayload


class ConsumerKind(StrEnum):
    """How a consumer reaches the surface."""

    EMBEDDED = "embedded"
    WEBMCP = "webmcp"
    MCP_BRIDGE = "mcp-bridge"
    TEST = "test"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConsumer:
    """Who asks. Two consumers with the same kind and id are the same consumer.

    Attributes:
        id: At most 128 characters; opaque to the library.
        kind: How it reaches the surface.
        grants: Free-form strings that the application's policies interpret.
    """

    id: str
    kind: ConsumerKind = ConsumerKind.EMBEDDED
    grants: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """``kind:id``, the normalized identity used for deduplication, evidence and quotas."""
        return self.kind + ":" + self.id


ANONYMOUS = AgentConsumer(id="anonymous")


class Effect(StrEnum):
    """What a capability does to the world."""

    NONE = "none"
    LOCAL_STATE = "local-state"
    NAVIGATION = "navigation"
    SERVER_QUERY = "server-query"
    SERVER_MUTATION = "server-mutation"
    EXTERNAL_SIDE_EFFECT = "external-side-effect"
    DESTRUCTIVE = "destructive"


class Confirmation(StrEnum):
    """How much a capability asks a person. Ordered: ``never`` < ``optional`` < ``required``."""

    NEVER = "never"
    OPTIONAL = "optional"
    REQUIRED = "required"


class AuditLevel(StrEnum):
    """How much of a call the audit keeps: nothing, its facts, or its facts and input."""

    NONE = "none"
    METADATA = "metadata"
    FULL = "full"


class Plane(StrEnum):
    """``view`` for what the user interface does, ``domain`` for what the back end does."""

    VIEW = "view"
    DOMAIN = "domain"


class CapabilityKind(StrEnum):
    """The three kinds of capability a component can offer."""

    OBSERVATION = "observation"
    ACTION = "action"
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInvocation:
    """A request to use one capability. Every text is at most 128 characters.

    Attributes:
        capability_id: ``view:…`` or ``domain:…``. A malformed one is answered ``CAPABILITY_NOT_FOUND``.
        input: A JSON value; ``None`` means ``{}`` for actions and procedures.
        invocation_id: Idempotency key, scoped to the consumer; generated when absent.
        instance_id: Needed when several live instances match.
        registration_id: Staleness token from the catalogue.
        surface_version: Enforced for destructive and external effects only.
        surface_id: Checked when given.
        confirmation_id: Evidence of an approval.
    """

    capability_id: str
    input: JsonValue = None
    invocation_id: str | None = None
    instance_id: str | None = None
    registration_id: str | None = None
    surface_version: str | None = None
    surface_id: str | None = None
    confirmation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationOk:
    """The capability ran. ``has_output`` tells an absent output from a ``null`` one."""

    invocation_id: str
    capability_id: str
    surface_version: str
    output: FrozenJson = None
    has_output: bool = False
    surface_changed: bool = False
    status: Literal["ok"] = field(default="ok", init=False)

    def to_json(self) -> dict[str, JsonValue]:
        """The result as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "status": "ok",
            "invocationId": self.invocation_id,
            "capabilityId": self.capability_id,
        }
        if self.has_output:
            result["output"] = thaw_json(self.output)
        result["surfaceVersion"] = self.surface_version
        if self.surface_changed:
            result["surfaceChanged"] = True
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationError:
    """The capability did not run, or did not run to its end."""

    invocation_id: str
    capability_id: str
    surface_version: str
    error: CapabilityErrorPayload
    surface_changed: bool = False
    status: Literal["error"] = field(default="error", init=False)

    def to_json(self) -> dict[str, JsonValue]:
        """The result as a fresh JSON object with camelCase keys."""
        result: dict[str, JsonValue] = {
            "status": "error",
            "invocationId": self.invocation_id,
            "capabilityId": self.capability_id,
            "error": self.error.to_json(),
            "surfaceVersion": self.surface_version,
        }
        if self.surface_changed:
            result["surfaceChanged"] = True
        return result


AgentInvocationResult: TypeAlias = InvocationOk | InvocationError


class CancelToken(Protocol):
    """Tells a handler that its call should end. Cooperative: nothing is interrupted by force."""

    @property
    def cancelled(self) -> bool:
        """Whether the call was asked to end."""
        ...

    @property
    def reason(self) -> str | None:
        """``timeout``, ``cancelled``, ``unmounted`` or ``closed``; ``None`` while not cancelled."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once when cancelled (at once if it is already); returns a disposer."""
        ...

    def wait(self) -> Awaitable[None]:
        """Awaitable that ends when the call is cancelled."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedConfirmation:
    """Evidence that a person approved exactly this call; ``approved_at`` is ISO 8601 in UTC."""

    id: str
    approved_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReadContext:
    """What an observation, a predicate with a context, or a precondition may know of its call."""

    capability_id: str
    registration_id: str
    consumer: AgentConsumer
    host: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    cancel: CancelToken


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentActionContext(AgentReadContext):
    """What an action handler may know of its call."""

    invocation_id: str
    confirmation: ApprovedConfirmation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRef:
    """A component by type and instance."""

    type: str
    instance_id: str = "default"

    def to_json(self) -> dict[str, JsonValue]:
        """The reference as a fresh JSON object."""
        return {"type": self.type, "instanceId": self.instance_id}


class PreconditionFailure(AgentSurfaceError):  # noqa: N818  # returned as often as raised
    """Returned or raised by a precondition; ``message`` and ``details`` are shown to the agent.

    Attributes:
        message: Agent-facing text, cut at 300 characters.
        details: Agent-facing JSON.
    """

    def __init__(self, message: str, details: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, JsonValue] = dict(details or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a capability can be used right now, and if not why."""

    available: bool
    reason: str | None = None


AVAILABLE = Availability(available=True)
