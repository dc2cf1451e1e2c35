"""The contract of an application, proven from its source.

Above: the command line. Below: the authority, contracts and the manifest.

Everything the entry points import is read, every declaration in it is found, and importing the declaring modules has to
declare exactly that, twice, in different surroundings. What cannot be proven is an error with a file and a line.
"""

from agent_surface.compiler._comparison import (
    Change,
    ChangeKind,
    SchemaRelation,
    compare_contracts,
    compare_schemas,
)
from agent_surface.compiler._compile import compile_capability_authority, compile_contract, contract_text
from agent_surface.compiler._configuration import (
    CompilerConfiguration,
    ConfigurationError,
    ExternalApproval,
    parse_configuration,
    read_configuration,
)
from agent_surface.compiler._problems import CompilationError, Problem, ProblemCode

__all__ = [
    "Change",
    "ChangeKind",
    "CompilationError",
    "CompilerConfiguration",
    "ConfigurationError",
    "ExternalApproval",
    "Problem",
    "ProblemCode",
    "SchemaRelation",
    "compare_contracts",
    "compare_schemas",
    "compile_capability_authority",
    "compile_contract",
    "contract_text",
    "parse_configuration",
    "read_configuration",
]
