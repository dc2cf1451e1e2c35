"""Executors of back-end procedures.

Above: registrations ask which paths there are, the pipeline executes. Below: contracts and invocation values.
"""

from agent_surface.procedures._executor import ProcedureExecutor, ProcedureInfo, ServiceExecutor
from agent_surface.procedures._http import HttpExecutor
from agent_surface.procedures._http_refusals import HttpFailure

__all__ = ["HttpExecutor", "HttpFailure", "ProcedureExecutor", "ProcedureInfo", "ServiceExecutor"]
