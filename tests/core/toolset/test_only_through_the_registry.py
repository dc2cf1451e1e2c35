"""No adapter can execute a capability except through the registry, for want of anything else it could use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from agent_surface import (
    AgentConsumer,
    AgentExternalToolContract,
    AgentInvocation,
    AgentInvocationResult,
    AgentSurfaceEvent,
    AgentSurfaceSnapshot,
    CallNext,
    ConfirmationWaiter,
    InvocationError,
    JsonValue,
    PolicyContext,
    ServiceExecutor,
    SnapshotContext,
    bind_procedure,
    capability_error,
    create_agent_exposure_gateway,
    create_agent_toolset,
    define_external_agent_tool_contract,
)
from agent_surface.errors import ErrorCode
from agent_surface.testing import ManualClock, contract_authority
from tests.architecture.source import imports, is_within, modules
from tests.core.surface_fixtures import ACT, ALICE, GO, READ, RENAME, Surface, output, refusal

RENAMING = "domain:devices.rename"
INPUTS: dict[str, JsonValue] = {ACT: {"a": 1}, GO: {}, READ: {}, RENAMING: {"id": "1", "name": "x"}}
SEND: AgentExternalToolContract[JsonValue, None] = define_external_agent_tool_contract(
    id="external:mail.send", description="Send a mail", effect="server-query"
)


class Turnstile:
    """A registry as an adapter sees it, with its one way in counted and, on demand, shut."""

    def __init__(self, surface: Surface, *, shut: bool) -> None:
        self._registry = surface.registry
        self._shut = shut
        self.passed: list[str] = []

    @property
    def surface_id(self) -> str:
        """The registry's."""
        return self._registry.surface_id

    @property
    def version(self) -> str:
        """The registry's."""
        return self._registry.version

    @property
    def confirmation_waiter(self) -> ConfirmationWaiter:
        """The registry's."""
        return self._registry.confirmation_waiter

    def snapshot(self, context: SnapshotContext | None = None) -> AgentSurfaceSnapshot:
        """The registry's."""
        return self._registry.snapshot(context)

    def subscribe(self, listener: Callable[[AgentSurfaceEvent], None]) -> Callable[[], None]:
        """The registry's."""
        return self._registry.subscribe(listener)

    async def invoke(
        self, request: AgentInvocation, *, consumer: AgentConsumer | None = None, timeout_ms: int | None = None
    ) -> AgentInvocationResult:
        """The registry's, unless shut."""
        self.passed.append(request.capability_id)
        if self._shut:
            return InvocationError(
                invocation_id="",
                capability_id=request.capability_id,
                surface_version=self.version,
                error=capability_error(ErrorCode.CANCELLED).payload,
            )
        return await self._registry.invoke(request, consumer=consumer, timeout_ms=timeout_ms)


def _mounted(ran: list[str], *policies: object) -> Surface:
    """A surface with one capability of each kind, each of which is noticed."""

    def noticed(name: str, value: object = None) -> Callable[[], object]:
        def handler() -> object:
            ran.append(name)
            return value

        return handler

    def rename(id: str, name: str) -> str:  # the field's own name
        ran.append(RENAMING)
        return f"{id} {name}"

    surface = Surface(policies=policies)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  (policies of the tests)
    surface.registry.set_procedure_executor(ServiceExecutor({"devices.rename": rename}))
    surface.mount(read=noticed(READ, 0), act=noticed(ACT), go=noticed(GO), procedures=[bind_procedure(RENAME)])
    return surface


async def _use_everything(turnstile: Turnstile, mode: Literal["direct", "meta"]) -> list[AgentInvocationResult]:
    with create_agent_toolset(turnstile, consumer=ALICE, mode=mode, confirmations="two-phase") as toolset:
        if mode == "direct":
            return [await tool.execute(INPUTS[tool.definition.capability_id]) for tool in toolset.tools()]
        discover, read, act = toolset.tools()
        return [
            await discover.execute({}),
            await read.execute({"capabilityId": READ}),
            *[
                await act.execute({"capabilityId": target, "input": value})
                for target, value in INPUTS.items()
                if target != READ
            ],
        ]


@pytest.mark.requirement("AS-AUTHORITY-004")
@pytest.mark.parametrize("mode", ["direct", "meta"])
async def test_a_toolset_executes_by_the_registrys_invoke_and_by_nothing_else(mode: Literal["direct", "meta"]) -> None:
    """With that way shut no handler runs; with it open each runs once for each time through."""
    ran: list[str] = []
    surface = _mounted(ran)
    shut = Turnstile(surface, shut=True)
    await _use_everything(shut, mode)
    assert (ran, sorted(shut.passed)) == ([], sorted(INPUTS))
    opened = Turnstile(surface, shut=False)
    assert {result.status for result in await _use_everything(opened, mode)} == {"ok"}
    assert (sorted(ran), sorted(opened.passed)) == (sorted(INPUTS), sorted(INPUTS))
    surface.registry.close()


class Nobody:
    """A registry's policy that lets nobody do anything."""

    name = "nobody"

    def on_authorize(self, context: PolicyContext, call_next: CallNext) -> object:
        """Refuse."""
        raise capability_error(ErrorCode.NOT_AUTHORIZED)


@pytest.mark.requirement("AS-AUTHORITY-004")
async def test_what_the_registrys_policy_refuses_no_adapter_executes() -> None:
    """The pipeline stands between every adapter and every handler, a tool on its own included."""
    ran: list[str] = []
    surface = _mounted(ran, Nobody())
    for mode in ("direct", "meta"):
        results = await _use_everything(Turnstile(surface, shut=False), mode)
        codes = [result.error.code for result in results if isinstance(result, InvocationError)]
        assert codes == [ErrorCode.NOT_AUTHORIZED] * len(INPUTS)
    for policies in ((), (Nobody(),)):
        gateway = create_agent_exposure_gateway(
            contract_authority(SEND), environment="test", policies=policies, clock=ManualClock()
        )
        (tool,) = gateway.expose([SEND.bind(execute=lambda: ran.append("sent"))])
        result = await tool.execute()
        assert (refusal(result)[0] == "NOT_AUTHORIZED") if policies else (output(result) is None)
        gateway.close()
    assert ran == ["sent"]
    surface.registry.close()


@pytest.mark.requirement("AS-AUTHORITY-004", "AS-CONFIRM-007")
def test_an_adapter_imports_nothing_that_holds_a_handler_or_an_approval() -> None:
    """What it is given are values and a protocol; what it could run a handler with is out of its reach."""
    adapters = ("agent_surface.toolset", "agent_surface.assistant", "agent_surface.mcp")
    forbidden = (
        "agent_surface._pipeline",
        "agent_surface._registrations",
        "agent_surface.contracts",
        "agent_surface.procedures",
        "agent_surface.authority",
        "agent_surface.registry._internals",
        "agent_surface.confirmations._store",
        "agent_surface.confirmations._evidence",
        "agent_surface.confirmations.ConfirmationController",
        "agent_surface.explain",
    )
    strays = [
        found
        for module in modules("agent_surface")
        if is_within(module.name, *adapters)
        for found in imports(module)
        if is_within(found.imported, *forbidden)
        or (is_within(found.imported, "agent_surface.registry") and not is_within(module.name, "agent_surface.mcp"))
    ]
    assert strays == []
