"""The assistant inside the application: a dock that shows a session and passes on what the person does.

Above: the application. Below: ``agent_surface.assistant`` for the session, ``qt_binding._looks`` for colours and
labels, ``qt_binding._text`` for showing text that nobody vouches for. Knows nothing of the other features.
"""

from qt_binding.assistant._announcer import Announcer, QtAnnouncer
from qt_binding.assistant._conversation import Conversation
from qt_binding.assistant._dock import AssistantDock
from qt_binding.assistant._links import OpenUrl
from qt_binding.assistant._session import create_assistant_session
from qt_binding.assistant._settings_dialog import AssistantSettingsDialog, Permission

__all__ = [
    "Announcer",
    "AssistantDock",
    "AssistantSettingsDialog",
    "Conversation",
    "OpenUrl",
    "Permission",
    "QtAnnouncer",
    "create_assistant_session",
]
