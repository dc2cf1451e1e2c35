"""Imports that import-linter does not see, or has no contract for."""

from __future__ import annotations

from tests.architecture.source import Import, imports, is_within, modules

QT = ("PySide6", "PySide2", "PyQt6", "PyQt5", "shiboken6", "qasync", "qtpy")


def _found(folder: str, *forbidden: str) -> list[Import]:
    return [found for module in modules(folder) for found in imports(module) if is_within(found.imported, *forbidden)]


def test_the_core_imports_no_qt_by_any_road() -> None:
    """An import inside a function, under TYPE_CHECKING or by name at run time would break the core without Qt."""
    assert _found("agent_surface", *QT, "qt_binding", "demo_app") == []


def test_the_binding_imports_no_application() -> None:
    """Arrows go down only: demo_app, qt_binding, agent_surface."""
    assert _found("qt_binding", "demo_app") == []


def test_one_binding_of_qt_is_used() -> None:
    """Two bindings in one process crash; qtpy would choose one behind our back."""
    assert [found for folder in ("qt_binding", "demo_app") for found in _found(folder, "PyQt5", "PyQt6", "qtpy")] == []


def test_what_begins_with_an_underscore_is_imported_only_inside_its_top_level_package() -> None:
    """A private module may be moved or removed in any release; only the package that holds it can follow."""
    strays = [
        found
        for module in modules()
        for found in imports(module)
        if any(part.startswith("_") and not part.startswith("__") for part in found.imported.split("."))
        and is_within(found.imported, "agent_surface", "qt_binding", "demo_app")
        and found.imported.split(".")[0] != found.importer.split(".")[0]
    ]
    assert strays == []


def test_a_feature_of_the_binding_does_not_reach_into_another() -> None:
    """Features sit side by side on what begins with an underscore; import-linter keeps the layers, this the privacy."""
    strays = [
        found
        for module in modules("qt_binding")
        for found in imports(module)
        if is_within(found.imported, "qt_binding")
        for feature, *inside in [found.imported.split(".")[1:]]
        if not feature.startswith("_")
        and any(part.startswith("_") for part in inside)
        and not is_within(found.importer, f"qt_binding.{feature}")
    ]
    assert strays == []


def test_nothing_is_imported_with_a_star() -> None:
    """A star hides what a module uses from readers, type checkers and import contracts."""
    assert [found for module in modules() for found in imports(module) if found.imported.endswith(".*")] == []
