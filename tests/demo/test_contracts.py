from __future__ import annotations

from typing import get_args

from agent_surface import Confirmation, Effect
from demo_app import contracts
from demo_app.domain import DeviceStatus
from demo_app.views import Section


def test_what_takes_devices_out_of_service_needs_a_person() -> None:
    """The one destructive procedure of the demo is confirmed; the others are not held up."""
    assert (contracts.DISABLE_DEVICES.effect, contracts.DISABLE_DEVICES.confirmation) == (
        Effect.DESTRUCTIVE,
        Confirmation.REQUIRED,
    )
    assert contracts.ENABLE_DEVICES.confirmation is not Confirmation.REQUIRED
    assert contracts.RENAME_DEVICE.confirmation is not Confirmation.REQUIRED


def test_the_declared_choices_are_those_of_the_application() -> None:
    """Declarations stand alone, so nothing but this test keeps them in step with the domain and the window."""
    assert set(get_args(contracts.Status)) == set(DeviceStatus)
    assert set(get_args(contracts.PageName)) == set(get_args(Section))
