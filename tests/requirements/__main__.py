"""Print the table: ``python -m tests.requirements``."""

from __future__ import annotations

import sys

from tests.requirements.claims import (
    PENDING,
    REQUIREMENTS,
    find_claims,
    format_table,
    proof_by_requirement,
    read_table,
)

if __name__ == "__main__":
    proven = proof_by_requirement(find_claims()[0])
    sys.stdout.write(format_table(read_table(REQUIREMENTS), read_table(PENDING), proven) + "\n")
