"""A console for a fleet of measuring stations: the application that shows what the toolkit is for.

Above: nothing. Below: ``qt_binding`` and ``agent_surface``; inside, ``composition`` wires ``views`` and ``domain``.
"""
