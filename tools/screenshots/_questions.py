"""Questions that nobody asked, for looking at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_surface import AgentConsumer, Effect, FrozenJson
from agent_surface.confirmations import ConfirmationOutcome, ConfirmationResolution, PendingConfirmation
from tools.screenshots._conversation import HOSTILE


class StagedController:
    """A confirmation controller with requests that never end by themselves."""

    def __init__(self, *pending: PendingConfirmation) -> None:
        self._pending = pending

    def pending(self) -> tuple[PendingConfirmation, ...]:
        """The requests."""
        return self._pending

    def resolve(self, confirmation_id: str, *, approved: bool, note: str | None = None) -> bool:
        """Nothing is decided."""
        del confirmation_id, approved, note
        return False

    async def wait_for(self, confirmation_id: str) -> ConfirmationResolution:
        """Nobody waits."""
        return ConfirmationResolution(confirmation_id=confirmation_id, outcome=ConfirmationOutcome.EXPIRED)

    def subscribe(self, listener: Callable[[Sequence[PendingConfirmation]], None]) -> Callable[[], None]:
        """Nothing changes."""
        del listener
        return lambda: None

    def resolution(self, confirmation_id: str) -> ConfirmationResolution | None:
        """Nothing has ended."""
        del confirmation_id
        return None


def staged_questions() -> dict[str, StagedController]:
    """Controllers with little, much and hostile to ask."""
    long = {f"field{number}": "a value of some length " * 6 for number in range(40)}
    hostile: dict[str, FrozenJson] = {
        "path": "/srv/\u202etxt.exe\u200b",
        "markup": "<img src='http://evil.example/x.png'><b>bold</b> [x](javascript:alert(1))",
        "lines": "one\ntwo\n\n three ",
        "W" * 200: "W" * 2_000,
        "deep": {"list": ({"n": 1}, {"n": (None, True, 2.5)})},
    }
    return {
        "question-empty": StagedController(_question({})),
        "question-usual": StagedController(pending_question()),
        "question-long": StagedController(*(_question(long, number=number) for number in range(5))),
        "question-hostile": StagedController(
            _question(hostile, description="<b>Format</b> \u202eC:\u202c" + "D" * 120, summary=HOSTILE[:300])
        ),
    }


def pending_question(*, description: str = "Take devices out of service", number: int = 0) -> PendingConfirmation:
    """A question of the usual size."""
    given: dict[str, FrozenJson] = {"ids": ("MIL-002", "MIL-004", "MIL-010"), "reason": "No battery"}
    return _question(given, description=description, number=number)


def _question(
    value: FrozenJson,
    *,
    number: int = 0,
    description: str = "Take devices out of service",
    summary: str = "Disable three stations in Milan",
) -> PendingConfirmation:
    consumer = AgentConsumer(id="assistant")
    return PendingConfirmation(
        confirmation_id=f"cnf_{number}",
        capability_id="domain:devices.disable",
        description=description,
        registration_id="reg_1",
        component_type="devices.table",
        instance_id="default",
        consumer=consumer,
        consumer_key=consumer.key,
        effect=Effect.DESTRUCTIVE,
        summary=summary,
        input=value,
        bound_fields=("path", "ids"),
        requested_at="2026-01-01T00:00:00Z",
        expires_at="2026-01-01T00:02:00Z",
        expires_in_ms=120_000,
        expires_at_monotonic_ms=120_000,
    )
