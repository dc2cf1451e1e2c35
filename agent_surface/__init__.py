"""Agent Surface: let an assistant operate an application through declared, reviewed, confirmed capabilities.

Above: ``qt_binding`` and applications. Below: pydantic and jsonschema. This is the core; it knows nothing of Qt.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent_surface._base._canonical import canonical_json
    from agent_surface._base._json import FrozenJson, JsonSchema, JsonValue, thaw_json
    from agent_surface._base._limits import AgentSurfaceLimits
    from agent_surface._base._ports import Clock, HandlerRunner, HostLoop, IdSource, TimerHandle, WorkerThreads
    from agent_surface._base._threads import DaemonThreadPool
    from agent_surface._failures import capability_error
    from agent_surface._registrations import RegistrationCandidate, RegistrationGuard, RegistrationHandle
    from agent_surface._snapshot import (
        ActionDescriptor,
        AgentSurfaceSnapshot,
        BoundFieldDescriptor,
        ComponentDescriptor,
        ObservationDescriptor,
        ProcedureDescriptor,
        RouteInfo,
        SnapshotBudget,
        SnapshotContext,
    )
    from agent_surface.audit import (
        AuditRecord,
        AuditSink,
        CombinedAuditSink,
        JsonlAuditSink,
        LoggingAuditSink,
        MemoryAuditSink,
        redact_paths,
        verify_audit_file,
    )
    from agent_surface.authority import (
        CapabilityAuthority,
        assert_capability_authority,
        create_capability_authority,
        load_capability_authority,
    )
    from agent_surface.confirmations import (
        ConfirmationController,
        ConfirmationOutcome,
        ConfirmationResolution,
        ConfirmationWaiter,
        PendingConfirmation,
    )
    from agent_surface.contracts import (
        ActionBinding,
        ActionContract,
        AgentComponentContract,
        AgentExternalToolContract,
        AgentProcedureContract,
        BoundComponent,
        BoundExternalTool,
        Concurrency,
        ObservationBinding,
        ObservationContract,
        ProcedureBinding,
        ProcedureRef,
        action_contract,
        bind_procedure,
        define_agent_component_contract,
        define_agent_procedure_contract,
        define_external_agent_tool_contract,
        observation_contract,
    )
    from agent_surface.errors import (
        AgentCapabilityError,
        AgentSchemaError,
        AgentSurfaceDefectError,
        AgentSurfaceDefinitionError,
        AgentSurfaceError,
        AuthorityError,
        CapabilityErrorPayload,
        DefinitionErrorCode,
        ErrorCode,
        RegistryClosedError,
        Retry,
        SchemaIssue,
        WrongThreadError,
    )
    from agent_surface.events import (
        AgentSurfaceEvent,
        AvailabilityChanged,
        CollisionSuspected,
        ComponentRegistered,
        ComponentRejected,
        ComponentUnregistered,
        ConfirmationRequested,
        ConfirmationResolved,
        InvocationSettled,
        InvocationStarted,
        SurfaceChanged,
    )
    from agent_surface.exposure import AgentExposureGateway, ExposedTool, create_agent_exposure_gateway
    from agent_surface.invocation import (
        ANONYMOUS,
        AVAILABLE,
        AgentActionContext,
        AgentConsumer,
        AgentInvocation,
        AgentInvocationResult,
        AgentReadContext,
        ApprovedConfirmation,
        AuditLevel,
        Availability,
        CancelToken,
        CapabilityKind,
        ComponentRef,
        Confirmation,
        ConsumerKind,
        Effect,
        InvocationError,
        InvocationOk,
        Plane,
        PreconditionFailure,
    )
    from agent_surface.policies import (
        EXPOSE,
        HIDE,
        AgentEnvironment,
        AgentPolicy,
        CallNext,
        DiscoveryDecision,
        DiscoveryOutcome,
        InvokeContext,
        PolicyAttachment,
        PolicyContext,
        TakeOver,
        authenticated,
        disable,
        environment,
        has_permission,
        rate_limit,
        require_confirmation,
        tenant_boundary,
    )
    from agent_surface.procedures import HttpExecutor, ProcedureExecutor, ProcedureInfo, ServiceExecutor
    from agent_surface.registry import AgentSurfaceRegistry, RegistryStatistics, create_agent_surface_registry
    from agent_surface.schemas import EMPTY_OBJECT_SCHEMA, AgentSchema, from_json_schema, from_model, from_type
    from agent_surface.toolset import AgentTool, AgentToolset, create_agent_toolset

__all__ = [
    "ANONYMOUS",
    "AVAILABLE",
    "EMPTY_OBJECT_SCHEMA",
    "EXPOSE",
    "HIDE",
    "ActionBinding",
    "ActionContract",
    "ActionDescriptor",
    "AgentActionContext",
    "AgentCapabilityError",
    "AgentComponentContract",
    "AgentConsumer",
    "AgentEnvironment",
    "AgentExposureGateway",
    "AgentExternalToolContract",
    "AgentInvocation",
    "AgentInvocationResult",
    "AgentPolicy",
    "AgentProcedureContract",
    "AgentReadContext",
    "AgentSchema",
    "AgentSchemaError",
    "AgentSurfaceDefectError",
    "AgentSurfaceDefinitionError",
    "AgentSurfaceError",
    "AgentSurfaceEvent",
    "AgentSurfaceLimits",
    "AgentSurfaceRegistry",
    "AgentSurfaceSnapshot",
    "AgentTool",
    "AgentToolset",
    "ApprovedConfirmation",
    "AuditLevel",
    "AuditRecord",
    "AuditSink",
    "AuthorityError",
    "Availability",
    "AvailabilityChanged",
    "BoundComponent",
    "BoundExternalTool",
    "BoundFieldDescriptor",
    "CallNext",
    "CancelToken",
    "CapabilityAuthority",
    "CapabilityErrorPayload",
    "CapabilityKind",
    "Clock",
    "CollisionSuspected",
    "CombinedAuditSink",
    "ComponentDescriptor",
    "ComponentRef",
    "ComponentRegistered",
    "ComponentRejected",
    "ComponentUnregistered",
    "Concurrency",
    "Confirmation",
    "ConfirmationController",
    "ConfirmationOutcome",
    "ConfirmationRequested",
    "ConfirmationResolution",
    "ConfirmationResolved",
    "ConfirmationWaiter",
    "ConsumerKind",
    "DaemonThreadPool",
    "DefinitionErrorCode",
    "DiscoveryDecision",
    "DiscoveryOutcome",
    "Effect",
    "ErrorCode",
    "ExposedTool",
    "FrozenJson",
    "HandlerRunner",
    "HostLoop",
    "HttpExecutor",
    "IdSource",
    "InvocationError",
    "InvocationOk",
    "InvocationSettled",
    "InvocationStarted",
    "InvokeContext",
    "JsonSchema",
    "JsonValue",
    "JsonlAuditSink",
    "LoggingAuditSink",
    "MemoryAuditSink",
    "ObservationBinding",
    "ObservationContract",
    "ObservationDescriptor",
    "PendingConfirmation",
    "Plane",
    "PolicyAttachment",
    "PolicyContext",
    "PreconditionFailure",
    "ProcedureBinding",
    "ProcedureDescriptor",
    "ProcedureExecutor",
    "ProcedureInfo",
    "ProcedureRef",
    "RegistrationCandidate",
    "RegistrationGuard",
    "RegistrationHandle",
    "RegistryClosedError",
    "RegistryStatistics",
    "Retry",
    "RouteInfo",
    "SchemaIssue",
    "ServiceExecutor",
    "SnapshotBudget",
    "SnapshotContext",
    "SurfaceChanged",
    "TakeOver",
    "TimerHandle",
    "WorkerThreads",
    "WrongThreadError",
    "action_contract",
    "assert_capability_authority",
    "authenticated",
    "bind_procedure",
    "canonical_json",
    "capability_error",
    "create_agent_exposure_gateway",
    "create_agent_surface_registry",
    "create_agent_toolset",
    "create_capability_authority",
    "define_agent_component_contract",
    "define_agent_procedure_contract",
    "define_external_agent_tool_contract",
    "disable",
    "environment",
    "from_json_schema",
    "from_model",
    "from_type",
    "has_permission",
    "load_capability_authority",
    "observation_contract",
    "rate_limit",
    "redact_paths",
    "require_confirmation",
    "tenant_boundary",
    "thaw_json",
    "verify_audit_file",
]

# The modules below load when a name of theirs is first asked for: a program that needs an error or a value of a call
# does not wait for schemas and the registry. Each name stands in three places, and a test holds them together.
_HOMES: Final = {
    "_base._canonical": "canonical_json",
    "_base._json": "FrozenJson JsonSchema JsonValue thaw_json",
    "_base._limits": "AgentSurfaceLimits",
    "_base._ports": "Clock HandlerRunner HostLoop IdSource TimerHandle WorkerThreads",
    "_base._threads": "DaemonThreadPool",
    "_failures": "capability_error",
    "_registrations": "RegistrationCandidate RegistrationGuard RegistrationHandle",
    "_snapshot": (
        "ActionDescriptor AgentSurfaceSnapshot BoundFieldDescriptor ComponentDescriptor ObservationDescriptor "
        "ProcedureDescriptor RouteInfo SnapshotBudget SnapshotContext"
    ),
    "audit": (
        "AuditRecord AuditSink CombinedAuditSink JsonlAuditSink LoggingAuditSink MemoryAuditSink redact_paths "
        "verify_audit_file"
    ),
    "authority": (
        "CapabilityAuthority assert_capability_authority create_capability_authority load_capability_authority"
    ),
    "confirmations": (
        "ConfirmationController ConfirmationOutcome ConfirmationResolution ConfirmationWaiter PendingConfirmation"
    ),
    "contracts": (
        "ActionBinding ActionContract AgentComponentContract AgentExternalToolContract AgentProcedureContract "
        "BoundComponent BoundExternalTool Concurrency ObservationBinding ObservationContract ProcedureBinding "
        "ProcedureRef action_contract bind_procedure define_agent_component_contract "
        "define_agent_procedure_contract define_external_agent_tool_contract observation_contract"
    ),
    "errors": (
        "AgentCapabilityError AgentSchemaError AgentSurfaceDefectError AgentSurfaceDefinitionError "
        "AgentSurfaceError AuthorityError CapabilityErrorPayload DefinitionErrorCode ErrorCode "
        "RegistryClosedError Retry SchemaIssue WrongThreadError"
    ),
    "events": (
        "AgentSurfaceEvent AvailabilityChanged CollisionSuspected ComponentRegistered ComponentRejected "
        "ComponentUnregistered ConfirmationRequested ConfirmationResolved InvocationSettled InvocationStarted "
        "SurfaceChanged"
    ),
    "exposure": "AgentExposureGateway ExposedTool create_agent_exposure_gateway",
    "invocation": (
        "ANONYMOUS AVAILABLE AgentActionContext AgentConsumer AgentInvocation AgentInvocationResult "
        "AgentReadContext ApprovedConfirmation AuditLevel Availability CancelToken CapabilityKind "
        "ComponentRef Confirmation ConsumerKind Effect InvocationError InvocationOk Plane PreconditionFailure"
    ),
    "policies": (
        "AgentEnvironment AgentPolicy CallNext DiscoveryDecision DiscoveryOutcome EXPOSE HIDE InvokeContext "
        "PolicyAttachment PolicyContext TakeOver authenticated disable environment has_permission rate_limit "
        "require_confirmation tenant_boundary"
    ),
    "procedures": "HttpExecutor ProcedureExecutor ProcedureInfo ServiceExecutor",
    "registry": "AgentSurfaceRegistry RegistryStatistics create_agent_surface_registry",
    "schemas": "AgentSchema EMPTY_OBJECT_SCHEMA from_json_schema from_model from_type",
    "toolset": "AgentTool AgentToolset create_agent_toolset",
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A public name, from the module it lives in; afterwards it is an ordinary attribute."""
    home = _HOME_OF.get(name)
    if home is not None:
        value: object = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
        return value
    if name in _HOMES and not name.startswith("_"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
