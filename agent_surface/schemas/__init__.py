"""What an agent may send and be told: JSON Schema in a small subset, paired with a parser that holds values to it.

Above: contracts and everything that runs a capability. Below: ``errors`` and ``_base``.
"""

from agent_surface.schemas._reduce import reduce_object_schema, root_properties, takes_object
from agent_surface.schemas._schema import EMPTY_OBJECT_SCHEMA, AgentSchema, from_json_schema
from agent_surface.schemas._subset import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, check_schema_subset
from agent_surface.schemas._typed import from_model, from_type

__all__ = [
    "EMPTY_OBJECT_SCHEMA",
    "MAX_SCHEMA_BYTES",
    "MAX_SCHEMA_DEPTH",
    "AgentSchema",
    "check_schema_subset",
    "from_json_schema",
    "from_model",
    "from_type",
    "reduce_object_schema",
    "root_properties",
    "takes_object",
]
