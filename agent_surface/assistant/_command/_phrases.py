"""What a person could say now: every phrase that is offered is one the language understands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_surface.assistant._command._knowledge import Knowledge
from agent_surface.assistant._command._matching import Profile, read_step, read_verb, split_steps
from agent_surface.assistant._command._schemas import FieldKind, InputField
from agent_surface.assistant._command._words import spell_identifier, tokenize
from agent_surface.assistant._values import OfferedTool

MAX_PER_TOOL = 4
MAX_OFFERED = 8


def phrases_of(
    tools: Sequence[tuple[OfferedTool, Profile]], knowledge: Knowledge
) -> tuple[tuple[str, OfferedTool], ...]:
    """Commands for the tools that can be used now, each checked to be read as a call of its tool."""
    found: list[tuple[str, OfferedTool]] = []
    seen: set[str] = set()
    for tool, profile in tools:
        if not tool.state.available:
            continue
        taken = 0
        for phrase in _candidates(profile, knowledge):
            if taken == MAX_PER_TOOL:
                break
            if phrase not in seen and _means(phrase, tool, tools, knowledge):
                seen.add(phrase)
                found.append((phrase, tool))
                taken += 1
    return tuple(found)


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


def _candidates(profile: Profile, knowledge: Knowledge) -> Iterator[str]:
    name = spell_identifier(profile.definition.capability_id.partition(":")[2].rpartition(".")[2])
    noun = profile.definition.component.type.split(".")[0].replace("-", " ")
    if profile.observes:
        yield name if name.startswith(("read", "get")) else f"read {name}"
        yield f"read {noun} {name}"
        yield f"read {noun} {name.removeprefix('read ')}"
        return
    them = f"{name} them" if profile.on_selection else name
    for item in profile.fields:
        yield from _filled(item, name, them, noun, knowledge)
    yield them
    yield f"{name} {noun}"
    yield f"clear {name.removeprefix('clear ')}"


def _filled(item: InputField, name: str, them: str, noun: str, knowledge: Knowledge) -> Iterator[str]:
    if item.kind is FieldKind.CHOICE:
        for choice in item.choices:
            said = choice.replace("-", " ").replace("_", " ")
            if "filter" in name or "search" in name:
                yield f"show {said} {noun}"
            yield f"{them} {said}"
            yield f"{name} by {said}"
    elif item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES):
        for known in knowledge.names()[:2]:
            yield f"{name} {known}"
    elif item.kind is FieldKind.TEXT and "name" in item.words:
        yield f'{them} to "New name"'


def _means(phrase: str, tool: OfferedTool, tools: Sequence[tuple[OfferedTool, Profile]], knowledge: Knowledge) -> bool:
    steps = split_steps(tokenize(phrase), [profile for _, profile in tools])
    if len(steps) != 1:
        return False
    readings = read_step(read_verb(steps[0]), tools, knowledge)
    return bool(readings) and readings[0].tool is tool and readings[0].complete
