"""What pytest loads at its start: the options, hooks and fixtures of both plugins, and nothing behind them.

A package of its own, because importing a module of ``agent_surface`` or ``qt_binding`` imports the package, and with it
pydantic or PySide6: every pytest run beside which the distribution is installed would pay for that, and a coverage
measurement that starts later would miss those lines. What the fixtures do is in ``agent_surface.pytest_plugin`` and
``qt_binding.pytest_plugin``; they are imported by the first test that takes one.
"""
