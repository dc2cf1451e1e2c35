"""The fixture ``scripted_assistant``."""

from __future__ import annotations

from collections.abc import Iterator

from agent_surface import AgentConsumer, AgentSurfaceRegistry, create_agent_toolset
from agent_surface.assistant import ScriptedBackend, ScriptStep, SessionState, TranscriptEntry
from qt_binding.assistant import create_assistant_session
from qt_binding.pytest_plugin._bot import PATIENCE_MS, AgentQtBot
from qt_binding.testing import turn, wait_until

ASSISTANT = AgentConsumer(id="scripted-assistant")
"""Who calls unless the test names somebody."""


class ScriptedAssistant:
    """An assistant in the application that follows a script in place of a model.

    Attributes:
        backend: Plays the script, and remembers what it was offered and answered.
        session: The conversation; a dock can show it.
    """

    def __init__(self, registry: AgentSurfaceRegistry, steps: tuple[ScriptStep, ...], consumer: AgentConsumer) -> None:
        self._toolset = create_agent_toolset(registry, consumer=consumer, topology="embedded")
        self.backend = ScriptedBackend(steps)
        self.session = create_assistant_session(registry, self._toolset, self.backend)

    def say(self, text: str, *, timeout_ms: int = PATIENCE_MS) -> tuple[TranscriptEntry, ...]:
        """Send a message and run the application until the assistant has answered.

        Returns:
            The conversation so far.

        Raises:
            AssertionError: It was busy or closed, or did not answer in time.
        """
        self.send(text)
        return self.wait_idle(timeout_ms=timeout_ms)

    def send(self, text: str) -> None:
        """Send a message and go on, for example to answer what the assistant has the person asked.

        Raises:
            AssertionError: It was busy or closed.
        """
        if not self.session.send(text):
            raise AssertionError(f"the assistant is {self.session.state.value} and took no message")

    def wait_idle(self, *, timeout_ms: int = PATIENCE_MS) -> tuple[TranscriptEntry, ...]:
        """Run the application until the assistant has answered, and return the conversation so far.

        Raises:
            AssertionError: It did not in time.
        """
        wait_until(
            lambda: self.session.state is SessionState.IDLE,
            lambda: f"the assistant was idle; it is {self.session.state.value}",
            timeout_ms=timeout_ms,
        )
        return self.session.transcript

    def close(self) -> None:
        """End the conversation and what it waits for. Safe to repeat."""
        self.session.close()
        self._toolset.close()


class StartAssistant:
    """Starts assistants on the surface of one test."""

    def __init__(self, bot: AgentQtBot) -> None:
        self._bot = bot
        self._started: list[ScriptedAssistant] = []

    def __call__(self, *steps: ScriptStep, consumer: AgentConsumer = ASSISTANT) -> ScriptedAssistant:
        """Start one.

        Args:
            steps: The script; ``EndTurn()`` separates answers.
            consumer: Who it is on the surface.
        """
        self._started.append(ScriptedAssistant(self._bot.surface.registry, steps, consumer))
        return self._started[-1]

    def close(self) -> None:
        """Close those that were started."""
        for assistant in self._started:
            assistant.close()
        turn()


def start_assistants(bot: AgentQtBot) -> Iterator[StartAssistant]:
    """The starter of one test; what it started is closed at the end."""
    starter = StartAssistant(bot)
    yield starter
    starter.close()
