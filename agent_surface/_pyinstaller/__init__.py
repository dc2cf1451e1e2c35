"""What PyInstaller is told of programs that are built on this library.

Above: nothing; PyInstaller asks for the folder through the entry point ``pyinstaller40``. Below: the authority.
"""

from agent_surface._pyinstaller._folders import hook_folders

__all__ = ["hook_folders"]
