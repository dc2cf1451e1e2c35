"""Filling a tool's input from the words of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_surface._base._json import JsonValue
from agent_surface.assistant._command._knowledge import Entity, Knowledge
from agent_surface.assistant._command._schemas import FieldKind, InputField
from agent_surface.assistant._command._words import (
    EMPTY,
    EVERYTHING,
    NAMING,
    PRONOUNS,
    REFUSED,
    SEARCHING,
    SLOTS,
    VISIBLE,
    Token,
    find_run,
    words_of,
)


@dataclass(slots=True)
class Filling:
    """An input while it is being read out of a message.

    Attributes:
        tokens: The words of the step without its verb.
        free: Places of tokens that nothing has explained yet.
        values: The input so far.
        named: Things that were named, in case the tool acts on the selection.
        ambiguous: Names that several things have.
        several: Whether more things were named than the tool takes at a time.
        tentative: Fields whose text is only believed, because nothing is known to compare it with.
    """

    tokens: Sequence[Token]
    free: set[int]
    values: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    named: list[Entity] = field(default_factory=list[Entity])
    ambiguous: list[str] = field(default_factory=list[str])
    several: bool = False
    tentative: list[InputField] = field(default_factory=list[InputField])

    def take(self, places: range) -> None:
        """These tokens are explained."""
        self.free -= set(places)

    def text(self, places: range) -> str:
        """The tokens as the person wrote them."""
        return " ".join(self.tokens[place].text for place in places)


def fill(
    fields: Sequence[InputField], tokens: Sequence[Token], knowledge: Knowledge, *, verb: str, needs_names: bool
) -> Filling:
    """Read an input out of ``tokens``.

    Args:
        fields: What the tool takes.
        tokens: The step without its verb.
        knowledge: What observations have told.
        verb: The canonical verb.
        needs_names: Whether named things matter beside the fields, because the tool acts on the selection.
    """
    filling = Filling(tokens=tokens, free={place for place, token in enumerate(tokens) if not token.mark})
    _choices(filling, fields)
    _labelled(filling, fields, knowledge)
    _known_texts(filling, fields, knowledge)
    _flags(filling, fields)
    _numbers(filling, fields)
    _entities(filling, fields, knowledge, needs_names=needs_names)
    _new_names(filling, fields)
    _places(filling, fields)
    _searches(filling, fields, verb)
    _defaults(filling, fields)
    return filling


def choice_words(choice: str) -> tuple[str, ...]:
    """The stems a person says for a choice: ``in-progress`` is in, progress."""
    return words_of(choice.replace("-", " ").replace("_", " "))


_VALUE_ENDS = SLOTS | REFUSED | {"with", "and", "to", "the"}

_OPPOSITES = {"descending": "ascending", "ascending": "descending", "enabled": "disabled", "open": "closed"}

_ALIASES = {
    "asc": ("ascending", "up", "upward"),
    "ascending": ("asc", "up", "upward"),
    "desc": ("descending", "down", "downward"),
    "descending": ("desc", "down", "downward"),
    "add": ("also", "additionally"),
    "extend": ("also", "additionally"),
    "replace": ("only",),
}


def _choices(filling: Filling, fields: Sequence[InputField]) -> None:
    spoken = [
        (said, item, choice)
        for item in fields
        if item.kind in (FieldKind.CHOICE, FieldKind.CHOICES)
        for choice in item.choices
        for said in (choice_words(choice), *((alias,) for alias in _ALIASES.get(choice.casefold(), ())))
        if said
    ]
    several: dict[str, list[tuple[int, str]]] = {}
    for said, item, choice in sorted(spoken, key=lambda one: -len(one[0])):
        run = find_run(filling.tokens, said, filling.free) if item.name not in filling.values else None
        if run is None:
            continue
        filling.take(run)
        if item.kind is FieldKind.CHOICES:
            several.setdefault(item.name, []).append((run.start, choice))
        else:
            filling.values[item.name] = choice
    for name, found in several.items():
        filling.values[name] = [choice for _, choice in sorted(found)]


def _labelled(filling: Filling, fields: Sequence[InputField], knowledge: Knowledge) -> None:
    """``city Milan``, ``city: "New York"``, ``city is Milan``: the field's own name before its value."""
    for item in fields:
        if item.kind is not FieldKind.TEXT or item.name in filling.values:
            continue
        run = find_run(filling.tokens, item.words, filling.free)
        if run is None:
            continue
        start = run.stop
        while start < len(filling.tokens) and (
            filling.tokens[start].mark or filling.tokens[start].stem in ("is", "to", "as", "=", ":")
        ):
            start += 1
        value = _stretch(filling, start)
        if value:
            filling.values[item.name] = _canonical(filling.text(value), item, knowledge)
            filling.take(range(run.start, value.stop))


