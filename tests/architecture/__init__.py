"""What a machine keeps true about the source itself, beyond what import-linter can say.

Above: nothing. Below: the source of ``agent_surface``, ``qt_binding``, ``demo_app`` and the tests, read as text.
"""
