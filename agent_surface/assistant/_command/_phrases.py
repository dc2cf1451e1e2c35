"""What a person could say now: every phrase that is offered is one the language understands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_surface.assistant._command._knowledge import Knowledge
from agent_surface.assistant._command._matching import Profile, read_step, read_verb, split_steps
from agent_surface.assistant._command._schemas import FieldKind, InputField
from agent_surface.assistant._command._words import spell_identifier, tokenize
from agent_surface.assistant._values import OfferedTool

MAX_PER_TOOL = 3
MAX_OFFERED = 8


def phrases_of(
    tools: Sequence[tuple[OfferedTool, Profile]], knowledge: Knowledge
) -> tuple[tuple[str, OfferedTool], ...]:
    """Commands for the tools that can be used now, each checked to be read as a call of its tool.

    One for each tool comes first, so that the beginning of the list shows what there is; tools that only look are last.
    """
    rows: list[list[tuple[str, OfferedTool]]] = []
    usable = sorted(((tool, profile) for tool, profile in tools if tool.state.available), key=lambda it: it[1].observes)
    for tool, profile in usable:
        said: list[tuple[str, OfferedTool]] = []
        for alternatives in _candidates(profile, knowledge):
            if len(said) == MAX_PER_TOOL:
                break
            phrase = next((item for item in alternatives if _means(item, tool, tools, knowledge)), None)
            if phrase is not None:
                said.append((phrase, tool))
        rows.append(said)
    ordered = [item for place in range(MAX_PER_TOOL) for row in rows for item in row[place : place + 1]]
    return tuple({phrase: (phrase, tool) for phrase, tool in reversed(ordered)}.values())[::-1]


def complete_message(text: str, phrases: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """Whole messages that finish ``text``: its last command by a phrase, or its last word by a known one.

    Args:
        text: What is written so far.
        phrases: Commands that can be said now.
        words: Choices, names and values that may stand in a command.
    """
    head, tail = _last_command(text)
    typed = " ".join(tail.casefold().split())
    found = [head + phrase for phrase in phrases if phrase.casefold().startswith(typed) and phrase.casefold() != typed]
    if typed and not tail[-1].isspace():
        before, _, partial = tail.rpartition(" ")
        if before and partial:
            found += [
                f"{head}{before} {word}"
                for word in words
                if word.casefold().startswith(partial.casefold()) and word.casefold() != partial.casefold()
            ]
    return tuple(dict.fromkeys(found))[:MAX_OFFERED]


def _last_command(text: str) -> tuple[str, str]:
    lowered = text.casefold()
    cuts = [lowered.rfind(join) + len(join) for join in (" then ", ", ", "; ") if join in lowered]
    cut = max(cuts, default=0)
    return text[:cut], text[cut:]


def _candidates(profile: Profile, knowledge: Knowledge) -> Iterator[tuple[str, ...]]:
    """Ways to use the tool, and for each of them several ways to say it, the best first."""
    name = spell_identifier(profile.definition.capability_id.partition(":")[2].rpartition(".")[2])
    nouns = [part.replace("-", " ") for part in profile.definition.component.type.split(".")]
    if profile.observes:
        asked = name.removeprefix("read ").removeprefix("get ")
        yield (f"read {asked}", f"read {nouns[-1]} {asked}", f"read {' '.join(nouns)} {asked}")
        return
    them = f"{name} them" if profile.on_selection else name
    for item in profile.fields:
        yield from _filled(item, name, them, nouns[0], knowledge)
    yield (them, f"{name} {nouns[0]}", f"{name} {nouns[-1]}", f"clear {name.removeprefix('clear ')}")


def _filled(item: InputField, name: str, them: str, noun: str, knowledge: Knowledge) -> Iterator[tuple[str, ...]]:
    if item.kind in (FieldKind.CHOICE, FieldKind.CHOICES):
        for choice in item.choices:
            said = choice.replace("-", " ").replace("_", " ")
            filters = (f"show {said} {noun}",) if "filter" in name or "search" in name else ()
            by = (f"{name} by {said}",) if name.startswith(("sort", "order", "group")) else ()
            yield (*filters, *by, f"{them} {said}")
    elif item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES):
        for known in knowledge.names()[:2]:
            yield (f"{name.split(' ', maxsplit=1)[0]} {known}", f"{name} {known}")
    elif item.kind is FieldKind.TEXT and "name" in item.words:
        yield (f'{them} to "New name"',)


def _means(phrase: str, tool: OfferedTool, tools: Sequence[tuple[OfferedTool, Profile]], knowledge: Knowledge) -> bool:
    steps = split_steps(tokenize(phrase), [profile for _, profile in tools])
    if len(steps) != 1:
        return False
    readings = read_step(read_verb(steps[0]), tools, knowledge)
    return bool(readings) and readings[0].tool is tool and readings[0].complete
