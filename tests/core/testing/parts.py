"""A component and procedures for the tests of the harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_surface import (
    ActionBinding,
    AgentActionContext,
    BoundComponent,
    JsonValue,
    ServiceExecutor,
    action_contract,
    bind_procedure,
    define_agent_component_contract,
    define_agent_procedure_contract,
    from_json_schema,
    from_type,
    observation_contract,
)
from agent_surface.testing import SurfaceHarness, contract_authority, create_surface_harness

VALUE = from_json_schema(
    {
        "type": "object",
        "properties": {"value": {"type": "integer"}},
        "required": ["value"],
        "additionalProperties": False,
    }
)
COUNTER = define_agent_component_contract(
    type="t.counter",
    description="A number",
    observations={"read": observation_contract(description="Read it", output=from_type(int))},
    actions={
        "set": action_contract(description="Set it", input=VALUE, output=from_type(int), effect="local-state"),
        "reset": action_contract(description="To zero", effect="local-state", confirmation="required"),
    },
)
SAVE = define_agent_procedure_contract(
    id="domain:numbers.save",
    description="Keep a number",
    input=VALUE,
    output=from_type(int),
    effect="server-mutation",
    confirmation="required",
)

READ, SET, RESET = "view:t.counter.read", "view:t.counter.set", "view:t.counter.reset"


class Counter:
    """The number, and what happens to it."""

    def __init__(self) -> None:
        self.value = 0
        self.saved: list[int] = []
        self.hosts: list[Mapping[str, object]] = []

    def bound(
        self,
        instance_id: str = "default",
        *,
        read: Callable[[], int] | None = None,
        when: Callable[[], bool] | None = None,
        save: bool = False,
    ) -> BoundComponent:
        """The component."""
        return COUNTER.bind(
            instance_id=instance_id,
            observations={"read": read or (lambda: self.value)},
            actions={
                "set": self.set,
                "reset": ActionBinding(
                    execute=self.reset, when=when or (lambda: True), unavailable_reason="it is zero already"
                ),
            },
            procedures=[bind_procedure(SAVE, bind={"value": lambda: self.value})] if save else [],
        )

    def set(self, wanted: Mapping[str, JsonValue], context: AgentActionContext) -> int:
        """Set it, and return what it was."""
        before, self.value = self.value, int(str(wanted["value"]))
        self.hosts.append(context.host)
        return before

    def reset(self) -> None:
        """To zero."""
        self.value = 0

    def save(self, value: int) -> int:
        """Keep a number in the back end; returns how many are kept."""
        self.saved.append(value)
        return len(self.saved)


def harness(counter: Counter | None = None) -> SurfaceHarness:
    """A harness over a fresh registry that knows the component and the procedure."""
    executor = ServiceExecutor({SAVE.path: counter.save}) if counter is not None else None
    return create_surface_harness(authority=contract_authority(COUNTER, SAVE), procedures=executor)
