"""Two contracts, or two schemas, side by side: what moved, and what it means.

Above: the compiler's public names and the command line. Below: schemas and the manifest.
"""

from agent_surface.compiler._comparison._changes import Change, ChangeKind
from agent_surface.compiler._comparison._contracts import compare_contracts
from agent_surface.compiler._comparison._relation import SchemaRelation, compare_schemas

__all__ = ["Change", "ChangeKind", "SchemaRelation", "compare_contracts", "compare_schemas"]
