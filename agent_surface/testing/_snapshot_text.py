"""A snapshot as a text that is the same in every run."""

from __future__ import annotations

import json
from itertools import count

from agent_surface._snapshot import AgentSurfaceSnapshot
from agent_surface.testing._exposed import all_exposed
from agent_surface.testing._harness import SurfaceHarness


def surface_snapshot_text(surface: SurfaceHarness | AgentSurfaceSnapshot) -> str:
    """What a consumer sees, for comparison with a text that was reviewed before.

    Indented JSON without the ids of the surface, its version and its time; registration ids are ``<reg#1>``,
    ``<reg#2>``, … in the order in which they appear. Equal for equal surfaces, across runs and remounts.

    Args:
        surface: A harness, or a snapshot.
    """
    snapshot = surface.snapshot() if isinstance(surface, SurfaceHarness) else surface
    seen = snapshot.to_json()
    for volatile in ("surfaceId", "surfaceVersion", "capturedAt"):
        del seen[volatile]
    text = json.dumps(seen, indent=2, ensure_ascii=False) + "\n"
    registrations = dict.fromkeys(item.registration_id for item in all_exposed(snapshot))
    registrations |= dict.fromkeys(component.registration_id for component in snapshot.components)
    by_place = sorted(registrations, key=text.index)
    for registration_id, number in zip(by_place, count(1), strict=False):
        text = text.replace(registration_id, f"<reg#{number}>")
    return text
