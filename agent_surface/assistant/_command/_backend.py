r"""The command language: an offline back end without a model, over whatever catalogue is live.

Nothing in it knows an application. Verbs meet the words in capability names and the first word of descriptions; nouns
meet component types, names and descriptions; values meet enumerations, property names and what observations tell.

::

    message  = command *( join command )
    join     = "then" | "and then" | ";" | "." | newline | ( "," | "and" ) before a verb
    command  = [ politeness ] verb *( word | value )
    verb     = show, search, filter, open, go to, close, select, clear, sort, disable (turn off), enable (turn on),
               rename, delete, create, send, undo, read (what is, how many, …), help
             | any other word that begins a capability's name ("archive", "approve", "mark")
    value    = an enumeration's value            offline, in progress, descending
             | property ":" text | property text  city: Milan, city Milan
             | "in" | "from" | "at" | "of" text   in Milan                      (the text property that is left)
             | "containing" | "matching" text     containing pump               (a property for searching)
             | "to" | "as" text                   rename it to North gate       (a property for a name or value)
             | number | property | "not" property a number; a flag that is set or not
             | name or id of something that an observation lists
             | "first" number                     ids of what is listed first, where a tool takes ids
             | "all"                              where the tool's name has it, and in "all of them"
             | "them" | "it" | "those" | "these" | "selected"        what is selected now
             | '"' anything '"'                   taken as it is

Examples: ``show offline devices in Milan``, ``select all shown then disable them``, ``open North gate``,
``rename it to "South gate"``, ``go to notes``, ``how many are shown``, ``help``.

Rules. A word that nothing explains stops the command: it is said, and nothing is done. There is no negation and no
condition ("except", "not", "if"): leaving one out would turn a command into its opposite. A tool that acts on the
selection and names something else selects that first. Observations are read when a name or value has to be looked up.
When a command fails, the ones after it are not begun. Confirmation is the registry's affair and not part of the
language.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from agent_surface._base._json import JsonValue
from agent_surface.assistant._backend import BackendEvent, BackendText, CallTool
from agent_surface.assistant._command._answers import (
    say_ambiguous,
    say_done,
    say_failed,
    say_help,
    say_leftover,
    say_missing,
    say_one_at_a_time,
    say_read,
    say_refused,
    say_skipped,
    say_two_ways,
    say_unavailable,
    say_unknown,
)
from agent_surface.assistant._command._knowledge import Knowledge
from agent_surface.assistant._command._matching import (
    Profile,
    Reading,
    Step,
    profile_of,
    read_step,
    read_verb,
    refused_word,
    split_steps,
)
from agent_surface.assistant._command._phrases import MAX_OFFERED, complete_message, phrases_of
from agent_surface.assistant._command._schemas import FieldKind
from agent_surface.assistant._command._words import PRONOUNS, stem, tokenize
from agent_surface.assistant._values import OfferedTool, PersonMessage, TranscriptEntry
from agent_surface.errors import ErrorCode
from agent_surface.invocation import AgentInvocationResult, InvocationError, InvocationOk
from agent_surface.toolset._values import ToolDefinition

NEAR = 1.5
"""How much worse a verb may name a tool that is still looked at."""

MAX_LOOKUPS = 3
"""Observations read to understand one command."""

_Tools = Sequence[tuple[OfferedTool, Profile]]


class CommandBackend:
    """Follows plain commands over the live catalogue; see the module's text for the language."""

    def __init__(self) -> None:
        # What was seen is kept for completion after the turn; commands are never understood by it.
        self._seen = Knowledge()
        self._profiles: dict[str, Profile] = {}
        self._offered: tuple[object, tuple[tuple[str, OfferedTool], ...]] = (None, ())

    async def turn(
        self,
        transcript: Sequence[TranscriptEntry],
        *,
        tools: Callable[[], Sequence[OfferedTool]],
        state: Callable[[], str],  # noqa: ARG002  (no model reads it; availability comes with the tools)
        call_tool: CallTool,
    ) -> AsyncIterator[BackendEvent]:
        """Carry out the commands of the last message, one after the other."""
        message = next((entry.text for entry in reversed(transcript) if isinstance(entry, PersonMessage)), "")
        run = _Run(self._with_profiles, tools, call_tool)
        steps = split_steps(tokenize(message), [profile for _, profile in run.tools()])
        if not steps:
            yield BackendText(text=self._help(run.tools()))
        for place, tokens in enumerate(steps):
            step = read_verb(tokens)
            if step.verb == "help" or (step.verb == "read" and "do" in [token.stem for token in step.tokens]):
                yield BackendText(text=self._help(run.tools()))
                continue
            went_well = True
            async for text, ok in run.carry_out(step, self._phrases):
                went_well = ok
                yield BackendText(text=text)
            self._seen = run.seen
            if not went_well:
                skipped = [" ".join(token.text for token in later) for later in steps[place + 1 :]]
                if skipped:
                    yield BackendText(text=say_skipped(skipped))
                return

    def complete(self, text: str, tools: Sequence[OfferedTool]) -> Sequence[str]:
        """Whole messages that finish ``text``; what could be said now when it is empty."""
        known = self._with_profiles(tools)
        phrases = [*self._phrases(known), "help"]
        choices = [
            choice
            for tool, profile in known
            if tool.state.available
            for item in profile.fields
            for choice in item.choices
        ]
        values = [value for key in self._fields(known) for value in self._seen.known_values(key)]
        return complete_message(text, phrases, [*choices, *values, *self._seen.names()])

    def _fields(self, known: _Tools) -> tuple[str, ...]:
        names = (item.name for _, profile in known for item in profile.fields if item.kind is FieldKind.TEXT)
        return tuple(dict.fromkeys(names))

    def _phrases(self, known: _Tools) -> tuple[str, ...]:
        return tuple(phrase for phrase, _ in self._phrases_with_tools(known))

    def _phrases_with_tools(self, known: _Tools) -> tuple[tuple[str, OfferedTool], ...]:
        """Made once per catalogue, because each phrase is checked against all tools."""
        key = (tuple((tool.definition, tool.state.available) for tool, _ in known), self._seen.names())
        if self._offered[0] != key:
            self._offered = (key, phrases_of(known, self._seen))
        return self._offered[1]

    def _with_profiles(self, tools: Sequence[OfferedTool]) -> _Tools:
        profiles = {tool.definition.name: self._profile(tool.definition) for tool in tools}
        self._profiles = profiles
        return tuple((tool, profiles[tool.definition.name]) for tool in tools)

    def _profile(self, definition: ToolDefinition) -> Profile:
        known = self._profiles.get(definition.name)
        return known if known is not None and known.definition is definition else profile_of(definition)

    def _help(self, known: _Tools) -> str:
        usable = [(phrase, tool.definition.summary) for phrase, tool in self._phrases_with_tools(known)]
        blocked = [
            (tool.definition.summary, tool.state.unavailable_reason or "not available")
            for tool, _ in known
            if not tool.state.available
        ]
        return say_help(usable, blocked)


