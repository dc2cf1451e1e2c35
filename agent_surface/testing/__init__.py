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
from agent_surface.testing._keys import MemoryKeys
from agent_surface.testing._recorder import SessionRecorder, record_session
from agent_surface.testing._recording import (
    ASYNCIO,
    RecordedCall,
    RecordedDecision,
    RecordedStep,
    RecordedSurface,
    ReplayRunner,
    SessionRecording,
)
from agent_surface.testing._snapshot_text import surface_snapshot_text
from agent_surface.testing._test_source import call_as_test, session_as_test

__all__ = [
    "ASYNCIO",
    "CapabilityRef",
    "HarnessConfirmations",
    "ManualClock",
    "MemoryKeys",
    "RecordedCall",
    "RecordedDecision",
    "RecordedStep",
    "RecordedSurface",
    "ReplayRunner",
    "SequentialIds",
    "SessionRecorder",
    "SessionRecording",
    "SurfaceHarness",
    "assert_exposes",
    "assert_exposes_unavailable",
    "assert_fails_with",
    "assert_hidden",
    "assert_ok",
    "call_as_test",
    "contract_authority",
    "create_surface_harness",
    "record_session",
    "session_as_test",
    "surface_snapshot_text",
]
