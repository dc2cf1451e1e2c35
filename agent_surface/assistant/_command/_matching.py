"""Which tool a step means, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent_surface.assistant._command._arguments import Filling, choice_words, fill
from agent_surface.assistant._command._knowledge import Knowledge
from agent_surface.assistant._command._schemas import FieldKind, InputField, read_fields, read_keys
from agent_surface.assistant._command._words import (
    EMPTY,
    EVERYTHING,
    POLITE,
    PRONOUNS,
    REFUSED,
    VERB_WORDS,
    VERBS,
    VISIBLE,
    Token,
    akin,
    find_verb,
    split_identifier,
    stem,
    words_of,
)
from agent_surface.assistant._values import OfferedTool
from agent_surface.invocation import CapabilityKind, Plane
from agent_surface.toolset._values import ToolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a tool answers to, read from its definition alone.

    Attributes:
        name_words: Stems of the capability's name.
        type_words: Stems of the component type or of the path before the name.
        summary_words: Stems of the author's description.
        fields: What it takes.
        output_keys: Property names its output can have.
        on_selection: Whether the screen fills in what it acts on.
    """

    definition: ToolDefinition
    name_words: tuple[str, ...]
    type_words: frozenset[str]
    summary_words: tuple[str, ...]
    fields: tuple[InputField, ...]
    output_keys: frozenset[str]
    on_selection: bool

    @property
    def observes(self) -> bool:
        """Whether it only looks."""
        return self.definition.kind is CapabilityKind.OBSERVATION

    @property
    def selects(self) -> InputField | None:
        """The field that takes what shall be selected, for a tool that selects."""
        if "select" not in self.name_words or self.observes:
            return None
        return next((item for item in self.fields if item.kind is FieldKind.ENTITIES), None)


