"""What the command language says: results, refusals and questions in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from agent_surface import _failures
from agent_surface._base._json import FrozenJson, JsonValue
from agent_surface.assistant._command._matching import Reading
from agent_surface.assistant._command._schemas import FieldKind
from agent_surface.assistant._command._words import spell_identifier
from agent_surface.assistant._replies import is_denial
from agent_surface.errors import ErrorCode
from agent_surface.invocation import InvocationError, InvocationOk
from agent_surface.toolset._values import ToolDefinition

MAX_ROWS = 10
MAX_COLUMNS = 6
MAX_CELL_CHARACTERS = 60


def say_done(definition: ToolDefinition, tool_input: Mapping[str, JsonValue], result: InvocationOk) -> str:
    """A call that went well, with what it was given and what came back."""
    given = ", ".join(f"{spell_identifier(key)}: {_given(value)}" for key, value in tool_input.items())
    line = f"Done: {escape(_sentence(definition.summary))}" + (f" ({given})" if given else "") + "."
    return line + (_after_output(result.output) if result.has_output else "") + "\n\n"


def say_read(definition: ToolDefinition, result: InvocationOk) -> str:
    """What an observation told."""
    return f"{escape(_sentence(definition.summary))}:\n\n{describe(result.output)}\n\n"


def say_failed(definition: ToolDefinition, error: InvocationError) -> str:
    """A call that did not go well, in the registry's words, or the person's own."""
    name = f"“{escape(_sentence(definition.summary))}”"
    if is_denial(error):
        note = error.error.details.get("note")
        words = f" You wrote: “{escape(note)}”." if isinstance(note, str) else ""
        return f"You said no, so I did not do {name}.{words}\n\n"
    reason = error.error.details.get("reason")
    is_blocked = error.error.code is ErrorCode.CAPABILITY_NOT_AVAILABLE and isinstance(reason, str)
    told = f" {escape(str(reason))}" if is_blocked else ""
    words = error.error.message
    if words == _failures.usual_message(error.error.code):
        words = _TO_A_PERSON.get(error.error.code, words)
    return f"I could not do {name}: {escape(words)}{told}\n\n"


_TO_A_PERSON: Mapping[ErrorCode, str] = MappingProxyType(
    {
        ErrorCode.CAPABILITY_NOT_FOUND: "The application does not offer it any more.",
        ErrorCode.CAPABILITY_NOT_AVAILABLE: "It cannot be used right now.",
        ErrorCode.AMBIGUOUS_INSTANCE: "Several parts of the window offer it, and I cannot tell which one you mean.",
        ErrorCode.COMPONENT_UNMOUNTED: "That part of the window was closed.",
        ErrorCode.STALE_CAPABILITY: "The window changed in that moment. Look whether it still fits, and say it again.",
        ErrorCode.INVALID_INPUT: "The values do not fit.",
        ErrorCode.NOT_AUTHENTICATED: "You are not signed in.",
        ErrorCode.NOT_AUTHORIZED: "It is not permitted.",
        ErrorCode.RATE_LIMITED: "Too much was asked at once. Wait a moment, and say it again.",
        ErrorCode.TIMEOUT: "It took too long and was given up. It may still have had an effect.",
        ErrorCode.EXECUTION_FAILED: "Something went wrong in the application.",
    }
)
"""What the registry says to a model, said to a person; the rest is an author's words, or reads well as it is."""


def say_unavailable(reading: Reading) -> str:
    """What state forbids right now, with the reason the application gives."""
    reason = reading.tool.state.unavailable_reason or "the application does not allow it at the moment."
    return f"“{escape(_sentence(reading.tool.definition.summary))}” cannot be used now: {escape(reason)}\n\n"


def say_refused(word: str, said: str) -> str:
    """A negation or a condition."""
    return (
        f"I did nothing for “{escape(said)}”: I do not understand “{escape(word)}”. I only follow plain commands. "
        "Say what to do, one step after the other.\n\n"
    )


def say_leftover(reading: Reading, said: str) -> str:
    """Words that no field and no name explains."""
    words = " ".join(reading.leftover)
    line = f"I did nothing for “{escape(said)}”: I do not know what “{escape(words)}” means there."
    if any(item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES) for item in reading.profile.fields):
        line += " I know a thing by its name or id only while it is listed."
    if reading.profile.on_selection:
        line += " This acts on what is selected. First show and select what you mean, then say it about “them”."
    elif reading.profile.fields:
        taken = ", ".join(escape(_field_words(item.name, item.choices)) for item in reading.profile.fields)
        line += f" I can take: {taken}."
    return line + "\n\n"


def say_missing(reading: Reading) -> str:
    """Required fields nobody has named."""
    wanted = ", ".join(escape(_field_words(item.name, item.choices)) for item in reading.missing)
    return f"To do “{escape(_sentence(reading.tool.definition.summary))}” I also need: {wanted}.\n\n"


def say_ambiguous(names: Sequence[str]) -> str:
    """Several things have the name."""
    return f"Several things are called “{escape(names[0])}”. Say which one by its id.\n\n"


