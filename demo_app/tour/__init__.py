"""The tour: an assistant's whole task in the real window, played by a person of software, checked in the database.

Above: ``demo_app.__main__``. Below: ``demo_app.composition``.
"""

from demo_app.tour._tour import Tour

__all__ = ["Tour"]
