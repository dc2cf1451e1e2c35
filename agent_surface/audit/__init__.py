"""Audit: what happened and who said yes.

Above: the pipeline and the registry write records. Below: errors and JSON values.
"""

from agent_surface.audit._memory import MemoryAuditSink
from agent_surface.audit._values import AuditRecord, AuditSink

__all__ = ["AuditRecord", "AuditSink", "MemoryAuditSink"]
