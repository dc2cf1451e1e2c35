"""The names of things: capability ids, component types, instance ids, and wire names for model providers.

Above: everything that names a capability. Below: ``errors`` and ``_base``.
"""

from agent_surface.ids._grammar import (
    MAX_ID_LENGTH,
    CapabilityId,
    PlaneName,
    find_capability_id,
    format_view_capability_id,
    parse_capability_id,
    procedure_path,
    require_capability_name,
    require_component_type,
    require_instance_id,
    require_procedure_id,
)
from agent_surface.ids._wire import (
    MAX_WIRE_NAME_LENGTH,
    WireEntry,
    WireKey,
    decode_wire_name,
    encode_wire_keys,
    encode_wire_name,
    encode_wire_names,
)

__all__ = [
    "MAX_ID_LENGTH",
    "MAX_WIRE_NAME_LENGTH",
    "CapabilityId",
    "PlaneName",
    "WireEntry",
    "WireKey",
    "decode_wire_name",
    "encode_wire_keys",
    "encode_wire_name",
    "encode_wire_names",
    "find_capability_id",
    "format_view_capability_id",
    "parse_capability_id",
    "procedure_path",
    "require_capability_name",
    "require_component_type",
    "require_instance_id",
    "require_procedure_id",
]