def say_one_at_a_time(reading: Reading) -> str:
    """More things were named than the tool takes."""
    return f"“{escape(_sentence(reading.tool.definition.summary))}” takes one at a time. Say it for each.\n\n"


def say_two_ways(first: Reading, second: Reading) -> str:
    """Two tools fit equally well."""
    one, two = (
        f"“{escape(_sentence(item.tool.definition.summary))}” "
        f"({escape(item.tool.definition.component.type)} {escape(item.tool.definition.component.instance_id)})"
        for item in (first, second)
    )
    return f"That could mean {one} or {two}. Say more.\n\n"


def say_unknown(said: str, phrases: Sequence[str]) -> str:
    """Nothing fits."""
    known = "".join(f"\n- {escape(phrase)}" for phrase in phrases)
    more = f" Now you could say, for example:\n{known}" if known else " Nothing can be done at the moment."
    return f"I cannot do “{escape(said)}”.{more}\n\nSay “help” for everything I can do.\n\n"


def say_help(usable: Sequence[tuple[str, str]], blocked: Sequence[tuple[str, str]]) -> str:
    """Everything there is: what can be said now with its description, and what cannot be used with the reason."""
    lines = ["I follow plain commands, one after the other, joined by “then” or commas."]
    if usable:
        lines += ["\nNow you can say:\n", *(f"- **{escape(said)}**: {escape(what)}" for said, what in usable)]
    if blocked:
        lines += ["\nNot now:\n", *(f"- {escape(what)}: {escape(why)}" for what, why in blocked)]
    return "\n".join(lines) + "\n\n"


def say_skipped(steps: Sequence[str]) -> str:
    """What was not begun because something before it failed."""
    return "" if not steps else f"I did not go on with: {'; '.join(f'“{escape(step)}”' for step in steps)}.\n\n"


def describe(value: FrozenJson) -> str:
    """JSON as a short list or table; what is left out is counted."""
    if isinstance(value, Mapping):
        lines = [f"- {escape(spell_identifier(key))}: {_short(item)}" for key, item in value.items() if not _rows(item)]
        tables = [
            f"\n{escape(spell_identifier(key))}:\n\n{_table(_rows(item))}" for key, item in value.items() if _rows(item)
        ]
        return "\n".join([*lines, *tables]) or "nothing"
    rows = _rows(value)
    return _table(rows) if rows else _short(value)


def escape(text: str) -> str:
    """``text`` as literal Markdown on one line: what comes from the application formats nothing and links nowhere."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|!~]")


def _sentence(summary: str) -> str:
    return summary.split(". ", 1)[0].strip().rstrip(".")


def _given(value: JsonValue) -> str:
    if isinstance(value, list):
        shown = ", ".join(_given(item) for item in value[:MAX_ROWS])
        return shown + (f" and {len(value) - MAX_ROWS} more" if len(value) > MAX_ROWS else "")
    return escape(_scalar(value))


def _after_output(output: FrozenJson) -> str:
    if isinstance(output, Mapping):
        scalars = {key: item for key, item in output.items() if not isinstance(item, Mapping | tuple)}
        told = ", ".join(f"{escape(spell_identifier(key))}: {escape(_scalar(item))}" for key, item in scalars.items())
        return f" Now {told}." if told else ""
    return "" if isinstance(output, tuple) or output is None else f" Now {escape(_scalar(output))}."


def _rows(value: FrozenJson) -> tuple[Mapping[str, FrozenJson], ...]:
    if not isinstance(value, tuple) or not value:
        return ()
    rows = tuple(item for item in value if isinstance(item, Mapping))
    return rows if len(rows) == len(value) else ()


def _table(rows: Sequence[Mapping[str, FrozenJson]]) -> str:
    columns = list(dict.fromkeys(key for row in rows[:MAX_ROWS] for key in row))[:MAX_COLUMNS]
    lines = [
        "| " + " | ".join(escape(spell_identifier(column)) for column in columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(_short(row.get(column)) for column in columns) + " |" for row in rows[:MAX_ROWS]),
    ]
    left = len(rows) - MAX_ROWS
    return "\n".join(lines) + (f"\n\nand {left} more" if left > 0 else "")


def _short(value: FrozenJson) -> str:
    if isinstance(value, tuple):
        scalars = [_scalar(item) for item in value if not isinstance(item, Mapping | tuple)]
        text = ", ".join(scalars[:MAX_ROWS]) or ("none" if not value else f"{len(value)} entries")
        return escape(text) + (f" and {len(scalars) - MAX_ROWS} more" if len(scalars) > MAX_ROWS else "")
    if isinstance(value, Mapping):
        return escape(", ".join(f"{spell_identifier(key)} {_scalar(item)}" for key, item in value.items()) or "none")
    return escape(_scalar(value))


def _scalar(value: FrozenJson | JsonValue) -> str:
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"


def _field_words(name: str, choices: Sequence[str]) -> str:
    words = spell_identifier(name)
    return f"{words} ({', '.join(choices[:8])})" if choices else words
