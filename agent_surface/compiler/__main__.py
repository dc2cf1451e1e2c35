"""``python -m agent_surface.compiler [--check]``: write the committed contract, or say whether it is up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agent_surface.compiler import (
    CompilationError,
    ConfigurationError,
    compile_contract,
    contract_text,
    read_configuration,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when the contract is as the source says, 1 when it is not, 2 when that cannot be told."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_surface.compiler",
        description="Write the contract of the application in this source tree: everything it can ever expose.",
        epilog="example: python -m agent_surface.compiler --check",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when the committed file is not current"
    )
    options = parser.parse_args(arguments)
    try:
        configuration = read_configuration(Path.cwd())
        text = contract_text(compile_contract(configuration))
    except (ConfigurationError, CompilationError) as error:
        print(f"agent-surface: {error}", file=sys.stderr)  # noqa: T201  # the command's own output
        return 2
    path = configuration.contract
    shown = path.relative_to(configuration.root)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        print(f"{shown} is up to date", file=sys.stderr)  # noqa: T201  # the command's own output
        return 0
    if options.check:
        print(  # noqa: T201  # the command's own output
            f"{shown} is not what the source declares; write it again with `python -m agent_surface.compiler`, "
            "review the change and commit it",
            file=sys.stderr,
        )
        return 1
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{shown} written", file=sys.stderr)  # noqa: T201  # the command's own output
    return 0


if __name__ == "__main__":
    sys.exit(main())
