"""Support for tests of applications; needs neither pytest nor a display.

Above: nothing in the product. Below: the registry and everything under it.
"""

from agent_surface.testing._authority import contract_authority
from agent_surface.testing._clock import ManualClock
from agent_surface.testing._ids import SequentialIds

__all__ = ["ManualClock", "SequentialIds", "contract_authority"]
