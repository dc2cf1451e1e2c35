"""Executors of back-end procedures.

Above: registrations ask which paths there are, the pipeline executes. Below: contracts and invocation values.
"""

from agent_surface.procedures._executor import ProcedureExecutor, ProcedureInfo, ServiceExecutor

__all__ = ["ProcedureExecutor", "ProcedureInfo", "ServiceExecutor"]
