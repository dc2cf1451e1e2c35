"""What the memory soak calls: one round of everything an application and its consumers do to a surface.

A round says of each call what must come of it, so a soak that has stopped doing what it was written for fails.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from agent_surface import (
    ActionBinding,
    AgentConsumer,
    AgentInvocation,
    AgentInvocationResult,
    AgentReadContext,
    AgentSurfaceLimits,
    AgentSurfaceRegistry,
    Availability,
    Concurrency,
    ConsumerKind,
    InvocationError,
    JsonValue,
    ObservationBinding,
    PreconditionFailure,
    RegistrationHandle,
    ServiceExecutor,
    SnapshotContext,
    action_contract,
    bind_procedure,
    create_agent_surface_registry,
    create_agent_toolset,
    create_capability_authority,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    observation_contract,
    rate_limit,
)
from agent_surface._manifest import make_manifest
from agent_surface.contracts._records import find_declaration

LIMITS = AgentSurfaceLimits(confirmation_ttl_ms=1_000)
NUMBER = from_json_schema(
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
)

DEVICE = define_agent_component_contract(
    type="soak.device",
    description="A device",
    observations={
        "level": observation_contract(description="Read the level", output=from_type(int)),
        "history": observation_contract(description="Read the history", output=from_type(list[int])),
    },
    actions={
        "set": action_contract(description="Set it", input=NUMBER, effect="local-state"),
        "calibrate": action_contract(
            description="Calibrate it", input=NUMBER, output=NUMBER, effect="local-state", idempotent=True
        ),
        "break": action_contract(description="Break it", effect="local-state"),
        "wait": action_contract(
            description="Wait", effect="local-state", concurrency=Concurrency(mode="parallel", max=8)
        ),
        "wipe": action_contract(description="Wipe it", input=NUMBER, effect="local-state", confirmation="required"),
        "drain": action_contract(description="Drain it", effect="local-state"),
        "open": action_contract(description="Open it", effect="navigation"),
    },
)
DIALOG = define_agent_component_contract(
    type="soak.dialog",
    description="A dialog that comes and goes",
    actions={"accept": action_contract(description="Accept it", effect="local-state")},
)
RENAME = define_agent_procedure_contract(
    id="domain:devices.rename",
    description="Rename a device",
    input=NUMBER,
    output=from_type(str),
    effect="server-mutation",
    confirmation="never",
)

OK = "ok"


class Mixture:
    """A surface in production, and rounds of calls on it.

    Attributes:
        registry: The surface.
        invocations: How many calls were made.
        outcomes: How often each came of them.
    """

    def __init__(self) -> None:
        records = [find_declaration(item) for item in (DEVICE, DIALOG, RENAME)]
        self.registry: AgentSurfaceRegistry = create_agent_surface_registry(
            # The manifest is handed over as a compiler would write it, so that production accepts it.
            authority=create_capability_authority(
                make_manifest((record for record in records if record is not None), completeness="proven")
            ),
            environment="production",
            limits=LIMITS,
            policies=(rate_limit(capacity=10**9, refill_per_second=10**9),),
            procedures=ServiceExecutor({"devices.rename": _rename}),
        )
        self.invocations = 0
        self.outcomes: Counter[str] = Counter()
        self._round = 0
        self._level = 0
        self._device = self.registry.register(
            DEVICE.bind(
                observations={"level": self._read, "history": ObservationBinding(read=self._read_history)},
                actions={
                    "set": self._set,
                    "calibrate": self._calibrate,
                    "break": _fail,
                    "wait": _wait,
                    "wipe": self._set,
                    "drain": ActionBinding(execute=_nothing, precondition=_refuse),
                    "open": _nothing,
                },
                procedures=[bind_procedure(RENAME)],
            )
        )

    # What the application does.

    def _read(self) -> int:
        return self._level

    async def _read_history(self, context: AgentReadContext) -> list[int]:
        await asyncio.sleep(0)
        return [self._level] * 8

    def _set(self, value: dict[str, int]) -> None:
        self._level = value["n"]

    async def _calibrate(self, value: dict[str, int]) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"n": value["n"]}

    # What consumers do.

    async def round(self) -> None:
        """Do everything once; with listeners, a toolset and consumers that come and go."""
        self._round += 1
        number = self._round
        consumers = [
            AgentConsumer(id=f"steady-{number % 7}", kind=ConsumerKind.EMBEDDED),
            # One that was never seen before and never comes back.
            AgentConsumer(id=f"passing-{number}", kind=ConsumerKind.MCP_BRIDGE),
        ]
        heard: list[object] = []
        dispose = self.registry.subscribe(heard.append)
        for consumer in consumers:
            await self._plain(consumer, number)
            await self._asking(consumer, number)
            await self._interrupted(consumer)
            await self._together(consumer, number)
            await self._churn(consumer, number)
        await self._through_tools(consumers[0], number)
        dispose()
        if not heard:
            raise AssertionError("a listener heard nothing")

    async def _plain(self, consumer: AgentConsumer, number: int) -> None:
        key = f"key-{number}"
        await self._expect(OK, consumer, "view:soak.device.level")
        await self._expect(OK, consumer, "view:soak.device.history")
        await self._expect(OK, consumer, "view:soak.device.set", {"n": number})
        await self._expect(OK, consumer, "view:soak.device.calibrate", {"n": number}, invocation_id=key)
        await self._expect(OK, consumer, "view:soak.device.calibrate", {"n": number}, invocation_id=key)
        await self._expect("INVOCATION_CONFLICT", consumer, "view:soak.device.calibrate", {"n": -1}, invocation_id=key)
        await self._expect(OK, consumer, "domain:devices.rename", {"n": number})
        await self._expect("INVALID_INPUT", consumer, "view:soak.device.set", {"n": f"not a number {number}"})
        await self._expect("CAPABILITY_NOT_FOUND", consumer, f"view:soak.nothing{number}.go")
        await self._expect("EXECUTION_FAILED", consumer, "view:soak.device.break")
        await self._expect("PRECONDITION_FAILED", consumer, "view:soak.device.drain")
        self._device.update(availability={"open": Availability(available=False, reason=f"busy {number}")})
        await self._expect("CAPABILITY_NOT_AVAILABLE", consumer, "view:soak.device.open")
        self._device.update(availability={"open": Availability(available=True)})
        await self._expect(OK, consumer, "view:soak.device.open")

    async def _asking(self, consumer: AgentConsumer, number: int) -> None:
        wipe = "view:soak.device.wipe"
        confirmations = self.registry.confirmations
        await self._expect("CONFIRMATION_REQUIRED", consumer, wipe, {"n": number})
        approved = confirmations.pending()[-1].confirmation_id
        confirmations.resolve(approved, approved=True)
        await self._expect("CONFIRMATION_INVALID", consumer, wipe, {"n": -1}, confirmation_id=approved)
        await self._expect(OK, consumer, wipe, {"n": number}, confirmation_id=approved)
        await self._expect("CONFIRMATION_INVALID", consumer, wipe, {"n": number}, confirmation_id=approved)
        await self._expect("CONFIRMATION_REQUIRED", consumer, wipe, {"n": number})
        denied = confirmations.pending()[-1].confirmation_id
        confirmations.resolve(denied, approved=False)
        await self._expect("CONFIRMATION_INVALID", consumer, wipe, {"n": number}, confirmation_id=denied)
        await self._expect("CONFIRMATION_REQUIRED", consumer, wipe, {"n": number})
        withdrawn = confirmations.pending()[-1].confirmation_id
        waiting = asyncio.ensure_future(self.registry.confirmation_waiter.wait_for(withdrawn))
        await asyncio.sleep(0)
        self.registry.confirmation_waiter.withdraw(withdrawn)
        await waiting

    async def _interrupted(self, consumer: AgentConsumer) -> None:
        request = AgentInvocation(capability_id="view:soak.device.wait")
        task = asyncio.ensure_future(self.registry.invoke(request, consumer=consumer))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            self._count("cancelled by its awaiter")
        await self._expect("TIMEOUT", consumer, "view:soak.device.wait", timeout_ms=1)

    async def _together(self, consumer: AgentConsumer, number: int) -> None:
        calibrate = "view:soak.device.calibrate"
        joined = f"joined-{number}"
        await asyncio.gather(
            self._expect(OK, consumer, "view:soak.device.history"),
            self._expect(OK, consumer, "view:soak.device.history"),
            self._expect(OK, consumer, calibrate, {"n": number}, invocation_id=joined),
            self._expect(OK, consumer, calibrate, {"n": number}, invocation_id=joined),
            self._expect(OK, consumer, calibrate, {"n": -number}),
        )

    async def _churn(self, consumer: AgentConsumer, number: int) -> None:
        accept = "view:soak.dialog.accept"
        dialog = self._dialog(number)
        second = self._dialog(-number)
        await self._expect("AMBIGUOUS_INSTANCE", consumer, accept)
        await self._expect(OK, consumer, accept, instance_id=str(number))
        second.unregister()
        await self._expect("COMPONENT_UNMOUNTED", consumer, accept, registration_id=second.registration_id)
        rejected = self._dialog(number)
        if rejected.status != "rejected":
            raise AssertionError("two dialogs of one identity")
        dialog.unregister()
        if len(self.registry.snapshot(SnapshotContext(consumer=consumer)).components) != 1:
            raise AssertionError("a dialog is left")

    def _dialog(self, number: int) -> RegistrationHandle:
        return self.registry.register(DIALOG.bind(instance_id=str(number), actions={"accept": _nothing}))

    async def _through_tools(self, consumer: AgentConsumer, number: int) -> None:
        with create_agent_toolset(self.registry, consumer=consumer, topology="remote") as toolset:
            dispose = toolset.subscribe(_ignore)
            (tool,) = [tool for tool in toolset.tools() if tool.definition.capability_id == "view:soak.device.set"]
            await tool.execute({"n": number})
            self._count("through a tool")
            dispose()

    async def _expect(
        self,
        expected: str,
        consumer: AgentConsumer,
        capability_id: str,
        input: JsonValue = None,
        *,
        timeout_ms: int | None = None,
        **fields: str,
    ) -> None:
        result = await self.registry.invoke(
            AgentInvocation(capability_id=capability_id, input=input, **fields),
            consumer=consumer,
            timeout_ms=timeout_ms,
        )
        outcome = _outcome(result)
        if outcome != expected:
            raise AssertionError(f"{capability_id} ended as {outcome}, not {expected}: {result}")
        self._count(outcome)

    def _count(self, outcome: str) -> None:
        self.invocations += 1
        self.outcomes[outcome] += 1


def _outcome(result: AgentInvocationResult) -> str:
    return result.error.code.value if isinstance(result, InvocationError) else OK


def _rename(n: int) -> str:
    return str(n)


def _nothing() -> None:
    pass


def _ignore(_: object) -> None:
    pass


def _fail() -> None:
    raise RuntimeError("broken, as it should be")


def _refuse() -> None:
    raise PreconditionFailure("there is nothing to drain")


async def _wait() -> None:
    await asyncio.Event().wait()
