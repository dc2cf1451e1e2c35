"""Audit: what happened and who said yes.

Above: the pipeline and the registry write records. Below: errors and JSON values.
"""

from agent_surface.audit._background import AuditSinkStatistics, BackgroundAuditSink
from agent_surface.audit._chain import AuditProblem, TornLine
from agent_surface.audit._combined import CombinedAuditSink
from agent_surface.audit._jsonl import JsonlAuditSink
from agent_surface.audit._log import LoggingAuditSink
from agent_surface.audit._memory import MemoryAuditSink
from agent_surface.audit._redaction import AuditRedaction, redact_paths
from agent_surface.audit._values import AuditRecord, AuditSink, LossyAuditSink
from agent_surface.audit._verification import AuditFileError, AuditHead, AuditVerification, verify_audit_file

__all__ = [
    "AuditFileError",
    "AuditHead",
    "AuditProblem",
    "AuditRecord",
    "AuditRedaction",
    "AuditSink",
    "AuditSinkStatistics",
    "AuditVerification",
    "BackgroundAuditSink",
    "CombinedAuditSink",
    "JsonlAuditSink",
    "LoggingAuditSink",
    "LossyAuditSink",
    "MemoryAuditSink",
    "TornLine",
    "redact_paths",
    "verify_audit_file",
]