def profile_of(definition: ToolDefinition) -> Profile:
    """What a tool answers to."""
    path = definition.capability_id.partition(":")[2]
    kind, _, name = path.rpartition(".")
    return Profile(
        definition=definition,
        name_words=split_identifier(name),
        type_words=frozenset(split_identifier(kind) + split_identifier(definition.component.type)),
        summary_words=words_of(definition.summary),
        fields=read_fields(definition.input_schema),
        output_keys=read_keys(definition.output_schema),
        on_selection=bool(definition.bound_fields),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a message: its verb (canonical, or as it was said) and the words after it."""

    said: str
    verb: str
    known_verb: bool
    tokens: tuple[Token, ...]
    verb_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A step as a call of one tool.

    Attributes:
        leftover: Words nothing explains; a reading with some is never carried out.
        missing: Required fields that were not filled.
    """

    tool: OfferedTool
    profile: Profile
    filling: Filling
    affinity: float
    score: float
    leftover: tuple[str, ...]
    missing: tuple[InputField, ...]

    @property
    def refused(self) -> str | None:
        """A negation or condition that no field takes; this language has none."""
        return next((word for word in self.leftover if stem(word) in REFUSED), None)

    @property
    def complete(self) -> bool:
        """Whether it can be carried out as it is."""
        filling = self.filling
        return not (self.leftover or self.missing or filling.ambiguous or filling.several)


def split_steps(tokens: Sequence[Token], profiles: Sequence[Profile]) -> list[tuple[Token, ...]]:
    """The commands of a message: at ``then``, marks, and at ``and`` or a comma before a verb."""
    verbs = {profile.name_words[0] for profile in profiles if profile.name_words}
    steps: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        ends = token.mark and token.text in ".;\n!?"
        if not token.quoted and token.stem in ("then", "afterward"):
            ends = True
        elif token.text == "," or (not token.quoted and token.stem == "and"):
            ends = _begins_command(tokens, place + 1, verbs)
        if ends:
            steps.append([])
        else:
            steps[-1].append(token)
    return [tuple(step) for step in steps if any(not token.mark and token.stem != "and" for token in step)]


def read_verb(tokens: Sequence[Token]) -> Step:
    """The verb of a command and what follows it; politeness before it is skipped."""
    start = 0
    while start < len(tokens) and (tokens[start].mark or tokens[start].stem in POLITE or tokens[start].stem == "and"):
        start += 1
    said = " ".join(token.text for token in tokens)
    # "also select" says how to select, wherever it stands.
    adverbs = tuple(token for token in tokens[:start] if token.stem == "also")
    found = find_verb(tokens, start)
    if found is not None:
        verb, length = found
        words = tuple(token.stem for token in tokens[start : start + length])
        return Step(
            said=said, verb=verb, known_verb=True, tokens=(*tokens[start + length :], *adverbs), verb_words=words
        )
    if start >= len(tokens):
        return Step(said=said, verb="", known_verb=False, tokens=())
    return Step(said=said, verb=tokens[start].stem, known_verb=False, tokens=(*tokens[start + 1 :], *adverbs))


def refused_word(step: Step) -> str | None:
    """A negation or condition anywhere in a step that no tool was found for."""
    said = [step.verb, *(token.stem for token in step.tokens if not token.quoted)]
    return next((word for word in said if word in REFUSED), None)


def read_step(step: Step, tools: Sequence[tuple[OfferedTool, Profile]], knowledge: Knowledge) -> list[Reading]:
    """Every way to understand a step, best first."""
    choices = {
        word
        for _, profile in tools
        for item in profile.fields
        for choice in item.choices
        for word in choice_words(choice)
    }
    readings: list[Reading] = []
    for tool, profile in tools:
        affinity = _affinity(step, profile)
        if affinity > 0:
            readings.append(_read(step, tool, profile, knowledge, affinity=affinity, choices=choices))
    readings.sort(key=lambda reading: (-reading.score, reading.tool.definition.name))
    # A tool that can be called as the step stands beats one that only its verb speaks for.
    usable = next((item for item in readings if item.complete and item.affinity >= readings[0].affinity - 1.5), None)
    if usable is not None:
        readings.remove(usable)
        readings.insert(0, usable)
    return readings


def _begins_command(tokens: Sequence[Token], place: int, verbs: set[str]) -> bool:
    while place < len(tokens) and (tokens[place].stem in POLITE | {"then", "and"} or tokens[place].mark):
        place += 1
    if place >= len(tokens):
        return True
    return find_verb(tokens, place) is not None or (not tokens[place].quoted and tokens[place].stem in verbs)


def _affinity(step: Step, profile: Profile) -> float:
    """How well the verb names the tool; zero when it does not at all."""
    names = profile.name_words
    if profile.observes:
        return _affinity_of_observation(step, names)
    wants_all = any(token.stem in EVERYTHING for token in step.tokens)
    if step.verb == "read" or not names or ("all" in names and not wants_all):
        return 0
    if step.verb == "show" and wants_all and names[0] in ("clear", "reset") and "filter" in names:
        return 4
    if step.verb == "unselect" and not akin("selection", names):
        return 0
    meanings: Mapping[str, int] = VERBS[step.verb] if step.known_verb else {step.verb: 4}
    # A name that begins with a verb means that verb: ``clearFilters`` does not filter.
    spoken_for = names[0] in VERB_WORDS and names[0] != "set"
    named = max(meanings.get(word, 0) for word in (names[:1] if spoken_for else names))
    if named == 0 and not spoken_for and profile.summary_words:
        named = max(meanings.get(profile.summary_words[0], 0) - 1, 0)
    return named + 0.5 if named and step.verb in names else named


def _affinity_of_observation(step: Step, names: tuple[str, ...]) -> float:
    if step.verb == "read":
        return 2
    return 1 if step.verb == "show" or step.verb in names else 0


def _read(
    step: Step, tool: OfferedTool, profile: Profile, knowledge: Knowledge, *, affinity: float, choices: set[str]
) -> Reading:
    filling = fill(profile.fields, step.tokens, knowledge, verb=step.verb, needs_names=profile.on_selection)
    filled = len(filling.values)
    tokens = [(step.tokens[place], step.tokens[place].stem) for place in sorted(filling.free)]
    in_name = sum(word in profile.name_words for _, word in tokens)
    in_type = sum(word in profile.type_words for _, word in tokens)
    telling = [word for _, word in tokens if word not in EMPTY] + [
        word for word in step.verb_words if word not in EMPTY
    ]
    in_summary = sum(_tells(word, profile.summary_words) for word in telling)
    leftover = tuple(token.text for token, word in tokens if not _explained(token, word, step, profile, choices))
    missing = tuple(item for item in profile.fields if item.required and item.name not in filling.values)
    if not filled and not profile.on_selection:
        # All of it may be left out, but then nothing would be asked for.
        missing = profile.fields
    score = 3 * affinity + 2 * in_name + in_type + 0.5 * in_summary + 3 * filled + 2 * len(filling.named)
    score -= 3 * len(leftover) + 3 * len(missing) + (0 if tool.state.available else 0.5)
    return Reading(
        tool=tool,
        profile=profile,
        filling=filling,
        affinity=affinity,
        score=score,
        leftover=leftover,
        missing=missing,
    )


def _takes_everything(step: Step, profile: Profile) -> bool:
    """Whether "all" is what the tool does anyway: by its name, or because all that is selected is meant."""
    if "all" in profile.name_words or step.verb in ("clear", "unselect"):
        return True
    words = [token.stem for token in step.tokens if not token.mark and token.stem not in ("of", "the")]
    if profile.on_selection:
        return any(one in EVERYTHING and two in PRONOUNS for one, two in pairwise(words))
    return step.verb == "show" or profile.observes


def _tells(word: str, summary: tuple[str, ...]) -> bool:
    return akin(word, summary) or (word in VISIBLE and bool({"listed", "list", "view", *VISIBLE} & set(summary)))


def _explained(token: Token, word: str, step: Step, profile: Profile, choices: set[str]) -> bool:
    """Whether a word that fills no field may still be there without changing what is meant."""
    if token.quoted or word in REFUSED:
        return token.mark
    if word in PRONOUNS:
        acts_on_screen = profile.on_selection or profile.definition.plane is Plane.VIEW
        return acts_on_screen or word in profile.summary_words
    if word in EVERYTHING:
        return _takes_everything(step, profile)
    if word in VISIBLE:
        return bool({"select", "all"} & set(profile.name_words)) or profile.observes
    if word in EMPTY or word in profile.name_words or word in profile.type_words:
        return True
    if word in choices and profile.observes:
        return True
    if word in choices:
        # It says which ones are meant, and this tool does not take it: ignoring it would act on others.
        return False
    return akin(word, profile.summary_words) or any(word in item.words for item in profile.fields)
