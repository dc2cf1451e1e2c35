"""The state machine of the conformance tests with a budget no test run has."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test
from typing_extensions import override

from tests.core.conformance.test_state_machine import Life

# Seconds between two lines that say how far it is.
TOLD_EVERY = 60.0


class Counted(Life):
    """The same machine; it counts what it did."""

    lives = 0
    steps = 0
    _told_at = 0.0

    @override
    def __init__(self) -> None:
        super().__init__()
        Counted.lives += 1

    @invariant()
    def one_more_step(self) -> None:
        """Invariants are looked at after each step."""
        Counted.steps += 1

    @override
    def teardown(self) -> None:
        super().teardown()
        if time.monotonic() - Counted._told_at >= TOLD_EVERY:
            Counted._told_at = time.monotonic()
            _tell()


def soak(examples: int, steps: int) -> None:
    """Run the machine.

    Args:
        examples: How many lives.
        steps: How many steps each takes at most.

    Raises:
        Exception: Whatever the machine found, with the steps that led there made as few as possible.
    """
    run_state_machine_as_test(
        Counted,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=(HealthCheck.too_slow,),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
    _tell()


def _tell() -> None:
    print(f"{Counted.lives:>9,} lives, {Counted.steps:,} steps without a finding", flush=True)  # noqa: T201 - its output
