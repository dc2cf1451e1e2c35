"""The conversation with an assistant that lives in the application, without any user interface.

Above: a dock or a terminal that shows it. Below: ``toolset``, through which alone it acts.

What an application wires, with or without Qt::

    settings = load_settings(folder / "assistant.json")
    keys = (EnvironmentKeys(), KeyringKeys("My application"))
    backend = backend_from_settings(settings, keys)
    take_over = TakeOver()  # agent_surface.TakeOver, also in policies=[...] of the registry
    session = AssistantSession(toolset, backend, clock=..., host_loop=..., take_over=take_over)
    autosave = Autosave(session, folder / "conversation.json")

Settings never hold a key. A form shows ``MODEL_PROVIDERS`` and makes ``AssistantSettings``, which refuses what cannot
work; a key goes to a store that is ``writable``. ``SettingsError`` is one sentence for the person and names the field
it is about. Between turns ``session.use_backend`` takes a new back end; ``close`` the old one. Before the session is
made, ``find_saved`` has what ``AssistantSession.restore`` takes. ``session.usage`` and ``TurnFinished.usage`` are
tokens; ``conversation_to_markdown`` and ``session.to_json`` are the exports.
"""

from agent_surface.assistant._autosave import Autosave, find_saved
from agent_surface.assistant._backend import (
    AssistantBackend,
    AssistantBackendError,
    BackendEvent,
    BackendNotice,
    BackendText,
    BackendUsage,
    CallTool,
    CompletingBackend,
    ToolReply,
)
from agent_surface.assistant._command._backend import CommandBackend
from agent_surface.assistant._export import conversation_to_markdown
from agent_surface.assistant._from_settings import backend_from_settings
from agent_surface.assistant._keys import EnvironmentKeys, KeyringKeys, KeyStore
from agent_surface.assistant._providers import MODEL_PROVIDERS, ModelProvider
from agent_surface.assistant._pydantic_ai._backend import PydanticAIBackend
from agent_surface.assistant._replies import render_tool_reply
from agent_surface.assistant._scripted import (
    EndTurn,
    Fail,
    Pause,
    Remark,
    Say,
    ScriptedBackend,
    ScriptedRequest,
    ScriptStep,
    Use,
    UseTogether,
    use,
)
from agent_surface.assistant._session import AssistantSession
from agent_surface.assistant._settings import AssistantSettings, SettingsError, load_settings, save_settings
from agent_surface.assistant._values import (
    AssistantMessage,
    ConfirmationSettled,
    ConfirmationWaiting,
    MessageAdded,
    MessageCompleted,
    Notice,
    NoticeKind,
    OfferedTool,
    PersonMessage,
    SessionError,
    SessionEvent,
    SessionState,
    StateChanged,
    TextDelta,
    TokenUsage,
    ToolCall,
    ToolCallSettled,
    ToolCallStarted,
    ToolCallStatus,
    ToolsChanged,
    TranscriptEntry,
    TranscriptReset,
    TurnEnd,
    TurnFinished,
)

__all__ = [
    "MODEL_PROVIDERS",
    "AssistantBackend",
    "AssistantBackendError",
    "AssistantMessage",
    "AssistantSession",
    "AssistantSettings",
    "Autosave",
    "BackendEvent",
    "BackendNotice",
    "BackendText",
    "BackendUsage",
    "CallTool",
    "CommandBackend",
    "CompletingBackend",
    "ConfirmationSettled",
    "ConfirmationWaiting",
    "EndTurn",
    "EnvironmentKeys",
    "Fail",
    "KeyStore",
    "KeyringKeys",
    "MessageAdded",
    "MessageCompleted",
    "ModelProvider",
    "Notice",
    "NoticeKind",
    "OfferedTool",
    "Pause",
    "PersonMessage",
    "PydanticAIBackend",
    "Remark",
    "Say",
    "ScriptStep",
    "ScriptedBackend",
    "ScriptedRequest",
    "SessionError",
    "SessionEvent",
    "SessionState",
    "SettingsError",
    "StateChanged",
    "TextDelta",
    "TokenUsage",
    "ToolCall",
    "ToolCallSettled",
    "ToolCallStarted",
    "ToolCallStatus",
    "ToolReply",
    "ToolsChanged",
    "TranscriptEntry",
    "TranscriptReset",
    "TurnEnd",
    "TurnFinished",
    "Use",
    "UseTogether",
    "backend_from_settings",
    "conversation_to_markdown",
    "find_saved",
    "load_settings",
    "render_tool_reply",
    "save_settings",
    "use",
]
