"""The authority: a verified manifest, and the checks a registration must pass.

Above: the registry and the exposure gateway. Below: contracts and the manifest.
"""

from agent_surface.authority._authority import (
    CapabilityAuthority,
    assert_capability_authority,
    create_capability_authority,
)
from agent_surface.authority._loading import load_capability_authority

__all__ = [
    "CapabilityAuthority",
    "assert_capability_authority",
    "create_capability_authority",
    "load_capability_authority",
]