class _Run:
    """One turn: what was looked up for it, and the calls it makes."""

    def __init__(
        self,
        with_profiles: Callable[[Sequence[OfferedTool]], _Tools],
        offer: Callable[[], Sequence[OfferedTool]],
        call_tool: CallTool,
    ) -> None:
        self._with_profiles = with_profiles
        self._offer = offer
        self._call_tool = call_tool
        self._knowledge = Knowledge()
        self._looked_at: set[str] = set()
        self.seen = Knowledge()

    def tools(self) -> _Tools:
        """What is offered now."""
        return self._with_profiles(self._offer())

    async def carry_out(
        self, step: Step, phrases: Callable[[_Tools], Sequence[str]]
    ) -> AsyncIterator[tuple[str, bool]]:
        """Do one command; each text with whether it goes on."""
        known = self.tools()
        readings = read_step(step, known, self._knowledge)
        for _ in range(MAX_LOOKUPS):
            if not readings or readings[0].refused or not self._is_uncertain(readings[0], step):
                break
            if not await self._look_up(readings, known):
                break
            known = self.tools()
            readings = read_step(step, known, self._knowledge)
        objection = self._objection(step, readings, phrases(known))
        if objection is not None:
            yield objection, False
            return
        reading = readings[0]
        if _selects_first(reading):
            async for text, ok in self._select(reading, known):
                yield text, ok
                if not ok:
                    return
            moved = next(
                (tool for tool, _ in self.tools() if tool.definition.name == reading.tool.definition.name), None
            )
            if moved is not None and not moved.state.available:
                reason = moved.state.unavailable_reason or "not available"
                yield f"Then it could not be used: {reason}\n\n", False
                return
        yield await self._call(reading.tool, reading.profile, reading.filling.values)

    def _is_uncertain(self, reading: Reading, step: Step) -> bool:
        wants_selection = any(token.stem in PRONOUNS for token in step.tokens) and not reading.profile.on_selection
        wants_entities = any(
            item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES) and item.name not in reading.filling.values
            for item in reading.profile.fields
        )
        return (
            not reading.complete
            or bool(reading.filling.tentative)
            or (wants_entities and (wants_selection or any(item.required for item in reading.missing)))
        )

    async def _look_up(self, readings: Sequence[Reading], known: _Tools) -> bool:
        """Read the observation that is likeliest to tell a name, an id or a value; ``False`` when none is left."""
        near = [item for item in readings if item.affinity >= readings[0].affinity - NEAR]
        values = set[str]()
        wanted = set[str]()
        for reading in [readings[0]] if readings[0].complete else near:
            asked, text = _unknown(reading)
            wanted |= asked
            values |= text
        own = readings[0].tool.definition.component.type

        def rank(source: tuple[OfferedTool, Profile]) -> tuple[bool, int]:
            # A list of values ("cities" for a city) tells more than the one value of the moment.
            lists = any(stem(key) in values and key.casefold() not in values for key in source[1].output_keys)
            return not lists, _distance(own, source[0].definition.component.type)

        sources = [
            (tool, profile)
            for tool, profile in known
            if profile.observes
            and tool.state.available
            and tool.definition.name not in self._looked_at
            and {stem(key) for key in profile.output_keys} & wanted
        ]
        if not sources:
            return False
        tool, _ = min(sources, key=rank)
        self._looked_at.add(tool.definition.name)
        reply = await self._call_tool(tool.definition.name, {})
        if isinstance(reply.result, InvocationOk):
            self._knowledge.learn(reply.result.output)
            self.seen.learn(reply.result.output)
        return True

    def _objection(self, step: Step, readings: Sequence[Reading], phrases: Sequence[str]) -> str | None:
        """Why nothing is done, or ``None``."""
        refused = readings[0].refused if readings else refused_word(step)
        if refused is not None:
            return say_refused(refused, step.said)
        if not readings:
            return say_unknown(step.said, phrases[:MAX_OFFERED])
        best = readings[0]
        if best.filling.ambiguous:
            return say_ambiguous(best.filling.ambiguous)
        if best.filling.several:
            return say_one_at_a_time(best)
        if best.leftover:
            return say_leftover(best, step.said)
        if _selects_first(best) and not best.missing and not best.tool.state.available:
            # Selecting what was named may be just what makes it available.
            return None
        if not best.tool.state.available:
            return say_unavailable(best)
        if best.missing:
            return say_missing(best)
        equal = len(readings) > 1 and readings[1].complete and readings[1].score == best.score
        if equal and not best.profile.observes:
            return say_two_ways(best, readings[1])
        return None

    async def _select(self, reading: Reading, known: _Tools) -> AsyncIterator[tuple[str, bool]]:
        ids: list[JsonValue] = [entity.entity_id for entity in reading.filling.named]
        own = reading.tool.definition.component.type
        selecting = sorted(
            ((tool, profile) for tool, profile in known if profile.selects is not None and tool.state.available),
            key=lambda item: _distance(own, item[0].definition.component.type),
        )
        for tool, profile in selecting:
            field = profile.selects
            if field is None:
                continue
            values: dict[str, JsonValue] = {field.name: ids}
            for item in profile.fields:
                usual = next((choice for choice in item.choices if choice in ("replace", "set")), None)
                if item.required and usual is not None:
                    values[item.name] = usual
            yield await self._call(tool, profile, values)
            return
        names = ", ".join(entity.name for entity in reading.filling.named)
        yield f"I see {names}, but I have no way to select it. Select it, then say it about “it”.\n\n", False

    async def _call(self, tool: OfferedTool, profile: Profile, values: dict[str, JsonValue]) -> tuple[str, bool]:
        definition = tool.definition
        reply = await self._call_tool(definition.name, dict(values))
        if _was_overtaken(reply.result) and self._is_still_offered(tool):
            # The window moved between the look and the call, and nothing was begun. No model has to think again about
            # whether the call makes sense: the person has just said so, of what they see.
            reply = await self._call_tool(definition.name, dict(values))
        if not isinstance(reply.result, InvocationOk):
            return say_failed(definition, reply.result), False
        self.seen.learn(reply.result.output)
        if profile.observes:
            self._knowledge.learn(reply.result.output)
            self._looked_at.add(definition.name)
            return say_read(definition, reply.result), True
        # Something was changed: nothing that was read before is believed any more.
        self._knowledge = Knowledge()
        self._looked_at.clear()
        return say_done(definition, values, reply.result), True

    def _is_still_offered(self, tool: OfferedTool) -> bool:
        return any(now.definition == tool.definition and now.state.available for now, _ in self.tools())


