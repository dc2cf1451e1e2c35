"""What can be typed. Each command reads, asks one function for a report, and prints it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, assert_never

import click

from agent_surface.audit import verify_audit_file
from agent_surface.cli._audit import audit_lines
from agent_surface.cli._contract import check_contract, read_contract, shown_path, write_contract
from agent_surface.cli._formats import check_github, check_lines, check_markdown, inventory_markdown, json_text
from agent_surface.cli._main import CLEAN, FINDING
from agent_surface.cli._report import Policy, make_inventory
from agent_surface.cli._terminal import progress_shown, write_inventory, write_lines, write_text
from agent_surface.compiler import CompilerConfiguration, compile_contract, read_configuration
from agent_surface.errors import AgentSurfaceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command came to. Printed outside of click, which takes a reader that left for a failure.

    Attributes:
        code: The exit code.
        show: Prints the result.
    """

    code: int
    show: Callable[[], None]


class UsageError(AgentSurfaceError):
    """The command line cannot be understood. Not raised for what the command finds."""


def run_command(arguments: list[str]) -> int:
    """Run the command these arguments name and return its exit code.

    Raises:
        UsageError: The arguments cannot be understood; says how to ask for help.
    """
    try:
        outcome: object = program.main(arguments, prog_name="agent-surface", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        group = error.ctx.command
        names = group.commands if isinstance(group, click.Group) else program.commands
        raise UsageError(f"say what to do: one of {', '.join(sorted(names))}; --help explains them") from error
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "agent-surface"
        raise UsageError(f"{_sentence(error.format_message())}; `{command} --help` explains it") from error
    except click.Abort:
        return _INTERRUPTED
    if not isinstance(outcome, Outcome):
        # Help and version were printed.
        return CLEAN
    try:
        outcome.show()
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter must not fail again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return outcome.code


_INTERRUPTED: Final = 2


def _sentence(text: str) -> str:
    return text.rstrip(". \n").replace("\n", " ")


def _printed(text: str, code: int = CLEAN) -> Outcome:
    return Outcome(code=code, show=lambda: write_text(text))


_PROJECT = click.option(
    "--project",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    show_default="the current folder",
    help="A folder inside the project; its pyproject.toml is looked for there and above.",
)


def _configured(project: Path) -> CompilerConfiguration:
    return read_configuration(project)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: agent-surface check --base main",
)
@click.option("--debug", is_flag=True, help="Show where in its own code the command failed.")
@click.version_option(package_name="agent-surface-qt", message="agent-surface %(version)s")
def program(*, debug: bool) -> None:
    """Show, write and guard the contract of a program: everything an assistant can ever do with it."""
    del debug  # looked at where failures are reported


@program.command(epilog="Example: agent-surface inspect --format md > CAPABILITIES.md")
@_PROJECT
@click.option(
    "--verbosity",
    type=click.Choice(["min", "normal", "detail"]),
    default="normal",
    show_default=True,
    help="The headline alone, a row for each capability, or everything about each.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "json", "md"]),
    default="human",
    show_default=True,
    help="How to print.",
)
def inspect(*, project: Path, verbosity: str, form: Literal["human", "json", "md"]) -> Outcome:
    """List what the committed contract allows.

    Reach says how far a call goes: low stays in the window or only reads, medium changes what is stored or cannot be
    taken back, high leaves the program or destroys.
    """
    inventory = make_inventory(read_contract(_configured(project)))
    match form:
        case "human":
            return Outcome(code=CLEAN, show=lambda: write_inventory(inventory, verbosity))
        case "json":
            return _printed(json_text(inventory.to_json()))
        case "md":
            return _printed(inventory_markdown(inventory))
        case _:
            assert_never(form)


@program.command(epilog="Example: agent-surface snapshot && git diff")
@_PROJECT
def snapshot(*, project: Path) -> Outcome:
    """Write the contract from the source.

    Nothing is written unless it is proven that the program declares nothing else.
    """
    configuration = _configured(project)
    with progress_shown():
        manifest = compile_contract(configuration)
    written = write_contract(configuration, manifest)
    return _printed(f"{shown_path(configuration)} {'written' if written else 'is up to date'}\n")


@program.command(
    short_help="Find what moved in the source or since a git revision.",
    epilog="Example: agent-surface check --base origin/main --policy widening",
)
@_PROJECT
@click.option("--base", metavar="REF", help="Also compare with the git revision this branch left.")
@click.option(
    "--policy",
    type=click.Choice(["all", "widening", "narrowing", "neutral", "none"]),
    default="all",
    show_default=True,
    help="Which changes since the base are findings. What is widening and narrowing at once is a finding of both; "
    "a changed text is one of all and of neutral.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["human", "json", "md", "github"]),
    default="human",
    show_default=True,
    help="How to print.",
)
def check(
    *, project: Path, base: str | None, policy: Policy, form: Literal["human", "json", "md", "github"]
) -> Outcome:
    """Hold the source against the committed contract, and that against a git revision.

    Ends with 0 when nothing is found, with 1 when something is, with 2 when the check could not run.
    """
    with progress_shown():
        report = check_contract(_configured(project), base=base, policy=policy)
    code = CLEAN if report.ok else FINDING
    match form:
        case "human":
            return Outcome(code=code, show=lambda: write_lines(check_lines(report)))
        case "json":
            return _printed(json_text(report.to_json()), code)
        case "md":
            return _printed(check_markdown(report), code)
        case "github":
            return _printed(check_github(report), code)
        case _:
            assert_never(form)


@program.group(epilog="Example: agent-surface audit verify audit.jsonl")
def audit() -> None:
    """Work with the file an audit is kept in."""


@audit.command(epilog="Example: agent-surface audit verify audit.jsonl --head 3f2a…")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--head", metavar="HASH", help="The hash of the last entry as noted elsewhere; FILE.head when not given.")
def verify(*, file: Path, head: str | None) -> Outcome:
    """Say whether FILE is what was written, and where it first is not."""
    verification = verify_audit_file(file, head)
    return Outcome(code=CLEAN if verification.intact else FINDING, show=lambda: write_lines(audit_lines(verification)))
