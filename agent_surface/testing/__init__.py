"""Support for tests of applications; needs neither pytest nor a display.

Above: ``pytest_plugin``, and nothing in the product. Below: the registry and everything under it.
"""

from agent_surface.testing._asserts import (
    assert_exposes,
    assert_exposes_unavailable,
    assert_fails_with,
    assert_hidden,
    assert_ok,
)
from agent_surface.testing._authority import contract_authority
from agent_surface.testing._clock import ManualClock
from agent_surface.testing._confirmations import HarnessConfirmations
from agent_surface.testing._harness import CapabilityRef, SurfaceHarness, create_surface_harness
from agent_surface.testing._ids import SequentialIds
from agent_surface.testing._snapshot_text import surface_snapshot_text

__all__ = [
    "CapabilityRef",
    "HarnessConfirmations",
    "ManualClock",
    "SequentialIds",
    "SurfaceHarness",
    "assert_exposes",
    "assert_exposes_unavailable",
    "assert_fails_with",
    "assert_hidden",
    "assert_ok",
    "contract_authority",
    "create_surface_harness",
    "surface_snapshot_text",
]