def _known_texts(filling: Filling, fields: Sequence[InputField], knowledge: Knowledge) -> None:
    """A value that was seen under a field of the same name needs no label."""
    for item in fields:
        if item.kind is not FieldKind.TEXT or item.searches or item.name in filling.values:
            continue
        if "name" in item.words or "new" in item.words:
            # A name that is already there says what is meant, not what it shall be called.
            continue
        for value in sorted(knowledge.known_values(item.name), key=len, reverse=True):
            run = find_run(filling.tokens, words_of(value), filling.free)
            if run is not None and len(run):
                filling.values[item.name] = value
                filling.take(run)
                break


def _flags(filling: Filling, fields: Sequence[InputField]) -> None:
    for item in fields:
        if item.kind is not FieldKind.FLAG:
            continue
        run = find_run(filling.tokens, item.words, filling.free)
        opposite = _OPPOSITES.get(item.words[-1]) if run is None and item.words else None
        if opposite is not None:
            against = find_run(filling.tokens, (opposite,), filling.free)
            if against is not None:
                filling.values[item.name] = False
                filling.take(against)
        if run is None:
            continue
        before = run.start - 1
        negated = before in filling.free and filling.tokens[before].stem in ("not", "without", "no")
        filling.values[item.name] = not negated
        filling.take(range(before if negated else run.start, run.stop))


def _numbers(filling: Filling, fields: Sequence[InputField]) -> None:
    for item in fields:
        if item.kind is not FieldKind.NUMBER:
            continue
        label = find_run(filling.tokens, item.words, filling.free)
        places = sorted(filling.free)
        if label is not None:
            after = label.stop
            places = sorted(places, key=lambda place: (abs(place - after), place))
        for place in places:
            number = _number(filling.tokens[place].text, whole=item.whole)
            if number is not None:
                filling.values[item.name] = number
                filling.take(range(place, place + 1))
                if label is not None:
                    filling.take(label)
                break


def _entities(filling: Filling, fields: Sequence[InputField], knowledge: Knowledge, *, needs_names: bool) -> None:
    many = next((item for item in fields if item.kind is FieldKind.ENTITIES), None)
    one = next((item for item in fields if item.kind is FieldKind.ENTITY), None)
    if many is None and one is None and not needs_names:
        return
    end = _naming_place(filling) if any(_names(item) for item in fields) else len(filling.tokens)
    found = knowledge.mentioned(filling.tokens, {place for place in filling.free if place < end})
    for run, entities in found:
        if len(entities) > 1:
            filling.ambiguous.append(filling.text(run))
        filling.named.append(entities[0])
        filling.take(run)
        _take_kind(filling, run.start - 1)
    if many is not None:
        ids = [entity.entity_id for entity in filling.named] or _group(filling, knowledge)
        if ids:
            filling.values[many.name] = list(ids)
    elif one is not None:
        _one_thing(filling, one, knowledge, from_screen=needs_names and not one.required)


def _one_thing(filling: Filling, item: InputField, knowledge: Knowledge, *, from_screen: bool) -> None:
    ids = [entity.entity_id for entity in filling.named]
    if not ids and not from_screen:
        ids = _selected(filling, knowledge)
    if not ids:
        ids = _literal_id(filling)
        filling.tentative.extend([item] if ids else ())
    if len(ids) == 1:
        filling.values[item.name] = ids[0]
    filling.several = len(ids) > 1


def _take_kind(filling: Filling, place: int) -> None:
    """The word right before a name may say what kind of thing it is, as in "station Milan Duomo"."""
    if place not in filling.free:
        return
    token = filling.tokens[place]
    telling = SLOTS | NAMING | SEARCHING | REFUSED | EVERYTHING | PRONOUNS | VISIBLE | EMPTY
    if not token.quoted and token.stem not in telling and _number(token.text, whole=False) is None:
        filling.take(range(place, place + 1))


def _group(filling: Filling, knowledge: Knowledge) -> list[str]:
    """Several things at once: the first few, or the selected ones.

    Not "all": an observation may list one page of many, and ids of that page would pass for everything. A tool that
    takes all says so in its name.
    """
    first = next(
        (p for p in sorted(filling.free) if filling.tokens[p].stem == "first" and not filling.tokens[p].quoted), None
    )
    if first is None:
        return _selected(filling, knowledge)
    count = first + 1
    number = _number(filling.tokens[count].text, whole=True) if count in filling.free else None
    filling.take(range(first, first + 1 if number is None else count + 1))
    return list(knowledge.entities)[: 1 if number is None else int(number)]


