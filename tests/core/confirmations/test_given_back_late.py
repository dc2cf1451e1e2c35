"""An approval that a call held and did not use, given back after its time."""

from __future__ import annotations

import pytest

from agent_surface._base._limits import AgentSurfaceLimits
from tests.core.confirmations.store_under_test import StoreUnderTest, binding_of


@pytest.mark.requirement("AS-CONFIRM-006")
def test_it_expires_in_that_moment_and_not_at_the_next_look() -> None:
    """The audit has the end of every approval, also when nobody asks the store anything any more."""
    under_test = StoreUnderTest()
    claim = under_test.store.claim(under_test.approved(), binding_of())
    under_test.clock.advance(AgentSurfaceLimits().confirmation_ttl_ms)
    assert ("expired", "clock") not in under_test.audited()
    claim.release()
    assert under_test.audited()[-1] == ("expired", "clock")
    assert under_test.audit[-1].unused
    under_test.store.close()
