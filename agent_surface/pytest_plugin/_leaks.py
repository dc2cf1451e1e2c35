"""What a test left behind on its surface."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from agent_surface.events import AgentSurfaceEvent, ComponentRegistered, ComponentUnregistered
from agent_surface.testing import SurfaceHarness

_KNOWN = frozenset({"registrations", "tasks", "confirmations", "qt-warnings"})


def leaks_to_fail_on(request: pytest.FixtureRequest) -> frozenset[str]:
    """What this test fails on: its mark, else the command line, else the project's configuration.

    Raises:
        pytest.UsageError: One of the words is none of ``registrations``, ``tasks``, ``confirmations``, ``qt-warnings``.
    """
    mark = request.node.get_closest_marker("surface_fail_on")
    given: str | None = request.config.getoption("--agent-surface-fail-on")
    if mark is not None:
        words: Iterable[str] = mark.args
    elif given is not None:
        words = [word.strip() for word in given.split(",") if word.strip() != "none"]
    else:
        words = request.config.getini("agent_surface_fail_on")
    wanted = frozenset(words)
    if not wanted <= _KNOWN:
        raise pytest.UsageError(
            f"agent_surface_fail_on: {', '.join(sorted(wanted - _KNOWN))} is none of {', '.join(sorted(_KNOWN))}"
        )
    return wanted


class LeakCheck:
    """Compares a surface with what it was before the test.

    Args:
        surface: The harness of the test.
        fail_on: What matters.
    """

    def __init__(self, surface: SurfaceHarness, fail_on: frozenset[str]) -> None:
        self._surface = surface
        self._fail_on = fail_on
        # From the events and not from snapshots: a policy may hide a component from whoever looks.
        self._live: dict[str, str] = {}
        self._unsubscribe = surface.registry.subscribe(self._hear)
        self._confirmations = {pending.confirmation_id for pending in surface.confirmations.pending}

    def after_call(self) -> None:
        """The test function has returned, and nothing it used was taken away yet.

        Raises:
            pytest.fail.Exception: It left tasks or pending confirmations.
        """
        if self._surface.registry.closed:
            return
        found: list[str] = []
        if "confirmations" in self._fail_on:
            found += [
                f"the pending confirmation {pending.confirmation_id} of {pending.capability_id}: {pending.summary}"
                for pending in self._surface.confirmations.pending
                if pending.confirmation_id not in self._confirmations
            ]
        if "tasks" in self._fail_on:
            # A task that was cancelled ends in the next turn of its loop.
            left = [task for task in self._surface.pending_tasks() if not task.cancelling()]
            found += [f"the task {task!r}" for task in left]
            for task in left:
                task.cancel()
        _fail(found)

    def after_teardown(self) -> None:
        """What the test mounted was taken away, and so was an application that lives no longer than the test.

        Raises:
            pytest.fail.Exception: Components are registered that were not before the test.
        """
        if not self._surface.registry.closed:
            self._unsubscribe()
            if "registrations" in self._fail_on:
                _fail([f"the registered component {name} ({key})" for key, name in self._live.items()])

    def _hear(self, event: AgentSurfaceEvent) -> None:
        if isinstance(event, ComponentRegistered):
            self._live[event.registration_id] = f"{event.component_type}, instance {event.instance_id}"
        elif isinstance(event, ComponentUnregistered):
            self._live.pop(event.registration_id, None)


def _fail(found: list[str]) -> None:
    if found:
        pytest.fail("The test left behind\n" + "\n".join(f"  {item}" for item in found), pytrace=False)
