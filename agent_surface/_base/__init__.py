"""Ports, limits and JSON values that every other module of the core stands on.

Above: everything in ``agent_surface``. Below: the standard library.
"""