def _selected(filling: Filling, knowledge: Knowledge) -> list[str]:
    pronouns = [place for place in filling.free if filling.tokens[place].stem in PRONOUNS]
    if not pronouns:
        return []
    ids = list(knowledge.selection())
    if ids:
        for place in pronouns:
            filling.take(range(place, place + 1))
    return ids


def _literal_id(filling: Filling) -> list[str]:
    """A word that can only be an id, because it has a digit in it."""
    for place in sorted(filling.free):
        text = filling.tokens[place].text
        if any(character.isdigit() for character in text) and not filling.tokens[place].mark:
            filling.take(range(place, place + 1))
            return [text]
    return []


def _new_names(filling: Filling, fields: Sequence[InputField]) -> None:
    """``to X``, ``as X``: a new name or value, up to the end of the step."""
    item = next((item for item in fields if _names(item) and item.name not in filling.values), None)
    start = _naming_place(filling)
    if item is None or start >= len(filling.tokens):
        quoted = [place for place in filling.free if filling.tokens[place].quoted]
        if item is not None and len(quoted) == 1:
            filling.values[item.name] = filling.tokens[quoted[0]].text
            filling.take(range(quoted[0], quoted[0] + 1))
        return
    value = range(start + 1, len(filling.tokens))
    plain = not any(filling.tokens[place].stem in REFUSED for place in value if not filling.tokens[place].quoted)
    if value and plain and all(place in filling.free for place in value):
        filling.values[item.name] = filling.text(value)
        filling.take(range(start, value.stop))


def _places(filling: Filling, fields: Sequence[InputField]) -> None:
    """``in X``, ``from X``: the one text field that is not for searching or naming."""
    for place in sorted(filling.free):
        if place not in filling.free or filling.tokens[place].stem not in SLOTS or filling.tokens[place].quoted:
            continue
        item = next(
            (
                item
                for item in fields
                if item.kind is FieldKind.TEXT
                and not item.searches
                and item.name not in filling.values
                and not _names(item)
            ),
            None,
        )
        value = _stretch(filling, place + 1)
        if item is not None and value:
            filling.values[item.name] = filling.text(value)
            filling.tentative.append(item)
            filling.take(range(place, value.stop))


def _searches(filling: Filling, fields: Sequence[InputField], verb: str) -> None:
    item = next((item for item in fields if item.searches and item.name not in filling.values), None)
    if item is None:
        return
    for place in sorted(filling.free):
        token = filling.tokens[place]
        start = place if token.quoted else place + 1
        if not token.quoted and token.stem not in SEARCHING:
            continue
        value = _stretch(filling, start)
        if value:
            filling.values[item.name] = filling.text(value)
            filling.take(range(place, value.stop))
            return
    if verb == "search" and not filling.values:
        left = [place for place in sorted(filling.free) if filling.tokens[place].stem not in EMPTY]
        value = _stretch(filling, left[0]) if left else range(0)
        if value:
            filling.values[item.name] = filling.text(value)
            filling.take(value)


def _defaults(filling: Filling, fields: Sequence[InputField]) -> None:
    """A required choice that nobody mentions: the schema's default, else the one that replaces what was before."""
    for item in fields:
        if not item.required or item.name in filling.values or item.kind is not FieldKind.CHOICE:
            continue
        if isinstance(item.default, str):
            filling.values[item.name] = item.default
        else:
            usual = next((choice for choice in item.choices if choice in ("replace", "set")), None)
            if usual is not None:
                filling.values[item.name] = usual


def _names(item: InputField) -> bool:
    return item.kind is FieldKind.TEXT and bool({"name", "title", "label", "new", "value", "subject"} & set(item.words))


def _naming_place(filling: Filling) -> int:
    return next(
        (
            place
            for place, token in enumerate(filling.tokens)
            if place in filling.free and token.stem in NAMING and not token.quoted
        ),
        len(filling.tokens),
    )


def _stretch(filling: Filling, start: int) -> range:
    """The words of one value that begins at ``start``: up to a preposition, a mark, or a word that is explained."""
    stop = start
    while stop < len(filling.tokens) and stop in filling.free:
        token = filling.tokens[stop]
        ends = token.mark or (not token.quoted and token.stem in _VALUE_ENDS)
        if ends and not (token.stem == "the" and stop == start):
            break
        stop += 1
        if token.quoted:
            break
    return range(start, stop)


def _canonical(text: str, item: InputField, knowledge: Knowledge) -> str:
    """``text`` as the application writes it, when that is known."""
    return next((value for value in knowledge.known_values(item.name) if value.casefold() == text.casefold()), text)


def _number(text: str, *, whole: bool) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return None if whole else float(text)
    except ValueError:
        return None
