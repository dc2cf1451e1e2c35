"""The contract of an application, from its source.

Above: the command line. Below: contracts and the manifest. Only evaluation so far; the proof that nothing else is
declared comes with the static part.
"""

from agent_surface.compiler._configuration import CompilerConfiguration, ConfigurationError, read_configuration
from agent_surface.compiler._evaluation import EvaluationError, contract_text, evaluate_contract

__all__ = [
    "CompilerConfiguration",
    "ConfigurationError",
    "EvaluationError",
    "contract_text",
    "evaluate_contract",
    "read_configuration",
]