def _was_overtaken(result: AgentInvocationResult) -> bool:
    """Whether a call was refused only because the surface had a newer version."""
    return (
        isinstance(result, InvocationError)
        and result.error.code is ErrorCode.STALE_CAPABILITY
        and result.error.details.get("reason") == "surface-version-mismatch"
    )


def _unknown(reading: Reading) -> tuple[set[str], set[str]]:
    """Stems of the output properties that could help to understand a reading, and those among them that are texts."""
    fields = reading.filling.tentative if reading.complete else reading.profile.fields
    texts = {stem(item.name) for item in fields if item.kind is FieldKind.TEXT and not item.searches}
    things = any(item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES) for item in fields)
    if things or (reading.profile.on_selection and not reading.complete):
        return texts | {"id", "selectedid", "selected_id"}, texts
    return texts, texts


def _selects_first(reading: Reading) -> bool:
    """Whether what was named must be selected, because the tool takes it from the screen and not from its input."""
    takes = any(item.kind in (FieldKind.ENTITY, FieldKind.ENTITIES) for item in reading.profile.fields)
    return reading.profile.on_selection and bool(reading.filling.named) and not takes


def _distance(own: str, other: str) -> int:
    """How far two component types are apart: 0 the same, fewer for a longer common beginning."""
    if own == other:
        return 0
    common = 0
    for one, two in zip(own.split("."), other.split("."), strict=False):
        if one != two:
            break
        common += 1
    return 10 - min(common, 9)
