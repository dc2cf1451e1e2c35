"""Every exception of the library, and the closed set of errors an agent can be told.

::

    AgentSurfaceError
    ├── AgentCapabilityError          a typed refusal; becomes an error result at the boundary
    ├── AgentSurfaceDefinitionError   the author must fix a declaration, binding or contract
    ├── AgentSchemaError              a value does not satisfy a schema
    ├── AgentSurfaceDefectError       the application returned something that is no JSON (outside production)
    ├── RegistryClosedError           the registry was closed
    ├── WrongThreadError              called from a thread that does not own the registry
    └── AuthorityError                a manifest or authority is not genuine
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from agent_surface._base._json import FrozenJson, JsonValue, thaw_json


class ErrorCode(StrEnum):
    """What an agent can be told went wrong. Nothing outside this set ever reaches one."""

    CAPABILITY_NOT_FOUND = "CAPABILITY_NOT_FOUND"
    CAPABILITY_NOT_AVAILABLE = "CAPABILITY_NOT_AVAILABLE"
    AMBIGUOUS_INSTANCE = "AMBIGUOUS_INSTANCE"
    COMPONENT_UNMOUNTED = "COMPONENT_UNMOUNTED"
    STALE_CAPABILITY = "STALE_CAPABILITY"
    INVOCATION_CONFLICT = "INVOCATION_CONFLICT"
    INVALID_INPUT = "INVALID_INPUT"
    NOT_AUTHENTICATED = "NOT_AUTHENTICATED"
    NOT_AUTHORIZED = "NOT_AUTHORIZED"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    CONFIRMATION_INVALID = "CONFIRMATION_INVALID"
    RATE_LIMITED = "RATE_LIMITED"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"
    EXECUTION_FAILED = "EXECUTION_FAILED"


class DefinitionErrorCode(StrEnum):
    """What is wrong with a declaration, a binding or the contract."""

    INVALID_ID = "INVALID_ID"
    INVALID_DEFINITION = "INVALID_DEFINITION"
    UNSUPPORTED_SCHEMA = "UNSUPPORTED_SCHEMA"
    PLANE_VIOLATION = "PLANE_VIOLATION"
    DUPLICATE_CAPABILITY = "DUPLICATE_CAPABILITY"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"


class Retry(StrEnum):
    """What a caller should do before it tries again."""

    NO = "no"
    YES = "yes"
    WITH_CHANGES = "with-changes"
    WITH_CONFIRMATION = "with-confirmation"
    AFTER_REFRESH = "after-refresh"
    AFTER_DELAY = "after-delay"


_NO_DETAILS: Mapping[str, FrozenJson] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityErrorPayload:
    """The agent-visible part of an error.

    Attributes:
        code: One of the closed set.
        message: Imperative text from a template, at most 300 characters, without internals.
        retry: What to do before trying again.
        details: Frozen JSON, only the keys that belong to the code.
    """

    code: ErrorCode
    message: str
    retry: Retry
    details: Mapping[str, FrozenJson] = field(default_factory=lambda: _NO_DETAILS)

    def to_json(self) -> dict[str, JsonValue]:
        """The payload as a fresh JSON object with the wire's camelCase keys."""
        payload: dict[str, JsonValue] = {"code": self.code.value, "message": self.message, "retry": self.retry.value}
        if self.details:
            payload["details"] = {key: thaw_json(value) for key, value in self.details.items()}
        return payload


class AgentSurfaceError(Exception):
    """Base of every exception this library raises."""


class AgentCapabilityError(AgentSurfaceError):
    """A capability refused with a typed payload.

    Raised inside the pipeline by phases, policies, preconditions and procedure executors, and turned into an
    error result exactly once, at the boundary. ``invoke`` never raises it.

    Attributes:
        payload: What the agent is told.
        log_facts: What only the log and the audit may say (the refusing policy, the cause).
    """

    def __init__(self, payload: CapabilityErrorPayload, *, log_facts: Mapping[str, object] | None = None) -> None:
        super().__init__(f"{payload.code}: {payload.message}")
        self.payload = payload
        self.log_facts: Mapping[str, object] = MappingProxyType(dict(log_facts or {}))


class AgentSurfaceDefinitionError(AgentSurfaceError):
    """A declaration, binding or contract is wrong and its author must fix it.

    Raised in every environment, when the object is made or registered; never because of what an agent sent.

    Attributes:
        code: The kind of mistake.
        subject: The capability, component or schema it is about.
        path: Where inside the subject (JSON Pointer or field name), or empty.
    """

    def __init__(self, code: DefinitionErrorCode, message: str, *, subject: str = "", path: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.subject = subject
        self.path = path


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaIssue:
    """One reason why a value was refused: ``path`` is a JSON Pointer, ``message`` is safe to show an agent."""

    path: str
    message: str

    def to_json(self) -> dict[str, JsonValue]:
        """The issue as a fresh JSON object."""
        return {"path": self.path, "message": self.message}


class AgentSchemaError(AgentSurfaceError):
    """A value does not satisfy a schema. Raised by ``AgentSchema.parse`` and by nothing else.

    Attributes:
        issues: At least one issue, in the order of their paths; agent-visible.
    """

    def __init__(self, issues: Sequence[SchemaIssue]) -> None:
        self.issues = tuple(issues)
        super().__init__("; ".join(f"{issue.path or '/'}: {issue.message}" for issue in self.issues))


class AgentSurfaceDefectError(AgentSurfaceError):
    """The application produced something that is no JSON value or breaks its own output schema.

    Raised from ``invoke`` outside production, after the call has settled as ``EXECUTION_FAILED``.

    Attributes:
        result: The result the call settled with, for whoever must answer a caller all the same.
    """

    result: object = None


class RegistryClosedError(AgentSurfaceError):
    """The registry was closed and takes no more calls."""


class WrongThreadError(AgentSurfaceError):
    """A registry was used from a thread that does not own it."""

    def __init__(self, operation: str) -> None:
        super().__init__(
            f"{operation} was called from a thread that does not own this registry; "
            "use registry.invoke_threadsafe(...), the one way in from another thread"
        )


class AuthorityError(AgentSurfaceError):
    """A manifest does not verify, or an authority was not made by ``create_capability_authority``."""
