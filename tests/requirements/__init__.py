"""Required behaviours, and the tests that claim to prove them.

Above: the test beside it and ``make requirements``. Below: the lists under ``resources/spec`` and the tests' source.
"""
