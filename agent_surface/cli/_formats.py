"""Reports as text: one function for each report and format. Nothing here judges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from agent_surface._base._json import JsonValue, thaw_json
from agent_surface.cli._lines import Line, Word, line
from agent_surface.cli._report import CheckReport, Drift, Inventory, Row, count_kinds
from agent_surface.compiler import Change

COLUMNS: Final = ("capability", "kind", "effect", "reach", "confirmation", "policies")

_STATES: Final = {
    "current": "is what the source declares",
    "stale": "is not what the source declares",
    "missing": "does not exist",
    "invalid": "does not verify",
    "incomplete": "cannot be compared: the source does not compile",
}
_REMEDIES: Final = {
    "current": "",
    "stale": "review the changes, run `agent-surface snapshot` and commit the file",
    "missing": "run `agent-surface snapshot`, review the file and commit it",
    "invalid": "take the committed file back from git, or run `agent-surface snapshot` and review the change",
    "incomplete": "correct the source and run the check again",
}


def json_text(report: dict[str, JsonValue]) -> str:
    """A report as JSON: sorted, indented, one final line break."""
    return json.dumps(report, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


# ----------------------------------------------------------------------------------------------------------- inventory


def headline(inventory: Inventory) -> list[Line]:
    """How many there are, what stands before them, and what is known of the file."""
    kinds = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in inventory.kinds.items())
    lines = [
        line(
            f"{_count(len(inventory.rows), 'capability', 'capabilities')} in "
            f"{_count(inventory.declarations, 'declaration', 'declarations')}",
            f": {kinds}" if kinds else "",
        ),
        line(
            f"gates: {inventory.confirmed} confirmed by a person each time, {inventory.guarded} guarded by a policy; "
            f"reach: {_reach(inventory)}"
        ),
        line("integrity: ", Word(inventory.completeness, inventory.completeness), f", hash {inventory.digest}"),
    ]
    if inventory.targets:
        lines.append(line(f"targets: {', '.join(inventory.targets)}"))
    if inventory.packages:
        lines.append(line(f"external: {', '.join(inventory.packages)}"))
    return lines


def _reach(inventory: Inventory) -> str:
    return ", ".join(
        f"{sum(row.reach == reach for row in inventory.rows)} {reach}" for reach in ("high", "medium", "low")
    )


def cells(row: Row) -> tuple[str, ...]:
    """A row of the inventory, in the order of ``COLUMNS``."""
    return (row.capability_id, row.kind, row.effect, row.reach, row.confirmation, ", ".join(row.policies) or "-")


def table_lines(inventory: Inventory) -> list[Line]:
    """The rows in columns as wide as their contents."""
    table = [COLUMNS, *map(cells, inventory.rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    return [
        line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()) for row in table
    ]


def stacked_lines(inventory: Inventory) -> Iterator[Line]:
    """The rows for a terminal too narrow for columns."""
    for row in inventory.rows:
        policies = f", policies {', '.join(row.policies)}" if row.policies else ""
        yield line(Word(row.capability_id, "subject"))
        yield line(f"  {row.kind}, {row.effect}, reach ", Word(row.reach, row.reach))
        yield line(f"  confirmation {row.confirmation}{policies}")


def detail_lines(inventory: Inventory) -> Iterator[Line]:
    """Everything about each capability."""
    for row in inventory.rows:
        yield line(Word(row.capability_id, "subject"))
        yield line(f"  {row.description}")
        yield line(
            f"  {row.kind}, effect {row.effect}, reach ",
            Word(row.reach, row.reach),
            f", confirmation {row.confirmation}, audit {row.audit}",
        )
        yield line(f"  {_claims(row)}; policies: {', '.join(row.policies) or 'none'}")
        origin = f" of {row.package}" if row.package else ""
        yield line(f"  declared as {row.declaration_id}{origin}")
        for name, schema in (("input", row.input_schema), ("output", row.output_schema)):
            if schema is not None:
                yield line(f"  {name} {json.dumps(thaw_json(schema), ensure_ascii=False, sort_keys=True)}")
        yield line("")


def _claims(row: Row) -> str:
    repeatable = "idempotent" if row.idempotent else "not idempotent"
    if row.reversible is None:
        return repeatable
    return f"{repeatable}, {'reversible' if row.reversible else 'not reversible'}"


def inventory_lines(inventory: Inventory, verbosity: str) -> list[Line]:
    """The plain human form."""
    lines = headline(inventory)
    if verbosity == "normal":
        lines += [line(""), *table_lines(inventory)]
    elif verbosity == "detail":
        lines += [line(""), *detail_lines(inventory)]
        while not lines[-1].text:
            lines.pop()
    return lines


def inventory_markdown(inventory: Inventory) -> str:
    """Headline and table for a pull request or a page."""
    lines = [f"- {item.text}" for item in headline(inventory)]
    lines += ["", f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    lines += [f"| {' | '.join(_escaped(cell) for cell in cells(row))} |" for row in inventory.rows]
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------------------- check


def check_lines(report: CheckReport) -> Iterator[Line]:
    """The human form: what was compared, each difference on a line, and the way out."""
    integrity = report.integrity
    yield line(
        "source: ",
        report.contract,
        " ",
        Word(_STATES[integrity.state], "good" if integrity.state == "current" else "bad"),
        f" ({integrity.reason})" if integrity.reason else _changes_counted(integrity.changes),
    )
    for problem in integrity.problems:
        yield line(f"  {problem.file}:{problem.line}: [", Word(problem.code.value, "bad"), f"] {problem.message}")
    yield from map(_change_line, integrity.changes)
    if integrity.state == "stale" and not integrity.changes:
        yield line("  the same contract, laid out differently or with another hash")
    if _REMEDIES[integrity.state]:
        yield line(f"  to do: {_REMEDIES[integrity.state]}")
    if report.drift is not None:
        yield from _drift_lines(report.drift)


def _changes_counted(changes: Sequence[Change]) -> str:
    return f": {count_kinds(changes)}" if changes else ""


def _drift_lines(drift: Drift) -> Iterator[Line]:
    failing = len(drift.failing)
    yield line(
        f"base: {_base(drift)}: {count_kinds(drift.changes)}; ",
        Word(
            f"policy {drift.policy} fails {_count(failing, 'change', 'changes')}"
            if failing
            else f"policy {drift.policy} passes",
            "bad" if failing else "good",
        ),
    )
    yield from map(_change_line, drift.changes)
    if failing:
        yield line("  to do: have the changes approved, or take them back")


def _base(drift: Drift) -> str:
    return f"{drift.base} ({drift.commit})" + ("" if drift.existed else ", which has no contract")


def _change_line(change: Change) -> Line:
    return line(
        "  ",
        Word(change.kind.value.ljust(_KIND_WIDTH), change.kind.value),
        "  ",
        Word(change.subject, "subject"),
        f": {change.what} - {change.meaning}",
    )


_KIND_WIDTH: Final = 9


def check_markdown(report: CheckReport) -> str:
    """The report for a pull request."""
    integrity = report.integrity
    mark = "passed" if report.ok else "failed"
    lines = [f"## Contract: {mark}", "", f"The committed contract {_STATES[integrity.state]}."]
    if integrity.reason:
        lines.append(f"Reason: {_escaped(integrity.reason)}.")
    if integrity.problems:
        lines += ["", "| place | reason | what to do |", "|---|---|---|"]
        lines += [
            f"| {item.file}:{item.line} | {item.code} | {_escaped(item.message)} |" for item in integrity.problems
        ]
    lines += _changes_markdown(integrity.changes)
    if _REMEDIES[integrity.state]:
        lines += ["", f"To do: {_REMEDIES[integrity.state]}."]
    if report.drift is not None:
        failing = len(report.drift.failing)
        verdict = f"fails {_count(failing, 'change', 'changes')}" if failing else "passes"
        lines += ["", f"### Since {_base(report.drift)}: {count_kinds(report.drift.changes)}"]
        lines += _changes_markdown(report.drift.changes)
        lines += ["", f"Policy {report.drift.policy} {verdict}."]
    return "\n".join(lines) + "\n"


def _changes_markdown(changes: Sequence[Change]) -> list[str]:
    if not changes:
        return []
    rows = [
        f"| {change.kind} | `{change.subject}` | {_escaped(change.what)} | {_escaped(change.meaning)} |"
        for change in changes
    ]
    return ["", "| kind | what | moved | meaning |", "|---|---|---|---|", *rows]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def check_github(report: CheckReport) -> str:
    """Workflow commands that GitHub shows beside the lines they name."""
    integrity = report.integrity
    commands = [
        _command("error", problem.message, file=problem.file, line=str(problem.line), title=problem.code.value)
        for problem in integrity.problems
    ]
    commands += [_annotation("error", change, report.contract) for change in integrity.changes]
    if integrity.state not in ("current", "incomplete"):
        reason = f" ({integrity.reason})" if integrity.reason else ""
        message = f"{report.contract} {_STATES[integrity.state]}{reason}; {_REMEDIES[integrity.state]}"
        commands.append(_command("error", message, file=report.contract, title="contract"))
    if report.drift is not None:
        failing = report.drift.failing
        commands += [
            _annotation("error" if change in failing else "notice", change, report.contract)
            for change in report.drift.changes
        ]
    return "".join(f"{command}\n" for command in commands)


def _annotation(level: str, change: Change, file: str) -> str:
    return _command(
        level,
        f"{change.subject}: {change.what} - {change.meaning}",
        file=file,
        title=f"{change.kind}: {change.subject}",
    )


def _command(level: str, message: str, **properties: str) -> str:
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {listed}::{_message(message)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
