"""Print the table: ``python -m tests.requirements``; ``--prune`` also takes what is proven off the planned work."""

from __future__ import annotations

import json
import sys

from tests.requirements.claims import (
    PENDING,
    REQUIREMENTS,
    find_claims,
    format_table,
    proof_by_requirement,
    read_table,
)


def main(arguments: list[str]) -> None:
    """Read both lists and the claims of the tests, and print what stands where."""
    proven = proof_by_requirement(find_claims()[0])
    if "--prune" in arguments:
        left = {name: work for name, work in read_table(PENDING).items() if name not in proven}
        PENDING.write_text(json.dumps(left, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(format_table(read_table(REQUIREMENTS), read_table(PENDING), proven) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
