"""The contract as it was where this branch left another."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from agent_surface.compiler import CompilerConfiguration
from agent_surface.errors import AgentSurfaceError


class GitError(AgentSurfaceError):
    """A git revision cannot be compared with. Not raised when the revision has no contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseContract:
    """What was committed.

    Attributes:
        commit: The merge base, abbreviated.
        text: The contract file; ``None`` when there was none.
    """

    commit: str
    text: str | None


def read_base_contract(configuration: CompilerConfiguration, revision: str) -> BaseContract:
    """The contract at the merge base of ``revision`` and the current commit, under the path it had then.

    Raises:
        GitError: There is no git, no repository, no such revision or no common history.
    """
    git = _Git(str(configuration.root))
    commit = git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise GitError(f"{revision!r} names no commit here; fetch it, or name a branch, tag or commit that exists")
    base = git.ask("merge-base", commit, "HEAD")
    if base is None:
        raise GitError(f"{revision!r} and this branch have no common commit here; fetch more history of both")
    prefix = git.require("rev-parse", "--show-prefix")
    here = prefix + configuration.contract.relative_to(configuration.root).as_posix()
    text = None
    for path in _paths_then(git, base, prefix, here):
        text = git.ask("show", f"{base}:{path}", strip=False)
        if text is not None:
            break
    return BaseContract(commit=git.require("rev-parse", "--short=10", base), text=text)


def _paths_then(git: _Git, base: str, prefix: str, here: str) -> list[str]:
    """Where the contract may have been: where the project file of then says, where it was renamed from, where it is."""
    renamed = _renames(git, base)
    project = f"{prefix}pyproject.toml"
    paths: list[str] = []
    for candidate in (project, renamed.get(project)):
        named = _contract_named(git.ask("show", f"{base}:{candidate}", strip=False)) if candidate else None
        if candidate and named:
            paths.append(candidate.removesuffix("pyproject.toml") + named)
    paths += [path for path in (renamed.get(here), here) if path]
    return list(dict.fromkeys(paths))


def _renames(git: _Git, base: str) -> dict[str, str]:
    """New path to old path of every file renamed since."""
    listing = git.ask(
        "diff", "--find-renames=30%", "--diff-filter=R", "--name-status", "-z", "--no-relative", base, "--"
    )
    parts = (listing or "").split("\0")
    return {parts[index + 2]: parts[index + 1] for index in range(0, len(parts) - 2, 3)}


def _contract_named(project_file: str | None) -> str | None:
    """The path in ``[tool.agent-surface]``, whatever else an older release may have put there."""
    if project_file is None:
        return None
    try:
        document: Mapping[str, object] = tomllib.loads(project_file)
    except tomllib.TOMLDecodeError:
        return None
    table: object = document
    for key in ("tool", "agent-surface", "contract"):
        table = cast("Mapping[str, object]", table).get(key) if isinstance(table, Mapping) else None
    return table if isinstance(table, str) else None


class _Git:
    def __init__(self, folder: str) -> None:
        program = shutil.which("git")
        if program is None:
            raise GitError(
                "git is not installed, so there is no revision to compare with; install it or leave out --base"
            )
        self._command = [program, "-C", folder, "-c", "core.quotepath=off"]
        self._complaint = ""
        if self.ask("rev-parse", "--is-inside-work-tree") != "true":
            if self._complaint and "not a git repository" not in self._complaint:
                # Such as a repository of another owner, which git leaves alone until it is told that that is meant.
                raise GitError(f"git refuses the repository: {self._complaint}; run `git status` in the project")
            raise GitError("the project is in no git repository; leave out --base, or run the command in a clone")

    def ask(self, *arguments: str, strip: bool = True) -> str | None:
        """What git prints, or ``None`` where it fails."""
        done = subprocess.run(  # noqa: S603  # git itself, with arguments that are no shell's
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )
        if done.returncode:
            self._complaint = done.stderr.strip().partition("\n")[0].removeprefix("fatal: ")
            return None
        return done.stdout.strip("\n") if strip else done.stdout

    def require(self, *arguments: str) -> str:
        """What git prints.

        Raises:
            GitError: It fails.
        """
        answer = self.ask(*arguments)
        if answer is None:
            raise GitError(f"git {arguments[0]} failed in the project; run it there to see why")
        return answer
