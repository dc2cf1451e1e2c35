"""Source of the small projects whose tests the plugin judges."""

COMPONENTS = """
from pydantic import BaseModel
from PySide6.QtWidgets import QSpinBox

from agent_surface import action_contract, define_agent_component_contract, from_model, from_type, observation_contract
from qt_binding import AgentComponentMixin, observes, performs


class Number(BaseModel):
    value: int


READ = observation_contract(description="Read the number", output=from_type(int))
SET = action_contract(description="Set the number", input=from_model(Number), effect="local-state")
RESET = action_contract(description="Reset the number to zero", effect="local-state", confirmation="required")
COUNTER = define_agent_component_contract(
    type="demo.counter", description="A number", observations={"read": READ}, actions={"set": SET, "reset": RESET}
)


class Counter(AgentComponentMixin, QSpinBox):
    agent_contract = COUNTER

    @observes(READ)
    def read(self) -> int:
        return self.value()

    @performs(SET)
    def set_number(self, wanted: Number) -> None:
        self.setValue(wanted.value)

    @performs(RESET)
    def reset(self) -> None:
        self.setValue(0)
"""
