"""Fixtures of the core's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.core.surface_fixtures import Surface


@pytest.fixture
async def surface() -> AsyncIterator[Surface]:
    """A registry with the usual contracts; closed and empty-handed at the end."""
    made = Surface()
    yield made
    made.registry.close()
    assert await made.registry.wait_closed()
    assert made.idle()
