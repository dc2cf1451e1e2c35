"""Fixtures: a store with a clock, ids and sinks in the hands of the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_surface._base._limits import AgentSurfaceLimits
from tests.core.confirmations.store_under_test import StoreUnderTest


@pytest.fixture
def under_test() -> StoreUnderTest:
    """A store with the default limits."""
    return StoreUnderTest()


@pytest.fixture
def make_store() -> Callable[[AgentSurfaceLimits], StoreUnderTest]:
    """Makes a store with other limits."""
    return lambda limits: StoreUnderTest(limits=limits)
