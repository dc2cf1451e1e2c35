"""Fixtures of the tests that ask a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from agent_surface import AgentSurfaceRegistry, TakeOver
from tests.core.assistant.model_under_test import ModelUnderTest
from tests.core.assistant.openai_server import OpenAIServer, serving
from tests.core.toolset.fake_surface import FakeSurface


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """A server that plays the model."""
    yield from serving()


@pytest.fixture
async def ask_model(server: OpenAIServer) -> AsyncIterator[Callable[..., ModelUnderTest]]:
    """Makes sessions that ask it; each is ended, and its thread with it."""
    made: list[ModelUnderTest] = []

    def make(
        surface: FakeSurface | None = None,
        *,
        max_steps: int = 25,
        timeout_ms: int = 20_000,
        registry: AgentSurfaceRegistry | None = None,
        take_over: TakeOver | None = None,
    ) -> ModelUnderTest:
        made.append(
            ModelUnderTest(
                server,
                surface if surface is not None else FakeSurface(),
                max_steps=max_steps,
                timeout_ms=timeout_ms,
                registry=registry,
                take_over=take_over,
            )
        )
        return made[-1]

    yield make
    for under in made:
        await under.done()
